"""Names in languages that declare where they are: PHP, Java, Kotlin, C#, Go, Ruby, Swift, C and C++."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

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

if TYPE_CHECKING:
    from ragstone.code.resolve.index import Index

_PHP_OWN: Final = frozenset(
    "string int float bool array object mixed void null callable iterable never false true self static parent".split()
)
_PARTED: Final = frozenset(("ruby", "csharp", "c", "swift", "php"))
"""Families where one type may be written in several places."""


def chosen(found: Iterable[Entity], name: str, family: str) -> Entity | Miss:
    """Return the only one of those that have a name; several are told apart by nothing that is written."""
    all_ = list(found)
    if not all_:
        return OUTSIDE
    if family == "c" and len(all_) > 1:  # a header announces what another file has
        all_ = [one for one in all_ if not _announced(one)] or all_
    types = [one for one in all_ if isinstance(one, Type)]
    if types and family in _PARTED and len({one.full for one in types}) == 1:
        return types[0]
    if len({getattr(one, "key", one) for one in all_}) > 1:
        what = "types" if types else "functions"
        return Miss(f"several {what} are named {name}")
    return all_[0]


def _announced(one: Entity) -> bool:
    if not isinstance(one, Function):
        return False
    return (
        one.file.facts.uri.endswith((".h", ".hpp", ".hh", ".hxx"))
        and one.symbol.line == one.symbol.line_end
    )


# ── PHP ───────────────────────────────────────────────────────────────────────────────────────────


def php(index: Index, file: File, written: str, _inside: str) -> Entity | Miss:
    """Return a class by the file's imports and namespace."""
    lower = written.lower()
    if lower in _PHP_OWN:
        return BUILT_IN
    return chosen(index.entity("php", _php_full(file, lower)), written, "php")


def _php_full(file: File, lower: str) -> str:
    if lower.startswith("\\"):
        return lower[1:]
    head, slash, rest = lower.partition("\\")
    if head == "namespace" and slash:
        return f"{file.space}\\{rest}".lstrip("\\")
    taken = file.imports.get(head)
    if taken is not None:
        return f"{taken.name.lower()}{slash}{rest}"
    return f"{file.space}\\{lower}" if file.space else lower


def php_function(index: Index, file: File, written: str) -> Entity | Miss:
    """Return a function: imported, of the namespace, or of none."""
    lower = written.lower()
    taken = file.function_imports.get(lower)
    if taken is not None:
        fulls = [taken.name.lower()]
    elif "\\" in lower:
        fulls = [_php_full(file, lower)]
    else:
        fulls = [f"{file.space}\\{lower}", lower] if file.space else [lower]
    for full in fulls:
        found = [one for one in index.entity("php", full) if isinstance(one, Function)]
        if found:
            return chosen(found, written, "php")
    return OUTSIDE


# ── Java, Kotlin, C# ──────────────────────────────────────────────────────────────────────────────


def packaged(index: Index, file: File, written: str, inside: str) -> Entity | Miss:
    """Return what a name means by nesting, imports, the package, and what is imported whole."""
    from ragstone.code.resolve.lookup import walked

    head, *rest = written.replace("::", ".").split(".")
    found = _packaged_head(index, file, head, inside)
    if rest and isinstance(found, Miss):
        whole = index.entity(file.family, written)
        return chosen(whole, written, file.family) if whole else found
    return walked(index, file, found, rest)


def _packaged_head(index: Index, file: File, head: str, inside: str) -> Entity | Miss:
    for full in _packaged_places(index, file, head, inside):
        found = [one for one in index.entity(file.family, full) if not _method(one)]
        if found:
            return chosen(found, head, file.family)
    if head in file.imports:
        return OUTSIDE
    found = [
        one
        for name in _whole(file)
        for one in index.entity(file.family, f"{name}.{head}")
        if not _static(one)
    ]
    if found:
        return chosen(found, head, file.family)
    if file.family == "csharp":
        return chosen(
            (one for one in index.entity("csharp", head) if not _method(one)), head, "csharp"
        )
    return OUTSIDE


def _method(one: Entity) -> bool:
    return isinstance(one, Function) and one.symbol.kind != "function"


def _static(one: Entity) -> bool:
    return (
        isinstance(one, Function) and one.owner is not None and "static" not in one.symbol.signature
    )


