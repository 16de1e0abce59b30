"""LoCoMo: long conversations, and questions with the turns that hold the answer."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

from evals.metrics import recall_at
from evals.sets import Ask, Case, Corpus, EvalSet, Score, required
from ragstone.types import Document, Turn

TOPS = (5, 10, 25)
BEFORE = 2
"""Turns before it that a turn is found by: an answer seldom repeats the question, or what the question was about."""
TURN_ID = re.compile(r"D:?(\d+):(\d+)")
SESSION = re.compile(r"session_(\d+)")


def load(folder: Path, limit: int | None = None) -> EvalSet:
    """Return the set from a folder with `locomo10.json`, or any other one conversation file."""
    required(folder, "point --data at a folder with locomo10.json")
    known = folder / "locomo10.json"
    files = [known] if known.is_file() else sorted(folder.glob("*.json"))
    samples = json.loads(
        required(files[0] if files else known, "the set needs its conversations").read_text(
            "utf-8"
        )
    )
    documents: dict[str, list[Document]] = {}
    sessions: dict[str, list[Turn]] = {}
    cases: list[Case] = []
    for number, sample in enumerate(samples, 1):
        session = str(sample.get("sample_id", f"conversation-{number}"))
        documents[session] = turns(sample["conversation"])
        sessions[session] = spoken_turns(sample["conversation"], session)
        cases.extend(questions(sample["qa"], session))
    cases = cases[:limit]
    asked = {case.collection for case in cases}
    kept = {session: found for session, found in documents.items() if session in asked}
    talks = {session: found for session, found in sessions.items() if session in asked}
    return EvalSet(
        name="locomo", corpora=[Corpus("locomo", kept, cases, talks)], headline="recall_at_10"
    )


def turns(conversation: dict[str, Any]) -> list[Document]:
    """Return each turn as a document: what was said, with the date and the turns before it standing beside it."""
    documents: list[Document] = []
    sessions = sorted(
        int(match[1]) for key in conversation if (match := SESSION.fullmatch(key))
    )
    for session in sessions:
        date = str(conversation.get(f"session_{session}_date_time", ""))
        said = [
            f"{turn['speaker']}: {spoken(turn)}" for turn in conversation[f"session_{session}"]
        ]
        for number, turn in enumerate(conversation[f"session_{session}"]):
            documents.append(
                Document(
                    uri=turn_id(turn["dia_id"]),
                    text=said[number],
                    beside="\n".join((date, *said[max(0, number - BEFORE) : number])),
                    metadata={"speaker": turn["speaker"], "date": date},
                )
            )
    return documents


def spoken_turns(conversation: dict[str, Any], session: str) -> list[Turn]:
    """Return the turns as they are remembered: who said what, and when."""
    found: list[Turn] = []
    for number in sorted(
        int(match[1]) for key in conversation if (match := SESSION.fullmatch(key))
    ):
        at = moment(str(conversation.get(f"session_{number}_date_time", "")))
        for turn in conversation[f"session_{number}"]:
            about = {"id": turn_id(turn["dia_id"])}
            found.append(
                Turn(session, 0, "user", spoken(turn), at, str(turn["speaker"]), about)
            )
    return found


def moment(date: str) -> float:
    """Return a session's date, written like `1:56 pm on 8 May, 2023`, in seconds since 1970; 0 where it is none."""
    try:
        return datetime.strptime(date, "%I:%M %p on %d %B, %Y").timestamp()
    except ValueError:
        return 0.0


def spoken(turn: dict[str, Any]) -> str:
    """Return what a turn says, with the caption of a picture that was shared in it."""
    caption = turn.get("blip_caption")
    return f"{turn['text']} [shares {caption}]" if caption else str(turn["text"])


def turn_id(raw: str) -> str:
    """Return a turn's name as `D<session>:<turn>` without leading zeros; what is no such name stays."""
    match = TURN_ID.fullmatch(raw.strip())
    return f"D{int(match[1])}:{int(match[2])}" if match else raw


def evidence(raw: list[str]) -> set[str]:
    """Return the turns named, also where several stand in one string; names that are none of ours stay unmet."""
    found = {
        f"D{int(match[1])}:{int(match[2])}" for text in raw for match in TURN_ID.finditer(text)
    }
    return found or set(raw)


def questions(raw: list[dict[str, Any]], session: str) -> list[Case]:
    """Return the questions that have evidence."""
    return [
        Case(
            query=str(item["question"]),
            collection=session,
            score=scorer(evidence(item["evidence"])),
        )
        for item in raw
        if item.get("evidence")
    ]


def scorer(wanted: set[str]) -> Score:
    """Return the function that gives the share of evidence turns among the first hits."""

    def score(ask: Ask) -> dict[str, float]:
        ranked = [hit.source_doc_id for hit in ask(max(TOPS), False)]
        return {f"recall_at_{top}": recall_at(ranked, wanted, top) for top in TOPS}

    return score
