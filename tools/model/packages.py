"""The packages that pairs are mined from: chosen by licence, pinned by version and hash, downloaded and unpacked."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass
from itertools import groupby
from pathlib import Path

from model.exclusions import Exclusions
from model.registries import (
    BadPackage,
    Release,
    download,
    is_permissive,
    read_release,
    unpack,
)

THREADS = 8
BATCHES: Mapping[str, int] = {"debian": 40, "debian-source": 8, "npm": 8, "pypi": 8}
"""How many packages one call of a client downloads: its start costs more than a small package."""
UNREADABLE = (
    OSError,
    ValueError,
    KeyError,
    subprocess.CalledProcessError,
    tarfile.TarError,
    zipfile.BadZipFile,
)
_LONGEST_LICENCE = 200
"""Characters of a licence that are kept: some Debian packages name dozens."""


@dataclass(frozen=True, slots=True)
class Package:
    """One archive of a registry (pypi, npm, debian or debian-source), pinned."""

    registry: str
    name: str
    version: str
    sha256: str
    licence: str

    @property
    def folder_name(self) -> str:
        """Return the name of the folder that the package is unpacked in."""
        return f"{self.registry}-{self.name.replace('/', '+')}-{self.version}".replace(":", "+")


Wanted = tuple[str, str, str]
"""Registry, name and version; no version asks for the newest."""


def read_packages(path: Path) -> list[Package]:
    """Return the packages of a list."""
    return [Package(*row) for row in json.loads(path.read_text(encoding="utf-8"))]


def write_packages(path: Path, packages: Iterable[Package]) -> None:
    """Write a list of packages, one line each, so that a change is easy to read."""
    rows = [json.dumps(astuple(package)) for package in packages]
    path.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


def read_names(path: Path) -> list[Wanted]:
    """Return registry and name of each line `REGISTRY NAME`."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    return [(registry, name, "") for registry, name in rows]


def list_packages(
    wanted: Sequence[Wanted],
    folder: Path,
    exclusions: Exclusions,
    refuse: Callable[[str], None],
) -> list[Package]:
    """Return the permissive packages that no benchmark has, unpacked in the folder; `refuse` gets the others."""
    allowed = []
    for registry, name, version in wanted:
        if exclusions.has_name(name):
            refuse(f"{name} is part of a benchmark")
        else:
            allowed.append((registry, name, version))
    chosen = []
    for package, reason in _take(allowed, folder, _refusal_of_licence):
        if reason:
            refuse(f"{package.name} {reason}")
        else:
            chosen.append(package)
    return chosen


def _refusal_of_licence(package: Package) -> str:
    if is_permissive(package.licence):
        return ""
    return f"has the licence {package.licence[:_LONGEST_LICENCE] or 'that it does not tell'}"


def fetch_packages(packages: Sequence[Package], folder: Path) -> None:
    """Download and unpack the packages that are not there yet; one that is gone or changed is an error."""
    missing = [package for package in packages if not (folder / package.folder_name).is_dir()]
    hashes = {(package.registry, package.name): package.sha256 for package in missing}

    def refusal(package: Package) -> str:
        listed = hashes[package.registry, package.name]
        if package.sha256 == listed:
            return ""
        return f"has SHA-256 {package.sha256}, the list says {listed}"

    wanted = [(package.registry, package.name, package.version) for package in missing]
    for package, reason in _take(wanted, folder, refusal):
        if reason:
            raise BadPackage(f"{package.name} {reason}")


def _take(
    wanted: Sequence[Wanted], folder: Path, refusal: Callable[[Package], str]
) -> Iterator[tuple[Package, str]]:
    """Yield each package with the reason why it was not unpacked into the folder, or with none."""
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(THREADS) as pool:
        for taken in pool.map(
            lambda batch: _take_batch(batch, folder, refusal), _batches(wanted)
        ):
            yield from taken


def _batches(wanted: Sequence[Wanted]) -> Iterator[Sequence[Wanted]]:
    for registry, rows in groupby(sorted(wanted), key=lambda row: row[0]):
        of_registry = list(rows)
        size = BATCHES.get(registry, 1)
        for start in range(0, len(of_registry), size):
            yield of_registry[start : start + size]


def _take_batch(
    batch: Sequence[Wanted], folder: Path, refusal: Callable[[Package], str]
) -> list[tuple[Package, str]]:
    registry = batch[0][0]
    taken = []
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        versions = {name: version for _, name, version in batch}
        archives = download(registry, versions, Path(temporary))
        for number, (name, version) in enumerate(versions.items()):
            package = Package(registry, name, version, "", "")
            reason = "cannot be downloaded"
            if name in archives:
                tree = Path(temporary) / f"tree-{number}"
                package, reason = _open(package, archives[name], tree, refusal)
                if not reason:
                    shutil.move(tree, folder / package.folder_name)
            taken.append((package, reason))
    return taken


def _open(
    package: Package, archive: Path, tree: Path, refusal: Callable[[Package], str]
) -> tuple[Package, str]:
    """Unpack an archive and return what it is, with the reason why it is refused, or with none."""
    try:
        unpack(package.registry, archive, tree)
        release = read_release(package.registry, tree, archive)
    except UNREADABLE as failed:
        return package, f"cannot be read: {failed}"
    found = _package(package.registry, package.name, release)
    return found, refusal(found)


def _package(registry: str, name: str, release: Release) -> Package:
    licence = release.licence[:_LONGEST_LICENCE]
    if not is_permissive(release.licence):
        licence = release.licence
    return Package(registry, name, release.version, release.sha256, licence)
