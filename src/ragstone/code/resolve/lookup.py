"""What a written name leads to, seen from a place in a file, by the rules of its language."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from ragstone.code.resolve import modules, packages
from ragstone.code.resolve.entities import OUTSIDE, Entity, File, Function, Miss, Space, Type

if TYPE_CHECKING:
    from ragstone.code.resolve.index import Index

Find = Callable[["Index", File, str, str], "Entity | Miss"]


def named(index: Index, file: File, written: str, inside: str) -> Entity | Miss:
    """Return what a name means: a type, function, module or name with a type; or why that is not known."""
    scope = "" if file.family in ("php", "go") else _scope(file, inside)
    place = f"{scope}|{written}"
    found = file.resolved.get(place)
    if found is None:
        file.resolved[place] = OUTSIDE  # what leads back to itself leads nowhere
        found = _FINDERS.get(file.family, packages.by_full_name)(index, file, written, scope)
        file.resolved[place] = found
    return found


def function_named(index: Index, file: File, name: str, inside: str) -> Entity | Miss:
    """Return what a call without a receiver means; PHP has functions apart from classes."""
    return (
        packages.php_function(index, file, name)
        if file.family == "php"
        else named(index, file, name, inside)
    )


def step(index: Index, file: File, found: Entity | Miss, name: str) -> Entity | Miss:
    """Return what a name means inside of a module or a type."""
    if isinstance(found, Space):
        return _ATTRIBUTES.get(file.family, packages.attribute)(index, file, found, name)
    if isinstance(found, Type):
        inner: Entity | None = found.inner.get(name) or found.members.get(name)
        if inner is None and found.kind == "module":
            full = index.layout.join(found.file.family, found.full, name)
            inner = next(iter(index.entity(found.file.family, full)), None)
        return inner or OUTSIDE
    return found if isinstance(found, Miss) else OUTSIDE


def walked(index: Index, file: File, found: Entity | Miss, rest: Iterable[str]) -> Entity | Miss:
    """Return what names lead to, one inside of the other."""
    for name in rest:
        found = step(index, file, found, name)
    return found


def parents(index: Index, one: Type) -> tuple[tuple[str, Type | None], ...]:
    """Return the parents of a type, each with the kind of its link; None for one that is not in this project."""
    if one.parents is None:
        one.parents = ()  # what is its own parent ends here
        met = ((up.kind, parent(index, one, up.name)) for up in one.ups)
        one.parents = tuple(
            (kind, found if isinstance(found, Type) else None) for kind, found in met
        )
    return one.parents


def parent(index: Index, one: Type, written: str) -> Type | Miss:
    """Return what a type names as its parent."""
    plain = written.partition("<")[0].strip()
    found = named(index, one.file, plain, one.qualified.rpartition(".")[0])
    if found is one and plain in one.file.imports:  # it has the name of what it extends
        found = modules.imported(index, one.file, one.file.imports[plain])
    if found is one:
        return Miss(f"{plain} is also what it is called itself")
    return found if isinstance(found, (Type, Miss)) else OUTSIDE


def member(index: Index, one: Type, name: str, *, above: bool = False) -> Function | Miss:
    """Return a method by its name: a type's own, its traits', its parents'; with `above`, its parents' only."""
    plain = name.lower() if one.file.family == "php" else name
    place = f"^{plain}" if above else plain
    found = one.found.get(place)
    if found is None:
        found = _search(index, one, plain, above=above)
        if found is OUTSIDE:
            found = Miss(
                f"{one.name} has no {name} here, and not all that it stands on is in this project"
            )
        one.found[place] = found = found or Miss(f"{one.name} has no {name}")
    return found


def _search(index: Index, one: Type, name: str, *, above: bool) -> Function | Miss | None:
    """Look through a type and all above it; traits come before parents, as they are nearer. None: it has no such."""
    seen: set[int] = set()
    outside = False
    pending = [one]
    while pending:
        each = pending.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if name in each.members and not (above and each is one):
            return (
                Miss(f"several files define {name} of {each.name}")
                if name in each.doubtful
                else each.members[name]
            )
        ups = parents(index, each)
        outside = outside or any(up is None for _, up in ups)
        ordered = sorted(ups, key=lambda up: _NEAR.get(up[0], 9))
        pending.extend(up for _, up in reversed(ordered) if up is not None)
    return OUTSIDE if outside else None


def _scope(file: File, inside: str) -> str:
    """Return the innermost symbol that has symbols of its own: all inside of it see the same names."""
    for name in file.around(inside):
        if name in file.types or name in file.inhabited:
            return name
    return ""


_NEAR: Final = {"uses_trait": 0, "extends": 1, "implements": 2}
_FINDERS: Final[dict[str, Find]] = {
    "php": packages.php,
    "python": modules.python,
    "script": modules.script,
    "jvm": packages.packaged,
    "csharp": packages.packaged,
    "go": packages.go,
    "rust": modules.rust,
    "ruby": packages.ruby,
}
_ATTRIBUTES: Final = {
    "python": modules.python_attribute,
    "rust": modules.rust_attribute,
    "script": modules.exported,
}
