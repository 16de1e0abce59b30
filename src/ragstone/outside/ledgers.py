"""The account of a run over what comes from outside, in the nouns of a sync."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ragstone.ingest import Ledger
from ragstone.types import SyncReport


def closed(ledger: Ledger, begun: float, *, notes: Sequence[str] = ()) -> SyncReport:
    """Return a finished account; `begun` is when it was opened, by the monotonic clock."""
    return SyncReport(
        found=ledger.found,
        indexed=ledger.indexed,
        unchanged=ledger.unchanged,
        skipped=tuple(ledger.skipped),
        failed=tuple(ledger.failed),
        removed=ledger.removed,
        chunks_added=ledger.added,
        chunks_kept=ledger.kept,
        embedded=0,
        pending=0,
        seconds=time.monotonic() - begun,
        notes=tuple(notes),
        remarks=tuple(ledger.remarks),
    )
