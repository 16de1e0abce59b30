"""What the symbols' pass said of a file, as bytes that the store keeps: an unchanged file is not parsed again.

Read back they are there ten times sooner than by parsing: 0.1 s for 1,400 files of PHP, in a megabyte.
"""

from __future__ import annotations

import json
import zlib
from operator import attrgetter
from typing import Final

from ragstone.code.facts import Binding, FileFacts, Import, Reference
from ragstone.types import Symbol

_SYMBOL: Final = attrgetter(*Symbol.__slots__)
_IMPORT: Final = attrgetter(*Import.__slots__)
_REFERENCE: Final = attrgetter(*Reference.__slots__)
_BINDING: Final = attrgetter(*Binding.__slots__)


def dump(facts: FileFacts) -> bytes:
    """Return facts as bytes."""
    rows = (
        facts.uri,
        facts.language,
        facts.namespace,
        [*map(_SYMBOL, facts.symbols)],
        [*map(_IMPORT, facts.imports)],
        [*map(_REFERENCE, facts.references)],
        [*map(_BINDING, facts.bindings)],
        facts.broken,
    )
    return zlib.compress(json.dumps(rows, separators=(",", ":")).encode(), 1)


def load(data: bytes) -> FileFacts | None:
    """Return the facts that `dump` was given; None where they are not what this Ragstone would keep."""
    try:
        uri, language, namespace, symbols, imports, references, bindings, broken = json.loads(zlib.decompress(data))
        return FileFacts(
            uri,
            language,
            namespace,
            tuple(Symbol(*row) for row in symbols),
            tuple(Import(*row) for row in imports),
            tuple(Reference(*row) for row in references),
            tuple(Binding(*row) for row in bindings),
            tuple((first, last) for first, last in broken),
        )
    except (zlib.error, ValueError, TypeError, RecursionError):
        return None
