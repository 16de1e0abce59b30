"""Names in languages that import from modules by path: Python, JavaScript and TypeScript, Rust."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from ragstone.code.resolve.entities import (
    BUILT_IN,
    OUTSIDE,
    Entity,
    File,
    Function,
    Miss,
    Space,
    Type,
    Written,
)
from ragstone.types.code import Import

if TYPE_CHECKING:
    from ragstone.code.resolve.index import Index

_PYTHON_OWN: Final = frozenset(dir(builtins))
_STANDARD: Final = sys.stdlib_module_names
Seen: TypeAlias = set[tuple[str, ...]]
"""Where a name was looked for already: modules may hand it on in circles."""
_MOST: Final = 300
"""Places where one name is looked for."""
_LONGEST: Final = 12
"""Parts of a path in Rust; names that stand for each other would make it grow."""


def _again(place: tuple[str, ...], seen: Seen) -> bool:
    """Return whether a place was looked at before, or too many were; from now on it was."""
    if place in seen or len(seen) >= _MOST:
        return True
    seen.add(place)
    return False


def _local(file: File, head: str, inside: str) -> Entity | Miss | None:
    """Return what a file itself calls by a name, from a place outwards: the body of a class is not seen from below."""
    for scope in file.around(inside):
        if scope in file.types and scope != inside and file.family == "python":
            continue
        found: Type | Function | None = file.types.get(f"{scope}.{head}") or file.functions.get(
            f"{scope}.{head}"
        )
        if found is not None and not (
            isinstance(found, Function) and found.symbol.kind != "function"
        ):
            return found
    top: Type | Function | None = file.types.get(head) or file.functions.get(head)
    return top if top is not None else _global(file, head)


def _global(file: File, name: str) -> Written | Miss | None:
    found = file.globals.get(name)
    if not found:
        return None
    if len({one.text for one in found}) > 1:
        return Miss(f"{name} is given several types")
    return found[0] if found[0].text else Miss(f"the type of {name} is not written")


def imported(index: Index, file: File, taken: Import) -> Entity | Miss:
    """Return what an import brings."""
    if file.family == "python":
        return _python_import(index, file, taken, set())
    if file.family == "script":
        return _script_import(index, file, taken, set())
    return OUTSIDE


# ── Python ────────────────────────────────────────────────────────────────────────────────────────


def python(index: Index, file: File, written: str, inside: str) -> Entity | Miss:
    """Return what a dotted name means."""
    from ragstone.code.resolve.lookup import walked

    head, *rest = written.split(".")
    return walked(index, file, _python_head(index, file, head, inside), rest)


def _python_head(index: Index, file: File, head: str, inside: str) -> Entity | Miss:
    found = _local(file, head, inside)
    if found is not None:
        return found
    taken = file.imports.get(head)
    if taken is not None:
        return _python_import(index, file, taken, set())
    whole = next((one for alias, one in file.imports.items() if alias.startswith(f"{head}.")), None)
    if whole is not None:  # `import a.b` binds a
        space = _space(index, file, head)
        return OUTSIDE if space is None else Space(space)
    seen: Seen = set()
    for star in file.stars:
        space = _space(index, file, star.name)
        met = _attribute(index, space, head, seen) if space is not None else OUTSIDE
        if not isinstance(met, Miss):
            return met
    return BUILT_IN if head in _PYTHON_OWN else OUTSIDE


def _python_import(index: Index, file: File, taken: Import, seen: Seen) -> Entity | Miss:
    if taken.kind != "module":
        module, _, name = taken.name.rpartition(".")
        space = _space(index, file, module) if module else None
        if space is not None:
            return _attribute(index, space, name, seen)
    space = _space(index, file, taken.name)
    return OUTSIDE if space is None else Space(space)


def python_attribute(index: Index, _file: File, space: Space, name: str) -> Entity | Miss:
    """Return what a module has of this name."""
    return _attribute(index, space.name, name, set())


def _attribute(index: Index, space: str, name: str, seen: Seen) -> Entity | Miss:
    """Return what a module defines, hands on, or has as a module inside of it."""
    if _again((space, name), seen):
        return OUTSIDE
    for file in index.in_space("python", space):
        found: Entity | Miss | None = (
            file.types.get(name) or file.functions.get(name) or _global(file, name)
        )
        if found is not None:
            return found
        taken = file.imports.get(name)
        if taken is not None:
            met = _python_import(index, file, taken, seen)
            if not isinstance(met, Miss):
                return met
        for star in file.stars:
            below = _space(index, file, star.name)
            met = _attribute(index, below, name, seen) if below is not None else OUTSIDE
            if not isinstance(met, Miss):
                return met
    full = f"{space}.{name}" if space else name
    return Space(full) if index.has_space("python", full) else OUTSIDE


def _space(index: Index, file: File, name: str) -> str | None:
    """Return the module of a name: as it is, or seen from a folder that is no package, where imports may begin."""
    if index.has_space("python", name):
        return name
    if name.partition(".")[0] in _STANDARD:
        return None
    found = {
        one.space: one
        for one in index.in_space("python", f"?{name}")
        if _begins(index, one.facts.uri, name)
    }
    if len(found) > 1:
        folder = file.facts.uri.rpartition("/")[0]
        found = {
            space: one
            for space, one in found.items()
            if folder.startswith(_root(one.facts.uri, name))
        }
    return next(iter(found)) if len(found) == 1 else None


def _root(uri: str, name: str) -> str:
    """Return the folder that a module's name counts from."""
    path = uri.rpartition(".")[0].removesuffix("/__init__")
    return path[: len(path) - len(name)].rstrip("/")


