"""Maps files to the module names by which other files import them, with the help of manifests."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Final

from ragstone.types.code import FileFacts

MANIFESTS: Final = ("go.mod", "Cargo.toml", "package.json", "tsconfig.json", "jsconfig.json")
"""Files that define module names; without them, paths alone decide."""
_GO_MODULE: Final = re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)
_CRATE: Final = re.compile(
    r"^\[package\][^\[]*?^name\s*=\s*\"([^\"]+)\"", re.MULTILINE | re.DOTALL
)
_SEPARATORS: Final = {
    "php": "\\",
    "python": ".",
    "jvm": ".",
    "csharp": ".",
    "rust": "::",
    "script": "#",
    "go": "#",
}
_NESTED_NAMESPACES: Final = ("python", "rust", "jvm", "csharp", "php")
_SCRIPT_SUFFIXES: Final = (
    ".ts",
    ".tsx",
    ".d.ts",
    ".js",
    ".jsx",
    ".mjs",
    ".cjs",
    ".mts",
    ".cts",
)
_JSON_COMMENTS: Final = re.compile(
    r"(\"(?:\\.|[^\"\\])*\")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])", re.DOTALL
)
"""Strings (group 1), comments, and commas before a closing bracket, which tsconfig files may contain."""


class ModuleLayout:
    """The modules of a project, as its manifests define them. A broken manifest counts as missing."""

    def __init__(self, manifests: Mapping[str, str]) -> None:
        self.go: dict[str, str] = {}
        """Module path → folder."""
        self.crates: dict[str, str] = {}
        """Folder → name of the crate."""
        self.packages: dict[str, str] = {}
        """Name of a package → folder."""
        self.paths: dict[str, dict[str, list[str]]] = {}
        """Folder of a tsconfig → pattern → paths from the project root."""
        for uri, text in manifests.items():
            folder, _, name = uri.rpartition("/")
            if name == "go.mod":
                self._add_go_module(folder, text)
            elif name == "Cargo.toml":
                self._add_crate(folder, text)
            elif name == "package.json":
                self._add_package(folder, text)
            elif name.endswith(".json"):
                self._add_script_paths(folder, text)

    def _add_go_module(self, folder: str, text: str) -> None:
        module = _GO_MODULE.search(text)
        if module:
            self.go[module[1]] = folder

    def _add_crate(self, folder: str, text: str) -> None:
        crate = _CRATE.search(text)
        if crate:
            self.crates[folder] = crate[1].replace("-", "_")

    def _add_package(self, folder: str, text: str) -> None:
        name = _load_json_object(text).get("name")
        if isinstance(name, str):
            self.packages[name] = folder

    def _add_script_paths(self, folder: str, text: str) -> None:
        config = _load_json_object(_JSON_COMMENTS.sub(lambda match: match[1] or "", text))
        options = config.get("compilerOptions")
        if not isinstance(options, dict) or not isinstance(options.get("paths"), dict):
            return
        base = str(options.get("baseUrl") or ".")
        self.paths[folder] = {}
        for pattern, targets in options["paths"].items():
            if isinstance(targets, list):
                paths = [target for target in targets if isinstance(target, str)]
                self.paths[folder][pattern] = [_join_path(folder, base, path) for path in paths]

    def namespace_of(self, family: str, facts: FileFacts) -> str:
        """Return the module, package or folder of a file."""
        if family == "script":
            return facts.uri
        if family == "go":
            return facts.uri.rpartition("/")[0]
        if family == "rust":
            return self._rust_module(facts.uri)
        if family == "php":
            return facts.namespace.lower()
        if family in ("python", "jvm", "csharp"):
            return facts.namespace
        return ""

    def import_names(self, family: str, namespace: str, uri: str) -> Iterator[str]:
        """Yield the namespace of a file, and for Python its names relative to the project and each folder above it.

        Relative names start with a question mark: a folder that is no package may be an import root.
        """
        yield namespace
        if family == "python":
            parts = uri.rpartition(".")[0].removesuffix("/__init__").split("/")
            for start in range(len(parts)):
                name = ".".join(parts[start:])
                if name != namespace:
                    yield f"?{name}"

    def namespaces_above(self, family: str, namespace: str) -> Iterator[str]:
        """Yield the namespaces that contain a namespace."""
        if family not in _NESTED_NAMESPACES:
            return
        separator = _SEPARATORS[family]
        while separator in namespace:
            namespace = namespace.rpartition(separator)[0]
            yield namespace

    def join_name(self, family: str, namespace: str, qualified: str) -> str:
        """Return the full name of a symbol in a namespace."""
        if family == "php":
            return f"{namespace}\\{qualified}".lower().lstrip("\\")
        if family == "rust":
            qualified = qualified.replace(".", "::")
        if not namespace:
            return qualified
        return namespace + _SEPARATORS.get(family, ".") + qualified

    # ── Rust ──────────────────────────────────────────────────────────────────────────────────────

    def _crate_folder(self, uri: str) -> str:
        """Return the folder of the crate that contains a file."""
        folder = uri.rpartition("/")[0]
        while folder and folder not in self.crates:
            folder = folder.rpartition("/")[0]
        if not folder and "" not in self.crates and "src/" in uri:
            return uri.partition("src/")[0].rstrip("/")
        return folder

    def _rust_module(self, uri: str) -> str:
        """Return the path of a Rust module: the folder of its crate, then the names of modules."""
        crate = self._crate_folder(uri)
        path = uri[len(crate) + 1 :] if crate else uri
        path = path.removesuffix(".rs")
        if not path.startswith("src/"):
            return f"{crate}!{path}"  # Tests, examples and benches are separate crates.
        modules = path.split("/")[1:]
        if modules and modules[-1] in ("lib", "main", "mod"):
            modules.pop()
        return "::".join((f"{crate}!", *modules))

    def crate_root(self, name: str) -> str | None:
        """Return the top module of a crate of this project, by the name of the crate."""
        for folder, crate in self.crates.items():
            if crate == name:
                return f"{folder}!"
        return None

    # ── JavaScript, TypeScript and Go ─────────────────────────────────────────────────────────────

    def script_file(self, files: Container[str], uri: str, module: str) -> str | None:
        """Return the file that a script imports as `module`, or None if it is outside the project."""
        for path in self._script_paths(uri, module):
            for candidate in _script_candidates(path):
                if candidate in files:
                    return candidate
        return None

    def _script_paths(self, uri: str, module: str) -> Iterator[str]:
        """Yield the paths that a module name may mean, without suffixes."""
        if module.startswith("."):
            yield _join_path(uri.rpartition("/")[0], module)
            return
        for folder, patterns in self.paths.items():
            if not folder or uri.startswith(f"{folder}/"):
                yield from _match_patterns(patterns, module)
        for name, folder in self.packages.items():
            if module == name or module.startswith(f"{name}/"):
                rest = module[len(name) + 1 :]
                yield _join_path(folder, "src", rest)
                yield _join_path(folder, rest)

    def go_folder(self, path: str) -> str | None:
        """Return the folder of an imported Go package, or None if it is outside the project."""
        modules = [
            module for module in self.go if path == module or path.startswith(f"{module}/")
        ]
        if not modules:
            return None
        module = max(modules, key=len)
        return _join_path(self.go[module], path[len(module) + 1 :])


def _load_json_object(text: str) -> dict[str, object]:
    """Return the object in a JSON text; an empty one if the text has none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _match_patterns(patterns: Mapping[str, Sequence[str]], module: str) -> Iterator[str]:
    """Yield the paths of the patterns that match a module name."""
    for pattern, targets in patterns.items():
        middle = _match_pattern(pattern, module)
        if middle is not None:
            yield from (target.replace("*", middle) for target in targets)


def _match_pattern(pattern: str, module: str) -> str | None:
    """Return the part of a module name that matches the star of a pattern; None if it does not match."""
    head, star, tail = pattern.partition("*")
    if not star:
        return "" if module == pattern else None
    if module == pattern or (module.startswith(head) and module.endswith(tail)):
        return module[len(head) : len(module) - len(tail)]
    return None


def _join_path(*parts: str) -> str:
    path = "/".join(filter(None, parts))
    normal = posixpath.normpath(path) if path else ""
    return "" if normal == "." else normal


def _script_candidates(path: str) -> Iterator[str]:
    """Yield the files that a path without a suffix may mean."""
    yield path
    stem, dot, suffix = path.rpartition(".")
    if dot and suffix in ("js", "jsx", "mjs", "cjs"):  # TypeScript names the compiled file
        yield from (f"{stem}.{source}" for source in ("ts", "tsx", "mts", "cts"))
    index = f"{path}/index" if path else "index"
    yield from (path + suffix for suffix in _SCRIPT_SUFFIXES)
    yield from (index + suffix for suffix in _SCRIPT_SUFFIXES)
