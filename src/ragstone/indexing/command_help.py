"""Captured help in a collection: a document for every command, replaced when it is captured again."""

from __future__ import annotations

from ragstone.engine.components import Parts
from ragstone.indexing.pipeline import Ledger
from ragstone.sources.command_help.help import HELP, CapturedHelp, HelpPage, to_markdown
from ragstone.types import Document, Metadata, Scalar, Skip

KIND = "help"
COLLECTION = "help"


def document(page: HelpPage) -> Document:
    """Return one command's help as a document."""
    command = " ".join(page.words)
    asked: list[Scalar] = [how for how, _ in page.texts]
    facts: Metadata = {"program": page.words[0], "command": command, "asked": asked}
    return Document(uri_of(page.words), to_markdown(page), KIND, "markdown", command, facts)


def uri_of(words: tuple[str, ...]) -> str:
    """Return what a command's help is known by: `help:git/remote/add`."""
    return f"help:{'/'.join(words)}"


def store(parts: Parts, collection: str, found: CapturedHelp) -> Ledger:
    """Store what a walk brought home, remove what the program no longer has, and return the account."""
    ledger = Ledger(found=len(found.pages) + len(found.skipped))
    known = parts.store.known_files(parts.key(collection), HELP)
    writer = parts.writer(collection)
    fresh = []
    for one in (document(page) for page in found.pages):
        before = known.get(one.uri)
        if before is not None and (before.content_hash, before.recipe) == (one.hash, writer.cut.recipe):
            ledger.unchanged += 1
        else:
            fresh.append(one)
    for result in writer.add(fresh, source=HELP):
        ledger.indexed += 1
        ledger.added += result.added
        ledger.kept += result.kept
    ledger.skipped += [Skip(uri_of(left.words), left.reason) for left in found.skipped]
    there = {uri_of(page.words) for page in found.pages}
    gone = [uri for uri in known if _of(found, uri) and uri not in there and not _unasked(found, uri)]
    if gone:
        ledger.removed += parts.store.remove(parts.key(collection), gone)
    return ledger


def _of(found: CapturedHelp, uri: str) -> bool:
    root = uri_of((found.program,))
    return uri == root or uri.startswith(f"{root}/")


def _unasked(found: CapturedHelp, uri: str) -> bool:
    """Return whether a command may still be there: it, or one above it, was not asked this time."""
    unasked = (uri_of(left.words) for left in found.skipped if not left.was_run)
    return any(uri == above or uri.startswith(f"{above}/") for above in unasked)
