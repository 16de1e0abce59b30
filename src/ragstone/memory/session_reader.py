"""Reads the stored turns of one session."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ragstone.errors import StoreDamaged
from ragstone.memory.turns import HOT, turn_from_metadata, turn_uri
from ragstone.types import Condition, Filter, SessionState, Turn

if TYPE_CHECKING:
    from ragstone.protocols import DocumentStore
    from ragstone.types import CollectionKey

_PAGE: Final = 500
_SUPERSEDING: Final = Filter((Condition("meta.supersedes", "exists", True),))


@dataclass(frozen=True, slots=True)
class SessionReader:
    """The turns of a session by number, oldest first."""

    store: DocumentStore
    key: CollectionKey

    @property
    def state(self) -> SessionState:
        """Return the number of the next turn, and the version of the stored turns."""
        return self.store.state.session_state(self.key)

    @property
    def exists(self) -> bool:
        """Return whether the session has or had turns."""
        return self.state.next_turn is not None

    @property
    def next_turn(self) -> int:
        """Return the number of the next turn."""
        return self.state.next_turn or 0

    def all(self) -> Iterator[Turn]:
        """Yield every turn."""
        for start in range(0, self.next_turn, _PAGE):
            yield from self.between(start, start + _PAGE)

    def last(self, limit: int) -> list[Turn]:
        """Return the last turns, even if turns between them were forgotten."""
        end = self.next_turn
        turns: list[Turn] = []
        while end > 0 and len(turns) < limit:
            start = max(0, end - max(limit, HOT))
            turns = [*self.between(start, end), *turns]
            end = start
        return turns[-limit:]

    def between(self, start: int, end: int) -> Iterator[Turn]:
        """Yield the turns with numbers from `start` to before `end`."""
        if end <= 0:
            return
        after = None
        if start > 0:
            after = (self.key.name, turn_uri(start - 1))
        limit = end - max(0, start)
        for stored in self.store.documents(self.key.scope, after=after, limit=limit):
            if stored.uri >= turn_uri(end):
                break
            yield turn_from_metadata(stored.metadata, self._text(stored.uri))

    def superseding(self) -> Iterator[Turn]:
        """Yield the turns that supersede others; a turn whose text is damaged has none."""
        scope = self.key.scope
        after: tuple[str, str] | None = None
        while page := self.store.documents(
            scope, filter=_SUPERSEDING, after=after, limit=_PAGE
        ):
            for stored in page:
                try:
                    text = self._text(stored.uri)
                except StoreDamaged:
                    text = ""
                yield turn_from_metadata(stored.metadata, text)
            after = (self.key.name, page[-1].uri)

    def _text(self, uri: str) -> str:
        return self.store.text(self.key, uri) or ""
