"""Settings as the page shows them: value, origin, help, and the cost of a change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from ragstone.config import Settings
from ragstone.config.settings import setting_keys
from ragstone.text import query_terms, terms
from ragstone.text.counts import plural
from ragstone.types import Status

_SPACE_SETTINGS: Final = (
    "embed.provider",
    "embed.model",
    "embed.dimension",
    "rag.embedding_provider",
)
_CHUNK_SETTINGS: Final = ("chunk.", "rag.chunk_")
_SOURCE_SETTINGS: Final = "sources."


@dataclass(frozen=True, slots=True)
class SettingView:
    """One setting: its value, where it comes from, and how it can be changed."""

    name: str
    value: str
    origin: str
    default: str
    doc: str
    variable: str
    choices: tuple[str, ...]
    expected: str
    """The accepted values in words."""
    can_change: bool
    """Whether a project file may have it; secrets and addresses belong into the user file."""
    is_written: bool
    """Whether the project file has it."""
    in_use: str | None
    """The value of the running server, if the files have another one by now."""
    cost: str
    """The work that a change causes, in words; empty if there is none."""

    @property
    def section(self) -> str:
        """Return the part of the name before its last dot."""
        return self.name.rpartition(".")[0]

    @property
    def is_default(self) -> bool:
        """Return whether it has its default value."""
        return self.origin == "default"


def view_settings(
    written: Settings, in_use: Settings, index: Status, text: str = ""
) -> list[SettingView]:
    """Return the settings that fit a text; all of them if it is empty.

    They have the values that the files have now. An argument of the server is in no file.
    """
    keys = setting_keys()
    defaults = Settings()
    views = []
    for row, used in zip(written.listing(), in_use.listing(), strict=True):
        name, value, origin = used if used[2].startswith("argument") else row
        key = keys[name]
        views.append(
            SettingView(
                name,
                show_value(value),
                origin,
                show_value(defaults.value(name)),
                key.rules.doc,
                key.variable,
                _choices(key.value_type.choices, key.value_type.kind),
                key.value_type.describe(),
                not (key.rules.secret or key.rules.personal),
                written.comes_from_project(name),
                None if value == used[1] else show_value(used[1]) or "not set",
                describe_cost(name, index),
            )
        )
    return find_settings(views, text)


def find_settings(views: list[SettingView], text: str) -> list[SettingView]:
    """Return the settings whose name, value or help contains a text.

    If none contains it, return those that have the most of its words, in any form.
    """
    needle = text.strip().casefold()
    fitting = [view for view in views if needle in _words_of(view).casefold()]
    if fitting:
        return fitting
    query_words = frozenset(query_terms(text))
    counts = [len(query_words.intersection(terms(_words_of(view)))) for view in views]
    most = max(counts, default=0)
    return [view for view, count in zip(views, counts, strict=True) if 0 < count == most]


def _words_of(view: SettingView) -> str:
    return f"{view.name} {view.value} {view.doc}"


def group_by_section(views: Sequence[SettingView]) -> list[tuple[str, list[SettingView]]]:
    """Return the settings of each section, in the order of the sections."""
    return [
        (section, list(entries))
        for section, entries in groupby(views, key=lambda view: view.section)
    ]


def show_value(value: object) -> str:
    """Return a value as the input of the page has it; empty if it is not set."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return str(value)


def describe_cost(name: str, index: Status) -> str:
    """Return which work a change of a setting causes."""
    if name in _SPACE_SETTINGS:
        texts = max((space.texts for space in index.spaces), default=index.chunks)
        verb = "needs" if texts == 1 else "need"
        return f"If you change this, {plural(texts, 'text')} {verb} new vectors: `ragstone reembed` makes them."
    if name.startswith(_CHUNK_SETTINGS):
        documents = plural(index.documents, "document")
        return f"If you change this, the next sync cuts {documents} again and makes vectors for changed chunks."
    if name.startswith(_SOURCE_SETTINGS):
        return "If you change this, the next sync adds or removes the files that are concerned."
    return ""


def causes_work(name: str) -> bool:
    """Return whether a change of a setting causes work that a plan can count."""
    return name in _SPACE_SETTINGS or name.startswith((*_CHUNK_SETTINGS, _SOURCE_SETTINGS))


def _choices(choices: Sequence[object], kind: type) -> tuple[str, ...]:
    if kind is bool:
        return ("true", "false")
    return tuple(map(str, choices))
