"""The packages that pairs are mined from: chosen by licence, pinned by version and hash, downloaded and unpacked."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from email.parser import BytesHeaderParser
from pathlib import Path

from model.exclusions import Exclusions

_PERMISSIVE = re.compile(
    r"\b(?:MIT|Apache|BSD|0BSD|ISC|Zlib|Unlicense|CC0|PSF|Python-2\.0|BSL-1\.0|Expat)\b", re.I
)
_RESTRICTED = re.compile(r"GPL|MPL|EPL|CDDL|EUPL|SSPL|proprietary|non-?commercial", re.I)
_DEBIAN_LICENCE = re.compile(r"^License:\s*(\S.*)$", re.M)


class BadPackage(Exception):
    """A package cannot be had, or is not the one that was listed."""


@dataclass(frozen=True, slots=True)
class Package:
    """One archive of a registry (pypi, npm or debian), pinned."""

    registry: str
    name: str
    version: str
    sha256: str
    licence: str

    @property
    def folder_name(self) -> str:
        """Return the name of the folder that the package is unpacked in."""
        return f"{self.registry}-{self.name.replace('/', '+')}-{self.version}".replace(":", "+")


def read_packages(path: Path) -> list[Package]:
    """Return the packages of a list."""
    return [Package(**row) for row in json.loads(path.read_text(encoding="utf-8"))]


def write_packages(path: Path, packages: Iterable[Package]) -> None:
    """Write a list of packages, one line each, so that a change is easy to read."""
    rows = [json.dumps(asdict(package)) for package in packages]
    path.write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


def list_package(registry: str, name: str, exclusions: Exclusions) -> Package:
    """Return the newest version of a package, or say why it may not be used."""
    if exclusions.has_name(name):
        raise BadPackage("is part of a benchmark")
    with tempfile.TemporaryDirectory() as folder:
        archive = _download(registry, name, "", Path(folder))
        tree = Path(folder) / "tree"
        _unpack(archive, tree)
        version, licence = _READERS[registry](tree, archive)
        if not is_permissive(licence):
            raise BadPackage(f"has the licence {licence or 'that it does not tell'}")
        return Package(registry, name, version, _hash(archive), licence)


def fetch_package(package: Package, folder: Path) -> Path:
    """Return the folder of an unpacked package; it is downloaded if it is not there yet."""
    target = folder / package.folder_name
    if target.is_dir():
        return target
    with tempfile.TemporaryDirectory() as temporary:
        archive = _download(package.registry, package.name, package.version, Path(temporary))
        digest = _hash(archive)
        if digest != package.sha256:
            raise BadPackage(f"has SHA-256 {digest}, the list says {package.sha256}")
        tree = Path(temporary) / "tree"
        _unpack(archive, tree)
        folder.mkdir(parents=True, exist_ok=True)
        shutil.move(tree, target)
    return target


def is_permissive(licence: str) -> bool:
    """Return whether a licence allows any use. One restricted part is enough to say no."""
    return bool(_PERMISSIVE.search(licence)) and not _RESTRICTED.search(licence)


def _download(registry: str, name: str, version: str, folder: Path) -> Path:
    """Return the archive that the registry's own client leaves in the folder. Nothing of it is run."""
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
    ]
    commands = {
        "pypi": [*pip, f"{name}=={version}" if version else name],
        "npm": ["npm", "pack", "--silent", f"{name}@{version}" if version else name],
        "debian": ["apt-get", "download", "-q", f"{name}={version}" if version else name],
    }
    if registry not in commands:
        raise BadPackage(f"names the registry {registry}; known are {', '.join(commands)}")
    try:
        done = subprocess.run(
            commands[registry], cwd=folder, capture_output=True, text=True, check=False
        )
    except OSError as failed:
        raise BadPackage(f"needs {commands[registry][0]}: {failed}") from failed
    archives = [path for path in folder.iterdir() if path.is_file()]
    if done.returncode != 0 or len(archives) != 1:
        raise BadPackage(f"cannot be downloaded: {done.stderr.strip()[-200:]}")
    return archives[0]


def _unpack(archive: Path, tree: Path) -> None:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(tree)  # noqa: S202 - zipfile keeps names inside
    elif archive.suffix == ".deb":
        subprocess.run(["dpkg-deb", "--extract", str(archive), str(tree)], check=True)
    else:
        with tarfile.open(archive) as file:
            file.extractall(tree, filter="data")


def _hash(archive: Path) -> str:
    return hashlib.sha256(archive.read_bytes()).hexdigest()


def _read_wheel(tree: Path, archive: Path) -> tuple[str, str]:
    (metadata,) = tree.glob("*.dist-info/METADATA")
    headers = BytesHeaderParser().parsebytes(metadata.read_bytes())
    named = [
        line.rpartition("::")[2].strip()
        for line in headers.get_all("Classifier", [])
        if line.startswith("License ::")
    ]
    licence = headers.get("License-Expression") or "; ".join(named) or headers.get("License")
    return str(headers["Version"]), str(licence or "").splitlines()[0] if licence else ""


def _read_npm(tree: Path, archive: Path) -> tuple[str, str]:
    about = json.loads((tree / "package" / "package.json").read_text(encoding="utf-8"))
    licence = about.get("license", "")
    return about["version"], licence if isinstance(licence, str) else ""


def _read_debian(tree: Path, archive: Path) -> tuple[str, str]:
    """Return the version and all licences that the copyright file names."""
    version = archive.name.split("_")[1].replace("%3a", ":")
    named: set[str] = set()
    for path in tree.glob("usr/share/doc/*/copyright"):
        text = path.read_text(encoding="utf-8", errors="replace")
        named.update(match.strip() for match in _DEBIAN_LICENCE.findall(text))
    return version, "; ".join(sorted(named))


_READERS = {"pypi": _read_wheel, "npm": _read_npm, "debian": _read_debian}
