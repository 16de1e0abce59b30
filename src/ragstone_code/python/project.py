"""The Python files of a project by their import names."""

from __future__ import annotations

from collections.abc import Collection

from ragstone_code.project_files import World
from ragstone_code.python.names import module_of


class PythonProject:
    """Finds the file of a dotted name, even if the import root is a subfolder."""

    def __init__(self, world: World, frameworks: Collection[str] = ()) -> None:
        """Take the files; copies of the packages in `frameworks` are never followed."""
        self.world = world
        self.uris = tuple(uri for uri in world.uris if uri.endswith(".py"))
        self._packages = {
            uri.rpartition("/")[0] for uri in self.uris if uri.endswith("/__init__.py")
        }
        self.copied_frameworks = self._find_copies(frameworks)
        """The frameworks that have a copy in the project, with the folder of the copy."""
        self._by_name: dict[str, str] = {}
        self._by_last_part: dict[str, list[str]] = {}
        for uri in self.uris:
            name = module_of(uri)
            self._by_name.setdefault(name, uri)
            last_part = name.rpartition(".")[2]
            self._by_last_part.setdefault(last_part, []).append(uri)

    def _find_copies(self, frameworks: Collection[str]) -> dict[str, str]:
        """Return the frameworks that are packages of the project, inside no other package, with their folders."""
        copies: dict[str, str] = {}
        for folder in sorted(self._packages):
            outer, _, name = folder.rpartition("/")
            if name in frameworks and outer not in self._packages:
                copies[name] = folder
        return copies

    def uri_of(self, name: str, importer: str = "") -> str | None:
        """Return the file of a module; of several, the one under the importing file's deepest root.

        A copy of a framework in the project has no file: an adapter knows the names of the framework, not its code.
        """
        if name.partition(".")[0] in self.copied_frameworks:
            return None
        exact = self._by_name.get(name)
        if exact is not None:
            return exact
        best = ""
        for uri in self._by_last_part.get(name.rpartition(".")[2], ()):
            root = self._import_root(uri, name)
            if root is None or (importer and not importer.startswith(f"{root}/")):
                continue
            if not best or len(root) > len(best[: -len(name)]):
                best = uri
        return best or None

    def _import_root(self, uri: str, name: str) -> str | None:
        """Return the folder below which a file has an import name; None if that folder is a package."""
        if not module_of(uri).endswith(f".{name}"):
            return None
        path = uri.removesuffix("/__init__.py").removesuffix(".py")
        root = path[: -len(name)].rstrip("/")
        if root in self._packages:
            return None
        return root
