"""How types and receivers are written: what stands in a union, what a call is made on, what a function returns."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

_NOTHING: Final = frozenset(("null", "None", "undefined", "nil", "void", "Null", "NULL", "false"))
_WRAPPED: Final = re.compile(
    r"^(?:[\w.]+\.)?(?:Optional|Annotated|Final|ClassVar|Required|NotRequired|Readonly|Partial)\s*[\[<](?P<in>.*)[\]>]$",
    re.DOTALL,
)
_GENERIC: Final = re.compile(r"^(?P<name>[\w.:\\$]+)\s*(?:<.*>|\[.+\])$", re.DOTALL)
_NAME: Final = re.compile(r"\\?[^\W\d]\w*(?:(?:\\|::|\.)\w+)*")
_SIGNS: Final = "?&*! \t\"'"
_WORDS: Final = re.compile(
    r"^(?:(?:const|mut|dyn|impl|final|struct|readonly|static|ref|out|in|volatile|some|any)\s+)+"
)
_ARRAY: Final = re.compile(r"\[\s*\]$")


class Part(NamedTuple):
    """One step of a receiver: a name, and whether it is called."""

    name: str
    called: bool


class Chain(NamedTuple):
    """A receiver taken apart: what it begins with, and the steps from there."""

    head: Part
    made: bool
    """Whether the head is a type that `new` makes an instance of."""
    awaited: bool
    """Whether its end is waited for."""
    steps: tuple[Part, ...]


@lru_cache(maxsize=20_000)
def names_of(text: str, language: str) -> tuple[str, ...]:
    """Return the names in a written type, one for each part of a union; none where it is a list or made by others."""
    found: list[str] = []
    for part in _split(text, language):
        plain = _plain(part, language)
        if plain in _NOTHING:
            continue
        if not _NAME.fullmatch(plain):
            return ()
        found.append(plain)
    return tuple(dict.fromkeys(found))


def _split(text: str, language: str) -> list[str]:
    """Return the parts of a union, those of what only wraps a type included."""
    text = text.strip().strip("\"'")
    wrapped = _WRAPPED.match(text)
    if wrapped and language in ("python", "typescript", "tsx"):
        inner = wrapped["in"]
        return _split(_outside(inner, ",")[0], language)
    if language in ("python", "php", "typescript", "tsx", "javascript"):
        parts = _outside(text, "|")
        return (
            [one for part in parts for one in _split(part, language)] if len(parts) > 1 else parts
        )
    return [text]


def _plain(part: str, language: str) -> str:
    """Return one type without signs and generics; what is an array or a map keeps what says so."""
    part = part.strip(" \t\"'()")
    if _ARRAY.search(part):
        return part
    if language == "go":
        part = part.lstrip("*& ")
    elif language in ("c", "cpp"):
        part = part.replace("&", " ").replace("*", " ").strip()
        part = part.removesuffix(" const")
    else:
        part = part.strip(_SIGNS)
    part = _WORDS.sub("", part).strip(_SIGNS)
    generic = _GENERIC.match(part)
    return generic["name"] if generic else part


def _outside(text: str, sign: str) -> list[str]:
    """Return what stands between signs that are in no brackets."""
    if sign not in text:
        return [text]
    found: list[str] = []
    depth = at = 0
    for place, one in enumerate(text):
        if one in "([{<":
            depth += 1
        elif one in ")]}>":
            depth -= 1
        elif one == sign and depth <= 0:
            found.append(text[at:place])
            at = place + 1
    return [*found, text[at:]]


# ── receivers ─────────────────────────────────────────────────────────────────────────────────────

_STEP: Final = re.compile(r"\s*(?:\?->|->|::|\?\.|!!?\.|\.)\s*")
_SURELY: Final = re.compile(r"!+(?=\.|$)")
_WORD: Final = re.compile(r"\$?[^\W\d]\w*!?|\\[\w\\]+|@{1,2}\w+")
_HEAD: Final = re.compile(r"\\?\$?[^\W\d][\w\\]*|@{1,2}\w+")
_OPEN: Final = {"(": ")", "[": "]", "{": "}"}
_MADE: Final = re.compile(r"new\s+(?P<name>[\\\w$.:]+)\s*")


@lru_cache(maxsize=20_000)
def chain_of(text: str) -> Chain | None:
    """Return a receiver taken apart, or None where it is more than names, calls and `new`."""
    text = text.strip()
    awaited = False
    while text.startswith("(") and _closing(text, 0) == len(text) - 1:
        text = text[1:-1].strip()
    if text.startswith("await "):
        awaited, text = True, text[6:].strip()
    if text.startswith("(") and (end := _closing(text, 0)) > 0:
        inner = chain_of(text[: end + 1])
        rest = _steps(text, end + 1) if inner is not None else None
        if inner is None or rest is None or inner.awaited:
            return None
        return Chain(inner.head, inner.made, awaited, (*inner.steps, *rest))
    made = _MADE.match(text)
    if made:
        at, end = made.end(), _closing(text, made.end())
        rest = _steps(text, end + 1 if end > 0 else at)
        return None if rest is None else Chain(Part(made["name"], True), True, awaited, rest)
    return _plain_chain(text, awaited)


def _plain_chain(text: str, awaited: bool) -> Chain | None:
    head = _HEAD.match(text)
    if head is None:
        return None
    at, called = _call_at(text, head.end())
    rest = _steps(text, at)
    return None if rest is None else Chain(Part(head[0], called), False, awaited, rest)


def _steps(text: str, at: int) -> tuple[Part, ...] | None:
    """Return the steps from a place to the end, or None where something else stands there."""
    found: list[Part] = []
    while at < len(text):
        between = _STEP.match(text, at) or _SURELY.match(text, at)
        word = _WORD.match(text, between.end()) if between else None
        if word is None:
            return tuple(found) if between and between.end() == len(text) else None
        at, called = _call_at(text, word.end())
        found.append(Part(word[0], called))
    return tuple(found)


def _call_at(text: str, at: int) -> tuple[int, bool]:
    """Return the place behind a call that begins at a place, or the place itself."""
    start = at
    while at < len(text) and text[at] == " ":
        at += 1
    if text[at : at + 1] == "(" and (end := _closing(text, at)) > 0:
        return end + 1, True
    return start if at < len(text) and text[at] not in "?-:.!" else at, False


def _closing(text: str, at: int) -> int:
    """Return where the bracket that opens at a place is closed, or -1; quotes are passed over."""
    if text[at : at + 1] not in _OPEN or not text[at : at + 1]:
        return -1
    depth, quote, place = 0, "", at
    while place < len(text):
        sign = text[place]
        if quote:
            if sign == "\\":
                place += 1
            elif sign == quote:
                quote = ""
        elif sign in "\"'`":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
            if depth == 0:
                return place
        place += 1
    return -1


# ── what functions return ─────────────────────────────────────────────────────────────────────────

_AFTER: Final = {
    "php": ":",
    "typescript": ":",
    "tsx": ":",
    "kotlin": ":",
    "python": "->",
    "rust": "->",
    "swift": "->",
}
_MODIFIERS: Final = re.compile(
    r"^(?:(?:public|private|protected|internal|static|final|abstract|override|virtual|async|sealed|synchronized|native|"
    r"inline|extern|constexpr|partial|unsafe|new|default|explicit|friend|readonly)\b|<[^<>]*>|@\w+(?:\([^()]*\))?|"
    r"\[[^\[\]]*\])\s*"
)
_ASYNC: Final = re.compile(r"\basync\b")


def returned(signature: str, name: str, language: str) -> tuple[str, bool]:
    """Return the type a signature says is returned, empty where it says none, and whether it has to be awaited."""
    opening = signature.find("(", max(signature.find(f"{name}("), signature.find(f"{name} (")))
    named = signature.find(name)
    if opening < 0 or named < 0:
        return "", False
    later = bool(_ASYNC.search(signature[:named]))
    if language == "go":
        opening = signature.find("(", signature.find(f"{name}("))
        end = _closing(signature, opening)
        return (_first_of(signature[end + 1 :].strip()), False) if end > 0 else ("", False)
    sign = _AFTER.get(language)
    if sign is None:
        return _before(signature[:named]) if language in (
            "java",
            "csharp",
            "c",
            "cpp",
        ) else "", later
    end = _closing(signature, opening)
    rest = signature[end + 1 :].strip() if end > 0 else ""
    if language == "swift":
        later = later or rest.startswith("async")
    at = rest.find(sign)
    if at < 0 or (at > 0 and language != "swift"):
        return "", later
    return re.split(r"\s(?:where|\{|=>|=)", rest[at + len(sign) :].strip())[0].strip(), later


def _first_of(rest: str) -> str:
    """Return the first of the types that a Go function returns."""
    return _outside(rest[1:-1], ",")[0].strip() if rest.startswith("(") else rest


def _before(text: str) -> str:
    """Return the type that stands before a name."""
    text = text.strip()
    while (shorter := _MODIFIERS.sub("", text)) != text:
        text = shorter
    return text.strip()
