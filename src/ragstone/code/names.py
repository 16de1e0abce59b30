"""How languages write names: namespaces, imports, owners and types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ragstone.code.query_captures import ImportCapture
from ragstone.types.code import Import

_PYTHON_ROOTS: Final = ("src/", "lib/")
_GENERIC: Final = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|\([^()]*\)")
_TYPE_SIGNS: Final = "?*&!:\"' \t"
_TYPE_WORDS: Final = (
    "const ",
    "mut ",
    "dyn ",
    "impl ",
    "final ",
    "struct ",
    "inout ",
    "some ",
    "any ",
    "readonly ",
)
_LIFETIME: Final = re.compile(r"&\s*'\w+\s+")
_EXPORTS: Final = ("module.exports", "exports")
_SEPARATORS: Final = {"php": "\\", "go": "/", "rust": "::"}
"""The sign between the parts of an imported name, if it is not a dot."""
_SCRIPTS: Final = frozenset({"javascript", "typescript", "tsx"})
_FILE_IMPORTS: Final = frozenset({"c", "cpp", "ruby"})
"""Languages that import all names of a file, without a name for the file."""
_INFERRED_TYPES: Final = frozenset({"auto", "var", "let", "val"})
_GO_VERSION: Final = re.compile(r"/v\d+$")


def namespace_of(language: str, uri: str, written: str) -> str:
    """Return the namespace of a file: as it is written, or from the path in Python and Go."""
    if language == "python":
        return _python_module(uri)
    if language == "go":
        return uri.rpartition("/")[0]
    if language == "php":
        return written.strip("\\")
    return written


def _python_module(uri: str) -> str:
    """Return the dotted name of a Python module."""
    path = uri
    for root in _PYTHON_ROOTS:
        path = path.removeprefix(root)
    if "." in path.rpartition("/")[2]:
        path = path.rpartition(".")[0]
    if path == "__init__":
        return ""
    return path.removesuffix("/__init__").replace("/", ".")


def owner_of(written: str) -> str:
    """Return the owner of a definition with dots and without generics: `*List[T]` is `List`, `A::b` is `A.b`."""
    owner = written
    while (shorter := _GENERIC.sub("", owner)) != owner:
        owner = shorter
    owner = owner.replace("::", ".").strip("*&. \t")
    owner = owner.removesuffix(".prototype")
    for exports in _EXPORTS:
        if owner == exports or owner.startswith(f"{exports}."):
            owner = owner[len(exports) + 1 :]
    return owner


def type_of(written: str) -> str:
    """Return a type without signs and words for nullability, references and mutability."""
    plain = _LIFETIME.sub("&", written).strip(_TYPE_SIGNS)
    for word in _TYPE_WORDS:
        plain = plain.removeprefix(word).lstrip(_TYPE_SIGNS)
    return "" if plain in _INFERRED_TYPES else plain


def imports_of(language: str, uri: str, capture: ImportCapture) -> Iterator[Import]:
    """Yield the imports that one import statement makes."""
    if capture.kind == "tree":
        yield from _import_tree(_unquote(capture.name), capture.line)
    elif language == "python":
        yield _python_import(uri, capture)
    elif language in _SCRIPTS:
        yield _script_import(capture)
    else:
        yield _package_import(language, capture)


def _unquote(name: str) -> str:
    return name.strip("\"'`<> ")


def _python_import(uri: str, capture: ImportCapture) -> Import:
    """Return an import by its absolute name."""
    line, kind, name, alias, prefix = capture
    if kind == "all":
        return Import(_absolute_module(uri, name), "", line, kind)
    if not prefix:
        return Import(name, alias or name, line, kind)
    full_name = f"{_absolute_module(uri, prefix)}.{name}".lstrip(".")
    return Import(full_name, alias or name, line, kind)


def _absolute_module(uri: str, module: str) -> str:
    """Return the absolute name of a Python module that may start with dots."""
    if not module.startswith("."):
        return module
    package = _python_module(uri).split(".")
    if not uri.endswith(("/__init__.py", "/__init__.pyi")):
        package = package[:-1]
    name = module.lstrip(".")
    levels_up = len(module) - len(name) - 1
    if levels_up:
        package = package[: len(package) - levels_up]
    return ".".join(filter(None, (*package, name)))


def _script_import(capture: ImportCapture) -> Import:
    """Return an import of JavaScript or TypeScript: `module#name`."""
    module = capture.prefix.strip("\"'`")
    kind, name = capture.kind, _unquote(capture.name)
    if kind == "default":
        kind, name = "", "default"
    if not module:
        return Import(name, capture.alias, capture.line, kind)
    return Import(f"{module}#{name}", capture.alias or name, capture.line, kind)


def _package_import(language: str, capture: ImportCapture) -> Import:
    separator = _SEPARATORS.get(language, ".")
    name = _unquote(capture.name)
    if capture.prefix:
        name = f"{capture.prefix.strip(separator)}{separator}{name}".strip(separator)
    else:
        name = name.strip("\\")
    alias = capture.alias
    if not alias and capture.kind != "all" and language not in _FILE_IMPORTS:
        alias = _GO_VERSION.sub("", name).rpartition(separator)[2]
    return Import(name, alias, capture.line, capture.kind)


def _import_tree(tree: str, line: int) -> Iterator[Import]:
    """Yield the imports of a tree such as `a::{b, c as d, e::*}`."""
    pending = [(tree, "")]
    while pending:
        text, prefix = pending.pop()
        text = " ".join(text.split())
        head, brace, inner = text.partition("{")
        if brace:
            path = f"{prefix}{head}".strip()
            branches = _split_branches(inner.rstrip().removesuffix("}"))
            pending.extend((branch, path) for branch in reversed(branches))
            continue
        name, _, alias = text.partition(" as ")
        name = name.strip()
        if not name:
            continue
        full_name = f"{prefix}{name}"
        if full_name.endswith("::*"):
            yield Import(full_name[:-3], "", line, "all")
            continue
        full_name = full_name.removesuffix("::self")
        yield Import(full_name, alias.strip() or full_name.rpartition("::")[2], line)


def _split_branches(inner: str) -> list[str]:
    """Return the texts between commas outside of braces."""
    branches: list[str] = []
    depth = start = 0
    for position, sign in enumerate(inner):
        if sign == "," and depth == 0:
            branches.append(inner[start:position])
            start = position + 1
        depth += (sign == "{") - (sign == "}")
    return [*branches, inner[start:]]
