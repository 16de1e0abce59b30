"""Downloads archives by the registries' own clients, unpacks them and reads their licences. Nothing of them is run."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.parser import BytesHeaderParser
from pathlib import Path

_PERMISSIVE = re.compile(
    r"\b(?:MIT|Apache|BSD|0BSD|ISC|Zlib|Unlicense|CC0|PSF|Python-2\.0|BSL-1\.0|Expat)\b", re.I
)
_RESTRICTED = re.compile(r"GPL|MPL|EPL|CDDL|EUPL|SSPL|proprietary|non-?commercial", re.I)
_DEBIAN_LICENCE = re.compile(r"^License:[ \t]*(\S.*)$", re.M)
_DEBIAN_FILES = re.compile(r"^Files:[ \t]*((?:.|\n[ \t])*)$", re.M)
_ARCHIVE = re.compile(r"\.(?:whl|deb|tgz|tar\.\w+)$")
_SOURCE_PARTS = re.compile(r"\.(?:orig-[^.]+|debian)\.tar\.\w+$")
DEBIAN = frozenset({"debian", "debian-source"})


class BadPackage(Exception):
    """A package cannot be had, or is not the one that was listed."""


@dataclass(frozen=True, slots=True)
class Release:
    """One downloaded version of a package."""

    version: str
    sha256: str
    licence: str


def is_permissive(licence: str) -> bool:
    """Return whether a licence allows any use. One restricted part is enough to say no; of a choice, one may be taken."""
    parts = [_best_choice(part) for part in licence.split(";")]
    return any(map(_PERMISSIVE.search, parts)) and not any(map(_RESTRICTED.search, parts))


def _best_choice(licence: str) -> str:
    choices = re.split(r"[\s,(]+or\s+", licence, flags=re.I)
    allowed = [
        choice
        for choice in choices
        if _PERMISSIVE.search(choice) and not _RESTRICTED.search(choice)
    ]
    return allowed[0] if allowed else licence


def download(registry: str, wanted: Mapping[str, str], folder: Path) -> dict[str, Path]:
    """Return the archive of each package that could be had; `wanted` is version by name, "" for the newest."""
    if registry not in _CLIENTS:
        raise BadPackage(f"names the registry {registry}; known are {', '.join(_CLIENTS)}")
    folder.mkdir(parents=True, exist_ok=True)
    client = _CLIENTS[registry]
    specs = [
        f"{name}{client.pin}{version}" if version else name for name, version in wanted.items()
    ]
    complete = _succeeds([*client.command, *specs], folder)
    archives = client.archives(folder, list(wanted))
    if complete or len(wanted) == 1:
        return archives
    for name in set(wanted) - set(archives):  # one bad name may have failed the call
        archives.update(
            download(registry, {name: wanted[name]}, folder / f"alone-{name.replace('/', '+')}")
        )
    return archives


def unpack(registry: str, archive: Path, tree: Path) -> None:
    """Unpack an archive; the packaging of a Debian source goes to the folder `debian` in it."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(tree)  # noqa: S202 - zipfile keeps names inside
    elif archive.suffix == ".deb":
        subprocess.run(["dpkg-deb", "--extract", str(archive), str(tree)], check=True)
    else:
        stem = archive.name.partition(".orig.tar")[0]
        parts = archive.parent.glob(f"{stem}-*.debian.tar.*") if registry in DEBIAN else ()
        for path in (archive, *parts):
            with tarfile.open(path) as file:
                file.extractall(tree, filter="data")


def read_release(registry: str, tree: Path, archive: Path) -> Release:
    """Return version, hash and licence of an unpacked archive."""
    version, licence = _CLIENTS[registry].read(tree, archive)
    return Release(version, hash_archive(archive), licence)


def hash_archive(archive: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(archive.read_bytes()).hexdigest()


def _succeeds(command: Sequence[str], folder: Path) -> bool:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    except OSError as failed:
        raise BadPackage(f"needs {command[0]}: {failed}") from failed
    return done.returncode == 0


def _archives_by_name(folder: Path, names: Sequence[str]) -> dict[str, Path]:
    """Return the archives whose file name begins with the name of a package."""
    archives = {}
    wanted = {_file_stem(name): name for name in names}
    for path in folder.iterdir():
        if not _ARCHIVE.search(path.name) or _SOURCE_PARTS.search(path.name):
            continue
        stem = path.name.partition("_")[0]
        if path.suffix == ".tgz":
            stem = re.sub(r"-\d+\..*", "", path.name)
        elif path.suffix == ".whl":
            stem = path.name.partition("-")[0]
        name = wanted.get(_file_stem(stem))
        if name:
            archives[name] = path
    return archives


def _file_stem(name: str) -> str:
    return re.sub(r"[-_./]+", "-", name.lower().strip("@"))


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
    (path,) = tree.glob("*/package.json")
    about = json.loads(path.read_text(encoding="utf-8"))
    licence = about.get("license", "")
    return about["version"], licence if isinstance(licence, str) else ""


def _read_debian(tree: Path, archive: Path) -> tuple[str, str]:
    """Return the version and the licences of all files but those of the packaging itself."""
    copyrights = [*tree.glob("usr/share/doc/*/copyright"), *tree.glob("**/debian/copyright")]
    named: set[str] = set()
    for path in copyrights:
        for paragraph in re.split(r"\n\s*\n", path.read_text("utf-8", errors="replace")):
            files = _DEBIAN_FILES.search(paragraph)
            licence = _DEBIAN_LICENCE.search(paragraph)
            if licence and files and not all(_is_packaging(name) for name in files[1].split()):
                named.add(licence[1].strip())
    return _debian_version(archive), "; ".join(sorted(named))


def _is_packaging(pattern: str) -> bool:
    return pattern.startswith("debian/")


def _debian_version(archive: Path) -> str:
    """Return the version; that of a source stands in its description, because the archive's is not all of it."""
    for path in archive.parent.glob(f"{archive.name.partition('_')[0]}_*.dsc"):
        found = re.search(r"^Version: (\S+)", path.read_text("utf-8"), re.M)
        if found:
            return found[1]
    return archive.name.split("_")[1].replace("%3a", ":")


@dataclass(frozen=True, slots=True)
class _Client:
    """How a registry's client is called, and how its archives are read."""

    command: Sequence[str]
    pin: str
    read: Callable[[Path, Path], tuple[str, str]]
    archives: Callable[[Path, Sequence[str]], dict[str, Path]] = _archives_by_name


_PIP = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps")
_CLIENTS = {
    "pypi": _Client((*_PIP, "--only-binary=:all:"), "==", _read_wheel),
    "npm": _Client(("npm", "pack", "--silent"), "@", _read_npm),
    "debian": _Client(("apt-get", "download", "-q"), "=", _read_debian),
    "debian-source": _Client(("apt-get", "source", "--download-only", "-q"), "=", _read_debian),
}
