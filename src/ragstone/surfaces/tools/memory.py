"""The tools for conversations: remember, recall, list and forget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ragstone.errors import NotFound
from ragstone.memory.turns import ROLES
from ragstone.retrieval.context.fence import reveal_hidden
from ragstone.retrieval.context.formatters import one_line
from ragstone.surfaces.present import Json, format_time
from ragstone.surfaces.present.memory import (
    describe_no_message,
    describe_redaction,
    find_weak_score,
    recalled_json,
    session_json,
)
from ragstone.surfaces.tools.passages import count_fitting, fence_results
from ragstone.surfaces.tools.schemas import (
    QUERY,
    SESSION,
    count_schema,
    list_schema,
    result_schema,
    text_schema,
)
from ragstone.surfaces.tools.search import SEARCH_TOKENS
from ragstone.surfaces.tools.tool import Tool, ToolAnswer, ToolCall, truncate
from ragstone.text.counts import plural
from ragstone.text.tokens import at_most
from ragstone.types import Recalled, Turn

_DEFAULT_TURNS: Final = 20
_MAX_SESSIONS: Final = 100
_NO_MESSAGE: Final = "No message answers that."


def _memory_add(call: ToolCall) -> ToolAnswer:
    session = call.arguments["session_id"]
    role = call.arguments.get("role", "user")
    speaker = call.arguments.get("speaker", "")
    content = call.arguments["content"]
    index = call.engine.remember(session, role, content, speaker=speaker)
    is_stored = index >= 0
    data: Json = {
        "success": is_stored,
        "session_id": session,
        "turn_index": index,
        "role": role,
    }
    if not is_stored:
        return ToolAnswer("Memory is switched off.", data)
    turn = call.engine.turns(session, 1)[0]
    data["supersedes"] = list(turn.supersedes)
    sentences = [f"Remembered as turn {index}."]
    sentences += [f"It supersedes turn {older}." for older in turn.supersedes]
    notes = describe_redaction(content, turn.content)
    if notes:
        data["notes"] = notes
    return ToolAnswer("\n".join((*sentences, *notes)), data)


def _memory_search(call: ToolCall) -> ToolAnswer:
    session = call.arguments.get("session_id")
    recalled = call.engine.recall(
        session, call.arguments["query"], call.arguments.get("top_k", 5)
    )
    lines, results = _fit_turns(recalled, name_sessions=session is None)
    data: Json = {"success": True, "session_id": session}
    data |= fence_results(results)
    if len(lines) < len(recalled):
        data["left_out"] = len(recalled) - len(lines)
    if lines:
        return ToolAnswer("\n".join(lines), data)
    names = [stored.name for stored in call.engine.memory.sessions()]
    notes = describe_no_message(session, names, call.arguments["query"])
    if notes:
        data["notes"] = notes
    return ToolAnswer("\n".join((_NO_MESSAGE, *map(one_line, notes))), data)


def _fit_turns(
    recalled: Sequence[Recalled], *, name_sessions: bool
) -> tuple[list[str], list[Json]]:
    """Return as many turns as the token limit allows, as text and as data; the first turn is cut if needed."""
    lines: list[str] = []
    results: list[Json] = []
    used_tokens = 0
    weak_score = find_weak_score(recalled)
    for result in recalled:
        is_weak = result.score < weak_score
        line = _format_recalled(result, name_session=name_sessions, is_weak=is_weak)
        remaining_tokens = SEARCH_TOKENS - used_tokens - 1
        if lines and at_most(line) > remaining_tokens:
            break
        lines.append(truncate(line, remaining_tokens))
        used_tokens += at_most(lines[-1]) + 1
        content = truncate(reveal_hidden(result.turn.content), remaining_tokens)
        fields = {
            **recalled_json(result),
            "content": content,
            "time": format_time(result.turn.time),
        }
        if name_sessions:
            fields = {"session_id": result.turn.session, **fields}
        results.append(fields)
    return lines, results


def _format_recalled(recalled: Recalled, *, name_session: bool, is_weak: bool) -> str:
    """Return a found turn as text; its day shows a model which of two turns is newer."""
    day, _, _ = (format_time(recalled.turn.time) or "").partition("T")
    mark = ""
    if recalled.superseded_by is not None:
        mark = f", superseded by turn {recalled.superseded_by}"
    elif is_weak:
        mark = ", fits little"
    session = f"session {one_line(recalled.turn.session)}, " if name_session else ""
    return _format_turn(recalled.turn, session, f", {day}{mark}")


def _format_turn(turn: Turn, before: str = "", after: str = "") -> str:
    """Return a turn as text for a model; continuation lines are indented, so none can imitate another turn."""
    speaker = one_line(turn.speaker or turn.role)
    content = reveal_hidden(turn.content).strip("\n").replace("\n", "\n   ")
    return f"[{before}turn {turn.index}, {speaker}{after}] {content}"


def _memory_get(call: ToolCall) -> ToolAnswer:
    """Answer with the last turns; if they do not fit, the oldest of them are left out."""
    session = call.arguments["session_id"]
    turns = call.engine.turns(session, call.arguments.get("limit", _DEFAULT_TURNS))
    lines: list[str] = []
    results: list[Json] = []
    used_tokens = 0
    for turn in reversed(turns):
        line = truncate(_format_turn(turn), SEARCH_TOKENS)
        used_tokens += at_most(line) + 1
        if lines and used_tokens > SEARCH_TOKENS:
            break
        lines.insert(0, line)
        results.insert(0, _turn_json(turn))
    data: Json = {"success": True, "session_id": session}
    data |= fence_results(results)
    if len(lines) < len(turns):
        data["left_out"] = len(turns) - len(lines)
    return ToolAnswer("\n".join(lines) or f"Nothing is remembered of {session!r}.", data)


def _turn_json(turn: Turn) -> Json:
    return {
        "turn_index": turn.index,
        "role": turn.role,
        "speaker": turn.speaker,
        "content": truncate(reveal_hidden(turn.content), SEARCH_TOKENS),
        "time": format_time(turn.time),
    }


def _sessions(call: ToolCall) -> ToolAnswer:
    offset = call.arguments.get("offset", 0)
    sessions = call.engine.memory.sessions()
    page = sessions[offset : offset + _MAX_SESSIONS]
    results = [session_json(session) for session in page]
    results = results[: count_fitting(results)]
    page = page[: len(results)]
    lines = [
        f"{one_line(session.name)}: {plural(session.documents, 'turn')}" for session in page
    ]
    data: Json = {"success": True, "results": results}
    left_out = len(sessions) - offset - len(page)
    if left_out > 0:
        data |= {"left_out": left_out, "next_offset": offset + len(page)}
        lines.append(f"({left_out} more: ask again with offset {offset + len(page)})")
    return ToolAnswer("\n".join(lines) or "Nothing is remembered yet.", data)


def _forget(call: ToolCall) -> ToolAnswer:
    session = call.arguments["session_id"]
    names = [stored.name for stored in call.engine.memory.sessions()]
    if session not in names:
        hint = f"there are {', '.join(names[:20]) or 'none'}"
        raise NotFound(f"nothing is remembered of {session!r}", hint=hint)
    count = call.engine.memory.forget(session, turn=call.arguments.get("turn"))
    return ToolAnswer(
        f"Forgot {plural(count, 'turn')} of {one_line(session)}.",
        {"success": True, "session_id": session, "forgotten": count},
    )


MEMORY_ADD: Final = Tool(
    "rag_memory_add",
    "Remember a statement or a decision, word for word, so that later sessions can find it.",
    {
        "session_id": SESSION,
        "content": text_schema("What to remember."),
        "role": text_schema(f"The role: {ROLES}; user if left out."),
        "speaker": {"type": "string", "description": "The speaker's name."},
    },
    ("session_id", "content"),
    _memory_add,
    result_schema(turn_index={"type": "integer"}),
    read_only=False,
)
MEMORY_SEARCH: Final = Tool(
    "rag_memory_search",
    "Search remembered messages by words, by meaning and by time: of one conversation, or of all.",
    {
        "query": QUERY,
        "session_id": {
            **SESSION,
            "description": "Only this conversation; all if left out.",
        },
        "top_k": count_schema("Results at most."),
    },
    ("query",),
    _memory_search,
    list_schema("turn_index", "content"),
)
MEMORY_GET: Final = Tool(
    "rag_memory_get",
    "Return the last messages of a conversation, oldest first.",
    {"session_id": SESSION, "limit": count_schema("Messages at most.", 1, 200)},
    ("session_id",),
    _memory_get,
    list_schema("turn_index", "content"),
)
SESSIONS: Final = Tool(
    "rag_sessions",
    "List the conversations that are remembered.",
    {"offset": count_schema("Conversations to skip.", 0, 1_000_000)},
    (),
    _sessions,
    list_schema("session_id", "turns"),
)
FORGET: Final = Tool(
    "rag_memory_forget",
    "Forget a conversation, or one message of it. It cannot be undone.",
    {
        "session_id": SESSION,
        "turn": count_schema("Only this message, by its number.", 0, 1_000_000_000),
    },
    ("session_id",),
    _forget,
    result_schema(forgotten={"type": "integer"}),
    read_only=False,
    destructive=True,
)