def _begins(index: Index, uri: str, name: str) -> bool:
    root = _root(uri, name)
    return f"{root}/__init__.py" not in index.files


# ── JavaScript and TypeScript ─────────────────────────────────────────────────────────────────────


def script(index: Index, file: File, written: str, inside: str) -> Entity | Miss:
    """Return what a name means by what is around it, then by what is imported."""
    from ragstone.code.resolve.lookup import walked

    head, *rest = written.split(".")
    found: Entity | Miss | None = _local(file, head, inside)
    if found is None:
        taken = file.imports.get(head)
        found = OUTSIDE if taken is None else _script_import(index, file, taken, set())
    return walked(index, file, found, rest)


def _script_import(index: Index, file: File, taken: Import, seen: Seen) -> Entity | Miss:
    module, _, name = taken.name.partition("#")
    place = index.layout.script(index.files.__contains__, file.facts.uri, module)
    if place is None:
        return OUTSIDE
    if taken.kind in ("module", "all") or name in ("", "*"):
        return Space(place)
    return _exported(index, place, "default" if taken.kind == "default" else name, seen)


def exported(index: Index, _file: File, space: Space, name: str) -> Entity | Miss:
    """Return what a script exports under a name."""
    return _exported(index, space.name, name, set())


def _exported(index: Index, uri: str, name: str, seen: Seen) -> Entity | Miss:
    file = index.files.get(uri)
    if file is None or _again((uri, name), seen):
        return OUTSIDE
    if name == "default":
        found: Entity | Miss | None = _default(file)
    else:
        found = file.types.get(name) or file.functions.get(name) or _global(file, name)
    if found is not None:
        return found
    taken = file.imports.get(name)
    if taken is not None:
        return _script_import(index, file, taken, seen)
    for star in file.stars:
        place = index.layout.script(index.files.__contains__, uri, star.name.partition("#")[0])
        met = _exported(index, place, name, seen) if place is not None else OUTSIDE
        if not isinstance(met, Miss):
            return met
    return OUTSIDE


