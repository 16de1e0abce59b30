"""YAML as plain data with line numbers: mappings, lists, texts, whole numbers, booleans and nothing.

PyYAML builds only nodes here, no objects; tags are ignored. Anchors and aliases are refused, because a short file with
aliases can expand to more than any memory holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import yaml
from yaml.events import CollectionEndEvent, CollectionStartEvent, Event

from ragstone.errors import ConfigError

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_DEPTH: Final = 30
_WORDS: Final[Mapping[str, bool | None]] = {
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
    **dict.fromkeys(("null", "~", ""), None),
}
_WHOLE_NUMBER: Final = re.compile(r"[-+]?[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class YamlEntry:
    """A value and its line."""

    value: Mapping[str, YamlEntry] | tuple[YamlEntry, ...] | str | int | None
    line: int

    @property
    def plain(self) -> object:
        """Return the value without line numbers; of a list, its scalars."""
        if isinstance(self.value, tuple):
            return [entry.plain_scalar for entry in self.value]
        return self.value

    @property
    def plain_scalar(self) -> object:
        """Return the value if it is a scalar, else the entry itself."""
        if isinstance(self.value, tuple | Mapping):
            return self
        return self.value


def parse_yaml(text: str, origin: str) -> YamlEntry:
    """Return the data in a YAML text; raise `ConfigError` if it is not valid."""
    try:
        _check_events(text, origin)
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        line = ""
        if error.problem_mark:
            line = f", line {error.problem_mark.line + 1}"
        problem = error.problem or error.context
        raise ConfigError(f"The {origin}{line} is not valid YAML: {problem}.") from error
    except yaml.YAMLError as error:
        problem = str(error).splitlines()[0]
        raise ConfigError(f"The {origin} is not valid YAML: {problem}.") from error
    if root is None:
        return YamlEntry(None, 1)
    return _convert(root, origin)


def _check_events(text: str, origin: str) -> None:
    """Raise `ConfigError` for anchors, aliases and deep nesting, before any node is built."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if getattr(event, "anchor", None):
            raise _error(origin, _line(event), "uses an anchor (& or *): write the value out")
        if isinstance(event, CollectionStartEvent):
            depth += 1
        elif isinstance(event, CollectionEndEvent):
            depth -= 1
        if depth > _MAX_DEPTH:
            raise _error(origin, _line(event), "is nested too deeply")


def _convert(node: yaml.Node, origin: str) -> YamlEntry:
    line = _line(node)
    if isinstance(node, yaml.SequenceNode):
        items = [_convert(item, origin) for item in node.value]
        return YamlEntry(tuple(items), line)
    if isinstance(node, yaml.MappingNode):
        return YamlEntry(_convert_mapping(node, origin), line)
    return YamlEntry(_parse_scalar(node), line)


def _convert_mapping(node: yaml.MappingNode, origin: str) -> dict[str, YamlEntry]:
    entries: dict[str, YamlEntry] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _error(origin, _line(key), "has a key that is no plain text")
        if key.value in entries:
            raise _error(origin, _line(key), f"says {key.value!r} a second time")
        entries[key.value] = _convert(value, origin)
    return entries


def _parse_scalar(node: yaml.Node) -> str | int | None:
    """Return the value of a scalar; a quoted one or a block is a text."""
    text: str = node.value
    if getattr(node, "style", None):
        return text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _WHOLE_NUMBER.fullmatch(text):
        return int(text)
    return text


def _error(origin: str, line: int, problem: str) -> ConfigError:
    return ConfigError(f"The {origin}, line {line}, {problem}.")


def _line(item: Event | yaml.Node) -> int:
    if item.start_mark is None:
        return 1
    return item.start_mark.line + 1


def find_yaml_error(text: str) -> int | None:
    """Return the line at which a text stops to be YAML, 0 if the line is unknown, None if it is sound.

    Only events are read: no tag and no alias is followed.
    """
    try:
        for _ in yaml.parse(text, Loader=_LOADER):
            pass
    except yaml.MarkedYAMLError as error:
        return error.problem_mark.line + 1 if error.problem_mark else 0
    except (yaml.YAMLError, RecursionError, ValueError):
        return 0
    return None
