"""Where modules are: how the path or the namespace of a file becomes the name that others import it by."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from ragstone.types.code import FileFacts

MANIFESTS: Final = ("go.mod", "Cargo.toml", "package.json", "tsconfig.json", "jsconfig.json")
"""Files that say how modules are named; where they are missing, paths alone decide."""
_GO_MODULE: Final = re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)
_CRATE: Final = re.compile(r"^\[package\][^\[]*?^name\s*=\s*\"([^\"]+)\"", re.MULTILINE | re.DOTALL)
_SIGN: Final = {
    "php": "\\",
    "python": ".",
    "jvm": ".",
    "csharp": ".",
    "rust": "::",
    "script": "#",
    "go": "#",
}
_ENDS: Final = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
_COMMENTS: Final = re.compile(r"(\"(?:\\.|[^\"\\])*\")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])", re.DOTALL)


class Layout:
    """The modules of a project by what its manifests say."""

    def __init__(self, manifests: Mapping[str, str]) -> None:
        """Read the manifests; one that cannot be read counts as missing."""
        self.go: dict[str, str] = {}
        """Module path → folder."""
        self.crates: dict[str, str] = {}
        """Folder → name of the crate."""
        self.packages: dict[str, str] = {}
        """Name of a package → folder."""
        self.paths: dict[str, dict[str, list[str]]] = {}
        """Folder of a tsconfig → pattern → places from the root."""
        for uri, text in manifests.items():
            folder, _, name = uri.rpartition("/")
            if name == "go.mod" and (found := _GO_MODULE.search(text)):
                self.go[found[1]] = folder
            elif name == "Cargo.toml" and (found := _CRATE.search(text)):
                self.crates[folder] = found[1].replace("-", "_")
            elif name.endswith(".json"):
                self._json(folder, name, text)

    def _json(self, folder: str, name: str, text: str) -> None:
        try:
            said = json.loads(
                text
                if name == "package.json"
                else _COMMENTS.sub(lambda found: found[1] or "", text)
            )
        except (ValueError, RecursionError):
            return
        if not isinstance(said, dict):
            return
        if name == "package.json":
            if isinstance(said.get("name"), str):
                self.packages[said["name"]] = folder
            return
        options = said.get("compilerOptions")
        paths = options.get("paths") if isinstance(options, dict) else None
        base = str(options.get("baseUrl") or ".") if isinstance(options, dict) else "."
        if isinstance(paths, dict):
            self.paths[folder] = {
                str(pattern): [
                    _joined(folder, base, place) for place in places if isinstance(place, str)
                ]
                for pattern, places in paths.items()
                if isinstance(places, list)
            }

    def space_of(self, family: str, facts: FileFacts) -> str:
        """Return the module, package or folder of a file."""
        if family == "script":
            return facts.uri
        if family == "go":
            return facts.uri.rpartition("/")[0]
        if family == "rust":
            return self.module_of(facts.uri)
        if family == "php":
            return facts.namespace.lower()
        return facts.namespace if family in ("python", "jvm", "csharp") else ""

    def spaces_of(self, family: str, space: str, uri: str) -> Iterator[str]:
        """Yield the names a file's module is reached by."""
        yield space
        if family == "python":  # a folder that is no package may be where imports begin
            parts = uri.rpartition(".")[0].removesuffix("/__init__").split("/")
            for start in range(1, len(parts)):
                name = ".".join(parts[start:])
                if name != space:
                    yield f"?{name}"

    def above(self, family: str, space: str) -> Iterator[str]:
        """Yield the modules that a module is in."""
        sign = _SIGN.get(family, "")
        if family in ("python", "rust", "jvm", "csharp", "php"):
            while sign in space:
                space = space.rpartition(sign)[0]
                yield space

    def join(self, family: str, space: str, qualified: str) -> str:
        """Return the full name of a symbol of a module."""
        sign = _SIGN.get(family, ".")
        if family == "php":
            return f"{space}\\{qualified}".lower().lstrip("\\")
        if family == "rust":
            qualified = qualified.replace(".", "::")
        return f"{space}{sign}{qualified}" if space else qualified

    # ── rust ──────────────────────────────────────────────────────────────────────────────────────

    def crate_of(self, uri: str) -> str:
        """Return the folder of the crate that a file is in."""
        folder = uri.rpartition("/")[0]
        while folder and folder not in self.crates:
            folder = folder.rpartition("/")[0]
        if not folder and "" not in self.crates and "src/" in uri:
            return uri.partition("src/")[0].rstrip("/")
        return folder

    def module_of(self, uri: str) -> str:
        """Return the path of a Rust module: its crate's folder, then its names."""
        crate = self.crate_of(uri)
        inner = uri[len(crate) + 1 :] if crate else uri
        path = inner.removesuffix(".rs")
        if not path.startswith("src/"):
            return f"{crate}!{path}"  # tests, examples and benches are crates of their own
        parts = path.split("/")[1:]
        if parts and parts[-1] in ("lib", "main", "mod"):
            parts = parts[:-1]
        return "::".join((f"{crate}!", *parts))

    def crate_named(self, name: str) -> str | None:
        """Return the top module of a crate of this project."""
        return next((f"{folder}!" for folder, known in self.crates.items() if known == name), None)

    # ── scripts and go ────────────────────────────────────────────────────────────────────────────

    def script(self, has: Callable[[str], bool], uri: str, wanted: str) -> str | None:
        """Return the file that an import of a script means, None where it is none of this project."""
        for place in self._places(uri, wanted):
            for candidate in _candidates(place):
                if has(candidate):
                    return candidate
        return None

    def _places(self, uri: str, wanted: str) -> Iterator[str]:
        if wanted.startswith("."):
            yield _joined(uri.rpartition("/")[0], wanted)
            return
        for folder, paths in self.paths.items():
            if folder and not uri.startswith(f"{folder}/"):
                continue
            for pattern, places in paths.items():
                head, star, tail = pattern.partition("*")
                if wanted == pattern or (
                    star and wanted.startswith(head) and wanted.endswith(tail)
                ):
                    middle = wanted[len(head) : len(wanted) - len(tail)] if star else ""
                    yield from (place.replace("*", middle) for place in places)
        for name, folder in self.packages.items():
            if wanted == name or wanted.startswith(f"{name}/"):
                rest = wanted[len(name) + 1 :]
                yield from (_joined(folder, "src", rest), _joined(folder, rest))

    def go_folder(self, path: str) -> str | None:
        """Return the folder of an imported Go package, None where it is none of this project."""
        best = max(
            (one for one in self.go if path == one or path.startswith(f"{one}/")),
            key=len,
            default=None,
        )
        return None if best is None else _joined(self.go[best], path[len(best) + 1 :])


def _joined(*parts: str) -> str:
    path = posixpath.normpath("/".join(part for part in parts if part)) if any(parts) else ""
    return "" if path == "." else path


def _candidates(place: str) -> Iterator[str]:
    yield place
    stem, dot, end = place.rpartition(".")
    if dot and end in ("js", "jsx", "mjs", "cjs"):  # TypeScript names what it will be compiled to
        yield from (f"{stem}.{other}" for other in ("ts", "tsx", "mts", "cts"))
    yield from (f"{place}{one}" for one in _ENDS)
    yield from (f"{place}/index{one}" if place else f"index{one}" for one in _ENDS)
