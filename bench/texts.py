"""Real texts to measure with, from what every Python has: the sources of its standard library."""

from __future__ import annotations

import random
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

PIECE_CHARACTERS = 420
"""About 100 tokens of code and comment."""

LEAST_CHARACTERS = 120
SEED = 11
TYPED_WORDS = 8
"""Words in a query of `typed`: 14 tokens in the middle; questions of the eval sets have 12 (LoCoMo) to 19 (SciFact)."""

_TYPED = re.compile(r"[A-Za-z][A-Za-z0-9]{2,}(?:_[A-Za-z0-9]+)*")


def library() -> Path:
    """Return the folder of the standard library."""
    return Path(sysconfig.get_paths()["stdlib"])


def library_files(limit: int | None = None) -> list[Path]:
    """Return the standard library's Python files in order of path, installed packages left out."""
    root = library()
    found = [
        path
        for path in sorted(root.rglob("*.py"))
        if not {"site-packages", "dist-packages", "__pycache__", "idlelib"}
        & set(path.relative_to(root).parts)
    ]
    return found[:limit]


def pieces(text: str, size: int = PIECE_CHARACTERS) -> Iterator[str]:
    """Yield runs of paragraphs of about so many characters each."""
    held = ""
    for paragraph in text.split("\n\n"):
        if held and len(held) + len(paragraph) > size:
            yield held.strip()
            held = ""
        held = f"{held}\n\n{paragraph}" if held else paragraph
        if len(held) > 3 * size:
            held = held[: 3 * size]
    if held.strip():
        yield held.strip()


def real_texts(count: int, *, size: int = PIECE_CHARACTERS) -> list[str]:
    """Return distinct pieces of the standard library, shuffled the same way each time; fewer where it has fewer."""
    found: dict[str, None] = {}
    for path in library_files():
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        found.update(
            (piece, None) for piece in pieces(text, size) if len(piece) >= LEAST_CHARACTERS
        )
    texts = list(found)
    random.Random(SEED).shuffle(texts)  # noqa: S311 - the same order each time, no secret
    return texts[:count]


def questions(texts: list[str]) -> list[str]:
    """Return a short query for each text: some of its own words, in its order."""
    luck = random.Random(SEED)  # noqa: S311 - the same words each time, no secret
    asked: list[str] = []
    for text in texts:
        words = [word.strip("\"'`#:,.()[]{}=") for word in text.split()]
        words = [word for word in words if len(word) > 3 and word.isascii()] or ["python"]
        start = luck.randrange(max(1, len(words) - 6))
        asked.append(" ".join(words[start : start + 6]))
    return asked


def typed(texts: list[str]) -> list[str]:
    """Return a query for each text as somebody would type it: words and names of it, not the code around them."""
    luck = random.Random(SEED)  # noqa: S311 - the same words each time, no secret
    asked: list[str] = []
    for text in texts:
        words = list(dict.fromkeys(_TYPED.findall(text))) or ["python"]
        start = luck.randrange(max(1, len(words) - TYPED_WORDS))
        asked.append(" ".join(words[start : start + TYPED_WORDS]))
    return asked


def spliced(texts: list[str], count: int) -> tuple[list[str], list[tuple[int, int]]]:
    """Return `count` texts: the real ones, then halves of two joined, and which two each was made of."""
    luck = random.Random(SEED + 1)  # noqa: S311 - the same pairs each time, no secret
    made = list(texts[:count])
    parents = [(number, number) for number in range(len(made))]
    while len(made) < count:
        one, two = luck.randrange(len(texts)), luck.randrange(len(texts))
        left, right = texts[one], texts[two]
        made.append(
            f"{left[: len(left) * 2 // 3]}\n{right[len(right) * 2 // 3 :]}\n# {len(made)}"
        )
        parents.append((one, two))
    return made, parents
