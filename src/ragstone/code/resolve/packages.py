"""Finds names in Java, Kotlin, C#, Go, Ruby, Swift, C and C++ files."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.code.resolve.entities import (
    OUTSIDE,
    CodeFile,
    Definition,
    Entity,
    FunctionEntity,
    Namespace,
    NoMatch,
    WrittenType,
)
from ragstone.code.resolve.paths import follow_path
from ragstone.code.resolve.same_names import choose_definition, is_method


def find_in_package(file: CodeFile, package: Namespace, name: str) -> Entity | NoMatch:
    """Return the target of a name in a package, or the package inside it."""
    full_name = file.index.layout.join_name(file.family, package.name, name)
    definitions = file.index.definitions(file.family, full_name)
    target: Entity | NoMatch = choose_definition(definitions, name, file.family)
    if target is OUTSIDE and file.family == "go":
        target = _find_go_variable(file, package.name, name)
    if target is OUTSIDE and file.index.has_namespace(file.family, full_name):
        return Namespace(full_name)
    return target


# ── Java, Kotlin, C# ──────────────────────────────────────────────────────────────────────────────


def find_packaged_name(file: CodeFile, written: str, inside: str) -> Entity | NoMatch:
    """Return the target of a dotted name in Java, Kotlin or C#."""
    head, *rest = written.replace("::", ".").split(".")
    target = _find_packaged_head(file, head, inside)
    if not rest or not isinstance(target, NoMatch):
        return follow_path(file, target, rest, find_in_package)
    definitions = file.index.definitions(file.family, written)
    return choose_definition(definitions, written, file.family) if definitions else target


def _find_packaged_head(file: CodeFile, head: str, inside: str) -> Entity | NoMatch:
    for full_name in _full_names(file, head, inside):
        definitions = file.index.definitions(file.family, full_name)
        definitions = [each for each in definitions if not is_method(each)]
        if definitions:
            return choose_definition(definitions, head, file.family)
    if head in file.imports:
        return OUTSIDE
    return choose_definition(_find_in_star_imports(file, head), head, file.family)


def _find_in_star_imports(file: CodeFile, name: str) -> list[Definition]:
    """Return the definitions of a name in the imported namespaces; in C# also at the top."""
    found: list[Definition] = []
    for namespace in _star_namespaces(file):
        definitions = file.index.definitions(file.family, f"{namespace}.{name}")
        found.extend(each for each in definitions if not _is_instance_method(each))
    if not found and file.family == "csharp":
        definitions = file.index.definitions("csharp", name)
        found = [each for each in definitions if not is_method(each)]
    return found


def _full_names(file: CodeFile, head: str, inside: str) -> Iterator[str]:
    """Yield the full names that a bare name may mean, the nearest first."""
    for scope in file.scopes(inside):
        yield file.index.layout.join_name(file.family, file.namespace, f"{scope}.{head}")
    if head in file.imports:
        yield file.imports[head].name
        return
    namespace = file.namespace
    yield f"{namespace}.{head}" if namespace else head
    while file.family == "csharp" and "." in namespace:
        namespace = namespace.rpartition(".")[0]
        yield f"{namespace}.{head}"


def _star_namespaces(file: CodeFile) -> list[str]:
    """Return the namespaces whose names are all imported; each `using` of C# is such an import."""
    names = [imported.name for imported in file.star_imports]
    if file.family == "csharp":
        names += [imported.name for imported in file.facts.imports]
    return list(dict.fromkeys(names))


def _is_instance_method(definition: Definition) -> bool:
    if not isinstance(definition, FunctionEntity) or definition.owner is None:
        return False
    return "static" not in definition.symbol.signature


# ── Go ────────────────────────────────────────────────────────────────────────────────────────────


def find_go_name(file: CodeFile, written: str, _inside: str) -> Entity | NoMatch:
    """Return the target of a dotted name: in the folder of the file, or in an imported package."""
    head, *rest = written.split(".")
    target: Entity | NoMatch
    imported = file.imports.get(head)
    if imported is not None:
        folder = file.index.layout.go_folder(imported.name)
        target = OUTSIDE if folder is None else Namespace(folder)
    else:
        full_name = file.index.layout.join_name("go", file.namespace, head)
        target = choose_definition(file.index.definitions("go", full_name), head, "go")
        if target is OUTSIDE:
            target = _find_go_variable(file, file.namespace, head)
    return follow_path(file, target, rest, find_in_package)


def _find_go_variable(file: CodeFile, folder: str, name: str) -> Entity | NoMatch:
    """Return the type of a variable that a file of a folder declares."""
    types: list[WrittenType] = []
    for sibling in file.index.files_in("go", folder):
        types.extend(sibling.globals.get(name, ()))
    texts = {written.text for written in types}
    return types[0] if len(texts) == 1 else OUTSIDE


# ── Ruby, and languages without imports of names ──────────────────────────────────────────────────


def find_ruby_name(file: CodeFile, written: str, inside: str) -> Entity | NoMatch:
    """Return the target of a constant: in the modules around it, then at the top."""
    is_absolute = written.startswith("::")
    if not written[:1].isupper() and not is_absolute:
        return OUTSIDE
    name = written.removeprefix("::").replace("::", ".")
    scopes = [] if is_absolute else [f"{scope}." for scope in file.scopes(inside)]
    for prefix in (*scopes, ""):
        definitions = file.index.definitions("ruby", prefix + name)
        if definitions:
            return choose_definition(definitions, written, "ruby")
    return OUTSIDE


def find_unique_name(file: CodeFile, written: str, inside: str) -> Entity | NoMatch:
    """Return the only definition of a name in Swift, C or C++; definitions of the same file come first."""
    name = written.replace("::", ".").lstrip(".")
    prefixes = [f"{scope}." for scope in file.scopes(inside)]
    for prefix in (*prefixes, ""):
        own = file.definition(prefix + name)
        if own is not None and not is_method(own):
            return own
        definitions = file.index.definitions(file.family, prefix + name)
        visible = [each for each in definitions if _is_visible(each, file)]
        if visible:
            return choose_definition(visible, written, file.family)
    variables = file.globals.get(name, [])
    texts = {variable.text for variable in variables}
    return variables[0] if len(texts) == 1 else OUTSIDE


def _is_visible(definition: Definition, file: CodeFile) -> bool:
    """Return whether a file can name a definition: no method, and not private to another file."""
    if not isinstance(definition, FunctionEntity):
        return True
    if definition.is_method:
        return False
    symbol = definition.symbol
    modifiers = symbol.signature.partition(symbol.name)[0].split()
    is_private = not {"static", "fileprivate", "private"}.isdisjoint(modifiers)
    return definition.file is file or not is_private
