"""Files of JSON lines that `export` commands write and `import` commands read; `-` is stdin or stdout."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, TextIO

from ragstone.engine import Engine
from ragstone.errors import InputError, ReadError
from ragstone.sources.files import identities, safe_stream
from ragstone.surfaces.cli.output import (
    format_bytes,
    print_note,
    print_result,
    printable,
)
from ragstone.text.counts import plural

PIPE: Final = "-"


def check_target(file: str, *, as_json: bool, force: bool) -> None:
    """Raise `InputError` if an export must not write to this file."""
    if file == PIPE and as_json:
        raise InputError("--json needs a FILE: the lines go to stdout", hint="name a FILE")
    if file != PIPE and Path(file).exists() and not force:
        raise InputError(f"{file} is already there", hint="--force writes over it")


def write_export(engine: Engine, file: str, lines: Iterable[str], *, as_json: bool) -> None:
    """Write lines to a file or to stdout, and print how many."""
    if identities([file]) & engine.admin.source().own_files():
        raise InputError(f"{file} belongs to the index itself", hint="choose another name")
    if file == PIPE:
        count = _write_lines(sys.stdout, lines)
        print_note(f"({plural(count, 'line')} written)")
        return
    count = _replace_file(Path(file), lines)
    size = Path(file).stat().st_size
    sentence = f"{plural(count, 'line')}, {format_bytes(size)} written to {printable(file)}"
    print_result(
        {"success": True, "file": file, "lines": count, "bytes": size},
        sentence,
        as_json=as_json,
    )


def open_input(engine: Engine, file: str) -> BinaryIO:
    """Return a file or stdin for reading; raise `InputError` if the file belongs to the index itself."""
    if file == PIPE:
        return sys.stdin.buffer
    if not os.path.lexists(file):
        raise InputError(
            f"there is no file {file}", hint="check the path; `-` reads from a pipe"
        )
    parent, name = os.path.split(os.path.realpath(file))
    try:
        return safe_stream(Path(parent), name, never=engine.admin.source().own_files())
    except ReadError as error:
        hint = "check the path; `-` reads from a pipe"
        raise InputError(f"{file} cannot be read: {error.message}", hint=hint) from error


def decode_lines(data: BinaryIO) -> Iterator[str]:
    """Yield the lines of a file as text."""
    try:
        for line in data:
            yield line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("this is not a Ragstone export: it is not UTF-8 text") from error
    except OSError as error:
        raise ReadError(f"reading failed before the end: {error.strerror}") from error


def _write_lines(stream: TextIO, lines: Iterable[str]) -> int:
    count = 0
    for line in lines:
        stream.write(line + "\n")
        count += 1
    return count


def _replace_file(target: Path, lines: Iterable[str]) -> int:
    """Write to a temporary file and rename it, so that no reader sees half an export; return the line count."""
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise InputError(
            f"cannot write to {target.parent}: {error.strerror}", hint="choose another place"
        ) from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            count = _write_lines(stream, lines)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return count
