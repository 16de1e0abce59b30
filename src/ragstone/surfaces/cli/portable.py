"""`ragstone export` and `ragstone import`: a collection as lines of JSON."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

import click

from ragstone.errors import InputError, ReadError
from ragstone.sources.safe_open import Identity, identities, safe_stream
from ragstone.surfaces import present
from ragstone.surfaces.cli.folder import open_engine, open_existing
from ragstone.surfaces.cli.shell import emit, note, number, remark, safe, say, shared, size
from ragstone.surfaces.cli.sync import remarks

_PIPE: Final = "-"


@click.command()
@click.argument("file", default=_PIPE)
@click.option("--no-vectors", is_flag=True, help="Leave the vectors out; they can be made again.")
@click.option("--collection", help="The collection to write.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@shared
def export(
    file: str, folder: Path | None, as_json: bool, no_vectors: bool, collection: str | None, force: bool
) -> None:
    """Write a collection to FILE (`-`, the default, is stdout)."""
    may_write(file, as_json=as_json, force=force)
    with open_existing(folder) as engine:
        if identities([file]) & engine.source().own_files():
            raise InputError(f"{file} belongs to the index itself", hint="choose another name")
        give(file, engine.export(collection=collection, vectors=not no_vectors), as_json=as_json)


@click.command("import")
@click.argument("file")
@click.option("--collection", help="The collection to fill.")
@shared
def load(file: str, folder: Path | None, as_json: bool, collection: str | None) -> None:
    """Take in FILE, written by `ragstone export` (`-` is stdin)."""
    with open_engine(folder) as engine, opened(file, engine.source().own_files()) as data:
        report = engine.load(text_lines(data), collection=collection)
    if as_json:
        emit({"success": True, **present.add_report(report)})
        remark(report.notes)
        return
    say(f"{number(report.documents, 'document')}, {number(report.chunks_added, 'new chunk')}, "
        f"{number(report.embedded, 'vector')} taken in")  # fmt: skip
    remarks(report.remarks, verbose=True)
    remark(report.notes or ("`ragstone sync` makes the vectors that are missing",))


def may_write(file: str, *, as_json: bool, force: bool) -> None:
    """Raise `InputError` where lines cannot go to FILE as they were asked to."""
    if file == _PIPE and as_json:
        raise InputError("--json needs a FILE: the lines go to stdout", hint="name a FILE")
    if file != _PIPE and Path(file).exists() and not force:
        raise InputError(f"{file} is already there", hint="--force writes over it")


def give(file: str, lines: Iterable[str], *, as_json: bool) -> None:
    """Write lines to FILE or to stdout, and tell how many."""
    if file == _PIPE:
        count = 0
        for count, line in enumerate(lines, start=1):  # noqa: B007 - the last one is the count
            sys.stdout.write(line + "\n")
        note(f"({number(count, 'line')} written)")
        return
    count = write(Path(file), lines)
    if as_json:
        emit({"success": True, "file": file, "lines": count, "bytes": Path(file).stat().st_size})
    else:
        say(f"{number(count, 'line')}, {size(Path(file).stat().st_size)} written to {safe(file)}")


def opened(file: str, never: frozenset[Identity]) -> BinaryIO:
    """Return a file to be read, or stdin; nothing that belongs to the index itself."""
    if file == _PIPE:
        return sys.stdin.buffer
    above, name = os.path.split(os.path.realpath(file))
    try:
        return safe_stream(Path(above), name, never=never)
    except ReadError as error:
        hint = "check the path; a pipe is read with `ragstone import -`"
        raise InputError(f"{file} cannot be read: {error.message}", hint=hint) from error


def text_lines(data: BinaryIO) -> Iterator[str]:
    """Yield the lines of a file as text."""
    try:
        for line in data:
            yield line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("this is not a Ragstone export: it is not UTF-8 text") from error
    except OSError as error:
        raise ReadError(f"it cannot be read to its end: {error.strerror}") from error


def write(target: Path, lines: Iterable[str]) -> int:
    """Write beside the target, then put it in its place: nobody ever sees half a file."""
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise InputError(f"cannot write to {target.parent}: {error.strerror}", hint="choose another place") from error
    count = 0
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as opened:
            for count, line in enumerate(lines, start=1):  # noqa: B007 - the last one is the count
                opened.write(line + "\n")
            opened.flush()
            os.fsync(opened.fileno())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return count
