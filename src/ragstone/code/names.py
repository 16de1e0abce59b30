"""How languages write names: the namespace of a file, what an import brings, a type without its signs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ragstone.code.captures import Imported
from ragstone.types.code import Import

_ROOTS: Final = ("src/", "lib/")
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
_LAST: Final = {
    "php": "\\",
    "go": "/",
    "rust": "::",
    "javascript": "/",
    "typescript": "/",
    "tsx": "/",
}
"""What stands between the parts of a name where it is not a dot."""
_SCRIPTS: Final = frozenset({"javascript", "typescript", "tsx"})
_WHOLE_FILES: Final = frozenset({"c", "cpp", "ruby"})
"""Where an import brings what a file has, and no name for it."""
_UNWRITTEN: Final = frozenset({"auto", "var", "let", "val"})
_GO_VERSION: Final = re.compile(r"/v\d+$")


def namespace_of(language: str, uri: str, written: str) -> str:
    """Return the namespace of a file: as it is written there, or as its path says where that decides (Python, Go)."""
    if language == "python":
        return _module_of(uri)
    if language == "go":
        return uri.rpartition("/")[0]
    return written.strip("\\") if language == "php" else written


def _module_of(uri: str) -> str:
    """Return the dotted name of a Python module."""
    path = uri
    for root in _ROOTS:
        path = path.removeprefix(root)
    path = path.rpartition(".")[0] if "." in path.rpartition("/")[2] else path
    path = path.removesuffix("/__init__") if path != "__init__" else ""
    return path.replace("/", ".")


def owner_of(written: str) -> str:
    """Return what a definition belongs to, by dots and without its generics: `*List[T]` is `List`, `A::b` is `A.b`."""
    plain = written
    while (shorter := _GENERIC.sub("", plain)) != plain:
        plain = shorter
    plain = plain.replace("::", ".").strip("*&. \t")
    plain = plain.removesuffix(".prototype")
    for exported in _EXPORTS:
        if plain == exported or plain.startswith(f"{exported}."):
            plain = plain[len(exported) + 1 :]
    return plain


def type_of(written: str) -> str:
    """Return a type without what says it may be missing, how it is passed, or that it does not change."""
    plain = _LIFETIME.sub("&", written).strip(_TYPE_SIGNS)
    for word in _TYPE_WORDS:
        plain = plain.removeprefix(word).lstrip(_TYPE_SIGNS)
    return "" if plain in _UNWRITTEN else plain


def imports_of(language: str, uri: str, written: Imported) -> Iterator[Import]:
    """Yield what one written import brings."""
    line, kind, name, alias, prefix = written
    name = name.strip("\"'`<> ")
    if kind == "tree":
        yield from _branches(name, "", line)
    elif language == "python":
        yield _python_import(uri, written)
    elif language in _SCRIPTS:
        module = prefix.strip("\"'`")
        kind, name = ("", "default") if kind == "default" else (kind, name)
        yield Import(
            f"{module}#{name}" if module else name, alias or (name if module else ""), line, kind
        )
    else:
        between = _LAST.get(language, ".")
        full = (
            f"{prefix.strip(between)}{between}{name}".strip(between) if prefix else name.strip("\\")
        )
        last = _GO_VERSION.sub("", full).rpartition(between)[2]
        nameless = kind == "all" or language in _WHOLE_FILES
        yield Import(full, alias or ("" if nameless else last), line, kind)


def _python_import(uri: str, written: Imported) -> Import:
    """Return an import by its full name, however many dots it is written with."""
    line, kind, name, alias, prefix = written
    if kind == "all":
        return Import(_absolute(uri, name), "", line, kind)
    if not prefix:
        return Import(name, alias or name, line, kind)
    return Import(f"{_absolute(uri, prefix)}.{name}".lstrip("."), alias or name, line, kind)


def _absolute(uri: str, module: str) -> str:
    """Return the full name of a Python module that is written relative to this one."""
    if not module.startswith("."):
        return module
    parts = _module_of(uri).split(".")
    if not uri.endswith(("/__init__.py", "/__init__.pyi")):
        parts = parts[:-1]
    rest = module.lstrip(".")
    above = len(module) - len(rest) - 1
    parts = parts[: len(parts) - above] if above else parts
    return ".".join([*filter(None, parts), *filter(None, [rest])])


def _branches(tree: str, above: str, line: int) -> Iterator[Import]:
    """Yield the names of a tree of imports: `a::{b, c as d, e::*}`; nesting is followed as far as it is written."""
    pending = [(tree, above)]
    while pending:
        text, above = pending.pop()
        text = " ".join(text.split())
        head, brace, inner = text.partition("{")
        if brace:
            path = f"{above}{head}".strip()
            pending.extend(
                (part, path) for part in reversed(_parts(inner.rstrip().removesuffix("}")))
            )
            continue
        name, _, alias = text.partition(" as ")
        full = f"{above}{name.strip()}"
        if not name.strip():
            continue
        if full.endswith("::*"):
            yield Import(full[:-3], "", line, "all")
            continue
        full = full.removesuffix("::self")
        yield Import(full, alias.strip() or full.rpartition("::")[2], line)


def _parts(inner: str) -> list[str]:
    """Return what stands between commas that are in no braces."""
    found, depth, at = [], 0, 0
    for place, sign in enumerate(inner):
        if sign == "," and depth == 0:
            found.append(inner[at:place])
            at = place + 1
        depth += (sign == "{") - (sign == "}")
    return [*found, inner[at:]]
