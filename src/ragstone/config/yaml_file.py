"""YAML as plain data with its lines: mappings, lists, text, whole numbers, truth values, nothing.

Only the parser of PyYAML is used, which knows of no objects; tags mean nothing. Anchors and aliases are refused: with
them a page can stand for more than any memory holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from yaml.events import Event, ScalarEvent

DEEPEST: Final = 30
_WORDS: Final[Mapping[str, bool | None]] = {
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
    **dict.fromkeys(("null", "~", ""), None),
}
_WHOLE: Final = re.compile(r"[-+]?[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Entry:
    """A value and the line it stands in."""

    value: Mapping[str, Entry] | tuple[Entry, ...] | str | int | None
    line: int

    @property
    def plain(self) -> object:
        """Return the value without lines, lists and mappings one level deep."""
        if isinstance(self.value, tuple):
            return [entry.plain if not isinstance(entry.value, tuple | Mapping) else entry for entry in self.value]
        return self.value


def parsed(text: str, origin: str) -> Entry:
    """Return what a YAML text says; an empty one says nothing."""
    import yaml  # on first need: a folder without such files does not wait for it

    events = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    try:
        return _document(iter(events), origin)
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigError(f"{_first(origin)}{line} is not valid YAML: {error.problem or error.context}.") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{_first(origin)} is not valid YAML: {str(error).splitlines()[0]}.") from error


def _document(events: Iterator[Event], origin: str) -> Entry:
    """Return the one document of a stream."""
    found: Entry | None = None
    for event in events:
        kind = type(event).__name__
        if kind in ("StreamStartEvent", "StreamEndEvent", "DocumentEndEvent", "DocumentStartEvent"):
            continue
        if found is not None:
            raise _wrong(origin, event, "begins a second document")
        found = _entry(event, events, origin, 0)
    return found or Entry(None, 1)


def _entry(event: Event, events: Iterator[Event], origin: str, depth: int) -> Entry:
    kind, line = type(event).__name__, _line(event)
    if kind == "AliasEvent" or getattr(event, "anchor", None):
        raise _wrong(origin, event, "uses an anchor (& or *): write the value out")
    if depth > DEEPEST:
        raise _wrong(origin, event, "is nested too deeply")
    if kind == "MappingStartEvent":
        return Entry(_mapping(events, origin, depth), line)
    if kind == "SequenceStartEvent":
        return Entry(tuple(_entry(one, events, origin, depth + 1) for one in _until("SequenceEndEvent", events)), line)
    return Entry(_scalar(event), line)  # type: ignore[arg-type]  # no other event has a value


def _mapping(events: Iterator[Event], origin: str, depth: int) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for key in _until("MappingEndEvent", events):
        if type(key).__name__ != "ScalarEvent" or getattr(key, "anchor", None):
            raise _wrong(origin, key, "has a key that is no plain text")
        name: str = key.value  # type: ignore[attr-defined]  # a scalar has one
        if name in found:
            raise _wrong(origin, key, f"says {name!r} a second time")
        found[name] = _entry(next(events), events, origin, depth + 1)
    return found


def _until(end: str, events: Iterator[Event]) -> Iterator[Event]:
    for event in events:
        if type(event).__name__ == end:
            return
        yield event


def _scalar(event: ScalarEvent) -> str | int | None:
    """Return a value: what is quoted or written as a block is text."""
    text: str = event.value
    if event.style:
        return text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    return int(text) if _WHOLE.fullmatch(text) else text


def _wrong(origin: str, event: Event, what: str) -> ConfigError:
    return ConfigError(f"{_first(origin)}, line {_line(event)}, {what}.")


def _line(event: Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _first(origin: str) -> str:
    return f"The {origin}"