def _default(file: File) -> Entity | Miss | None:
    """Return what a script exports without a name."""
    marked = [
        qualified
        for qualified, symbol in file.symbols.items()
        if not symbol.parent and symbol.signature.startswith("export default")
    ]
    if len(marked) != 1:
        return None
    return file.types.get(marked[0]) or file.functions.get(marked[0])


# ── Rust ──────────────────────────────────────────────────────────────────────────────────────────


def rust(index: Index, file: File, written: str, inside: str) -> Entity | Miss:
    """Return what a path means."""
    parts = written.replace(".", "::").strip(":").split("::")
    if parts[0] == "Self":
        own = file.enclosing(inside)
        return _rust_rest(index, own, parts[1:]) if own is not None else OUTSIDE
    return _rust_path(index, file, parts, inside, set())


def _rust_path(
    index: Index, file: File, parts: Sequence[str], inside: str, seen: Seen
) -> Entity | Miss:
    head, rest = parts[0], list(parts[1:])
    if len(parts) > _LONGEST or _again((file.facts.uri, "::", *parts), seen):
        return OUTSIDE
    if head in ("crate", "self", "super"):
        start = f"{file.space.partition('!')[0]}!" if head == "crate" else file.space
        space = _rust_up(start) if head == "super" else start
        while rest and rest[0] == "super":
            space, rest = _rust_up(space), rest[1:]
        return _rust_from(index, space, rest, seen)
    local = _local(file, head, inside)
    if local is not None:
        return _rust_rest(index, local, rest)
    taken = file.imports.get(head)
    if taken is not None and taken.name != head:
        return _rust_path(index, file, [*taken.name.split("::"), *rest], "", seen)
    below = f"{file.space}::{head}"
    if index.has_space("rust", below):
        return _rust_from(index, below, rest, seen)
    crate = index.layout.crate_named(head)
    if crate is not None:
        return _rust_from(index, crate, rest, seen)
    return next(_rust_stars(index, file, [head, *rest], seen), OUTSIDE)


def _rust_stars(index: Index, file: File, parts: Sequence[str], seen: Seen) -> Iterator[Entity]:
    inline = any(one.kind == "module" for one in file.types.values())
    for star in file.stars:
        names = star.name.split("::")
        if (
            names == ["super"] and inline
        ):  # said in a module inside of this file, whose names are known here
            continue
        if names[0] != parts[0]:
            met = _rust_path(index, file, [*names, *parts], "", seen)
            if not isinstance(met, Miss):
                yield met


def _rust_up(space: str) -> str:
    return space.rpartition("::")[0] if "::" in space else space


def _rust_from(index: Index, space: str, rest: Sequence[str], seen: Seen) -> Entity | Miss:
    """Return what a path means from a module on."""
    if not rest:
        return Space(space)
    if _again((space, *rest), seen):
        return OUTSIDE
    below = f"{space}::{rest[0]}"
    found = index.entity("rust", below)
    if found:
        return _rust_rest(index, found[0], rest[1:])
    if index.has_space("rust", below):
        return _rust_from(index, below, rest[1:], seen)
    for file in index.in_space("rust", space):
        taken = file.imports.get(rest[0])
        if taken is not None:
            return _rust_path(index, file, [*taken.name.split("::"), *rest[1:]], "", seen)
        for met in _rust_stars(index, file, rest, seen):
            return met
    return OUTSIDE


def _rust_rest(index: Index, found: Entity | Miss, rest: Sequence[str]) -> Entity | Miss:
    for name in rest:
        if not isinstance(found, Type):
            return OUTSIDE
        inner = index.entity("rust", f"{found.full}::{name}") if found.kind == "module" else []
        found = found.inner.get(name) or found.members.get(name) or (inner[0] if inner else OUTSIDE)
    return found


def rust_attribute(index: Index, _file: File, space: Space, name: str) -> Entity | Miss:
    """Return what a module has of this name."""
    return _rust_from(index, space.name, [name], set())
