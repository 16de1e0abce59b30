"""The Python files of a project by the names they are imported by."""

from __future__ import annotations

from ragstone.code.world import World
from ragstone_code.python.names import module_of


class Project:
    """Finds the file behind a dotted name, wherever in the folder the program's root is."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.uris = tuple(uri for uri in world.uris if uri.endswith(".py"))
        self._packages = {uri.rpartition("/")[0] for uri in self.uris if uri.endswith("/__init__.py")}
        self._by_name: dict[str, str] = {}
        self._by_end: dict[str, list[str]] = {}
        for uri in self.uris:
            name = module_of(uri)
            self._by_name.setdefault(name, uri)
            self._by_end.setdefault(name.rpartition(".")[2], []).append(uri)

    def uri_of(self, name: str, importer: str = "") -> str | None:
        """Return the file of a module; below the root that the importing file lies under where there are several."""
        found = self._by_name.get(name)
        if found is not None:
            return found
        best = ""
        for uri in self._by_end.get(name.rpartition(".")[2], ()):
            module = module_of(uri)
            root = uri.removesuffix("/__init__.py").removesuffix(".py")[: -len(name)].rstrip("/")
            if not module.endswith(f".{name}") or root in self._packages:
                continue
            if not importer or importer.startswith(f"{root}/"):
                best = uri if not best or len(root) > len(best[: -len(name)]) else best
        return best or None

    def folder_of(self, name: str, importer: str = "") -> bool:
        """Return whether a dotted name is a folder with Python in it, that has no `__init__.py`."""
        path = name.replace(".", "/")
        return any(uri.startswith(f"{path}/") or f"/{path}/" in uri for uri in self.uris)