def _packaged_places(index: Index, file: File, head: str, inside: str) -> Iterator[str]:
    """Yield the full names that a bare one may mean, the nearest first."""
    for scope in file.around(inside):
        yield index.layout.join(file.family, file.space, f"{scope}.{head}")
    if head in file.imports:
        yield file.imports[head].name
        return
    space = file.space
    yield f"{space}.{head}" if space else head
    while file.family == "csharp" and "." in space:
        space = space.rpartition(".")[0]
        yield f"{space}.{head}"


def _whole(file: File) -> list[str]:
    """Return what is imported whole; C# says `using` of namespaces only, so each of them is."""
    names = [one.name for one in file.stars]
    if file.family == "csharp":
        names += [one.name for one in file.facts.imports]
    return list(dict.fromkeys(names))


# ── Go ────────────────────────────────────────────────────────────────────────────────────────────


def go(index: Index, file: File, written: str, _inside: str) -> Entity | Miss:
    """Return what a name means in its folder, or in a package that is imported."""
    from ragstone.code.resolve.lookup import walked

    head, *rest = written.split(".")
    taken = file.imports.get(head)
    if taken is not None and rest:
        folder = index.layout.go_folder(taken.name)
        return OUTSIDE if folder is None else walked(index, file, Space(folder), rest)
    if taken is not None:
        folder = index.layout.go_folder(taken.name)
        return OUTSIDE if folder is None else Space(folder)
    found = chosen(index.entity("go", f"{file.space}#{head}" if file.space else head), head, "go")
    if found is OUTSIDE:
        found = _global(index, file.family, file.space, head)
    return walked(index, file, found, rest)


def _global(index: Index, family: str, space: str, name: str) -> Entity | Miss:
    """Return a name with a type that any file of a folder declares."""
    found = [one for file in index.in_space(family, space) for one in file.globals.get(name, ())]
    return found[0] if found and len({one.text for one in found}) == 1 else OUTSIDE


# ── all others ────────────────────────────────────────────────────────────────────────────────────


def ruby(index: Index, file: File, written: str, inside: str) -> Entity | Miss:
    """Return a constant by the modules around the place, then from the top."""
    if not written[:1].isupper() and not written.startswith("::"):
        return OUTSIDE
    plain = written.removeprefix("::").replace("::", ".")
    scopes = () if written.startswith("::") else tuple(file.around(inside))
    for scope in (*scopes, ""):
        found = index.entity("ruby", f"{scope}.{plain}" if scope else plain)
        if found:
            return chosen(found, written, "ruby")
    return OUTSIDE


def by_full_name(index: Index, file: File, written: str, inside: str) -> Entity | Miss:
    """Return the only thing of this name, seen from the place outwards; the file's own comes first."""
    plain = written.replace("::", ".").lstrip(".")
    for scope in (*file.around(inside), ""):
        full = f"{scope}.{plain}" if scope else plain
        own: Type | Function | None = file.types.get(full) or file.functions.get(full)
        if own is not None and not _method(own):
            return own
        found = [
            one
            for one in index.entity(file.family, full)
            if not _method(one) and not _hidden(one, file)
        ]
        if found:
            return chosen(found, written, file.family)
    if plain in file.globals and len({one.text for one in file.globals[plain]}) == 1:
        return file.globals[plain][0]
    return OUTSIDE


def _hidden(one: Entity, file: File) -> bool:
    """Return whether a function is its own file's only, as `static` says in C."""
    if not isinstance(one, Function) or one.file is file:
        return False
    words = one.symbol.signature.partition(one.symbol.name)[0].split()
    return "static" in words or "fileprivate" in words or "private" in words


def attribute(index: Index, file: File, space: Space, name: str) -> Entity | Miss:
    """Return what a package has of this name, or the package inside of it."""
    full = index.layout.join(file.family, space.name, name)
    found: Entity | Miss = chosen(index.entity(file.family, full), name, file.family)
    if found is OUTSIDE and file.family == "go":
        found = _global(index, "go", space.name, name)
    if found is OUTSIDE and index.has_space(file.family, full):
        return Space(full)
    return found


__all__ = [
    "Written",
    "attribute",
    "by_full_name",
    "chosen",
    "go",
    "packaged",
    "php",
    "php_function",
    "ruby",
]
