"""Which files of a folder are selected: by the settings, by the paths that a user names, by their names and by their sizes."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from ragstone.config.load import FILE_NAME
from ragstone.errors import InputError
from ragstone.sources.folder.ignore_rules import IgnoreRules
from ragstone.text.globs import compile_glob, has_wildcard

SKIPPED_BY_NAME: Final = "secret file"
"""The reason why a file that is named like a secret is skipped."""
_EVERYTHING: Final = ("", ".", "**", "**/*")


@dataclass(frozen=True, slots=True)
class Selection:
    """Includes and excludes, relative to the root.

    An include is a file or folder (`docs`) or a pattern: `docs/*.md` from the root on, `*.py` at any depth. If the last
    part of a pattern has no wildcard (`packages/*/src`), the pattern also selects the folders of that name. Excludes
    are lines of a `.gitignore`.
    """

    includes_all: bool
    paths: tuple[str, ...]
    """Files and folders that are named without a wildcard."""
    patterns: tuple[_IncludePattern, ...]
    prefixes: tuple[str, ...]
    """Everything selected is at or below one of these."""
    exclude: IgnoreRules | None

    @classmethod
    def of(
        cls, include: Sequence[str], exclude: Sequence[str] = (), *, paths: Sequence[str] = ()
    ) -> Selection:
        """Return the selection of patterns and of literal paths; raise `InputError` for a malformed pattern."""
        globs = [_normalise(pattern) for pattern in include]
        rules = IgnoreRules(exclude) if exclude else None
        if "" in paths or any(glob.lstrip("/") in _EVERYTHING for glob in globs):
            return cls(includes_all=True, paths=(), patterns=(), prefixes=(), exclude=rules)
        literals = list(paths)
        patterns = []
        for glob in globs:
            if has_wildcard(glob):
                patterns.append(_IncludePattern.parse(glob))
            else:
                literals.append(glob.lstrip("/"))
        pattern_prefixes = [pattern.prefix for pattern in patterns]
        return cls(
            includes_all=False,
            paths=tuple(literals),
            patterns=tuple(patterns),
            prefixes=(*literals, *pattern_prefixes),
            exclude=rules,
        )

    @classmethod
    def of_paths(
        cls, root: Path, paths: Sequence[str | Path] | None, *, literal: bool = False
    ) -> Selection:
        """Return the selection of files, folders and patterns below a root; None selects everything.

        With `literal`, the paths are names even if they hold wildcards, whether the files exist or not.
        """
        if paths is None:
            return cls.of(("**",))
        names: list[str] = []
        patterns: list[str] = []
        for path in paths:
            relative = _relative_to(root, str(path))
            is_name = literal or not has_wildcard(relative) or os.path.lexists(root / relative)
            if is_name:
                names.append(relative)
            else:
                patterns.append(relative)
        return cls.of(patterns, paths=names)

    @property
    def is_everything(self) -> bool:
        """Return whether every file is selected."""
        return self.includes_all and self.exclude is None

    def selects(self, path: str) -> bool:
        """Return whether a file is selected. Its folders were checked with `enters` before."""
        if self.exclude is not None and self.exclude.verdict(path):
            return False
        if self.includes_all or any(_is_at_or_below(path, selected) for selected in self.paths):
            return True
        return any(pattern.matches(path) for pattern in self.patterns)

    def enters(self, folder: str) -> bool:
        """Return whether a selected file may be below a folder."""
        if self.exclude is not None and self.exclude.verdict(folder, is_folder=True):
            return False
        if self.includes_all:
            return True
        return any(
            _is_at_or_below(folder, prefix) or _is_at_or_below(prefix, folder)
            for prefix in self.prefixes
        )

    def names(self, folder: str) -> bool:
        """Return whether a folder, or something in it, is selected by its exact name."""
        return any(_is_at_or_below(prefix, folder) for prefix in self.prefixes if prefix)


@dataclass(frozen=True, slots=True)
class _IncludePattern:
    """One include with wildcards."""

    expression: re.Pattern[str]
    prefix: str
    """The folders that the pattern names before its first wildcard."""
    matches_folders: bool

    @classmethod
    def parse(cls, glob: str) -> _IncludePattern:
        pattern = glob.removeprefix("/") if "/" in glob else f"**/{glob}"
        expression = compile_glob(pattern)
        if expression is None:
            raise InputError(
                f"the pattern {glob!r} can match nothing", hint="close its bracket or escape it"
            )
        *folders, last = glob.removeprefix("/").split("/")
        fixed: list[str] = []
        for folder in folders:
            if has_wildcard(folder):
                break
            fixed.append(folder)
        return cls(expression, "/".join(fixed), matches_folders=not has_wildcard(last))

    def matches(self, path: str) -> bool:
        """Return whether the pattern matches a path, or a folder above it if it may match folders."""
        if self.expression.fullmatch(path):
            return True
        if not self.matches_folders:
            return False
        folder = path.rpartition("/")[0]
        while folder:
            if self.expression.fullmatch(folder):
                return True
            folder = folder.rpartition("/")[0]
        return False


def _is_at_or_below(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")


def _relative_to(root: Path, path: str) -> str:
    """Return a path relative to the root, or raise `InputError` if it is not below it."""
    for top in (os.path.abspath(root), os.path.realpath(root)):
        full_path = os.path.join(top, path)
        relative = os.path.relpath(full_path, top).replace(os.sep, "/")
        if relative == ".":
            return ""
        if relative != ".." and not relative.startswith("../"):
            return relative
    raise InputError(f"{path} is not below {root}", hint="name a file or folder inside it")


def _normalise(pattern: str) -> str:
    """Return a pattern in one spelling, or raise `InputError` if it leads out of the folder."""
    glob = pattern.replace("\\", "/") if os.sep == "\\" else pattern
    while glob.startswith("./"):
        glob = glob[2:]
    if ".." in glob.split("/"):
        raise InputError(
            f"the pattern {pattern!r} leads out of the folder",
            hint="give it relative to the folder",
        )
    return glob.rstrip("/")


# ── by size ───────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class FileLimits:
    """The limits of a folder. Documents are files of other formats than text, such as PDF."""

    max_file_bytes: int
    max_files: int
    max_document_bytes: int = 0
    document_suffixes: Collection[str] = ()
    """In lower case, without dots."""

    def max_bytes(self, uri: str) -> int:
        """Return how large a file with this name may be."""
        if self._is_document(uri):
            return self.max_document_bytes
        return self.max_file_bytes

    def explain_excess(self, uri: str, size: int) -> str | None:
        """Return why a file is too large, or None if it is not."""
        if size <= min(self.max_file_bytes, self.max_document_bytes):
            return None
        limit = self.max_bytes(uri)
        if size <= limit:
            return None
        setting = "max_document_bytes" if self._is_document(uri) else "max_file_bytes"
        return f"too large: {_format_size(size)} (sources.{setting}: {_format_size(limit)})"

    def _is_document(self, uri: str) -> bool:
        name = uri.rpartition("/")[2]
        stem, _, suffix = name.rpartition(".")
        return bool(stem) and suffix.lower() in self.document_suffixes


def _format_size(size: int) -> str:
    if size < 100_000:
        return f"{size:,} bytes"
    return f"{size / 1_000_000:.1f} MB"


# ── by name ───────────────────────────────────────────────────────────────────────────────────

OWN_FOLDERS = frozenset({".git", ".ragstone"})
"""Never entered and never listed: the data of git and of Ragstone."""

OWN_RULES, GIT_RULES = ".ragstoneignore", ".gitignore"
IGNORE_FILES: Final = frozenset({OWN_RULES, GIT_RULES})
"""They choose the documents, and are none."""

_SKIPPED_FOLDERS = {
    "node_modules": "installed packages",
    "bower_components": "installed packages",
    "site-packages": "installed packages",
    "__pycache__": "cache folder",
    ".mypy_cache": "cache folder",
    ".ruff_cache": "cache folder",
    ".pytest_cache": "cache folder",
    ".tox": "virtual environment",
    ".nox": "virtual environment",
    ".hg": "version control data",
    ".svn": "version control data",
}
_SKIPPED_IF_HOLDING = {"pyvenv.cfg": "virtual environment", "CACHEDIR.TAG": "cache folder"}
_SECRET_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".kube"})

# Lines of a `.gitignore` for names in lower case; a later line wins.
_SECRET = """
.env .env.* *.env .envrc !.env.example !.env.sample !.env.template !.env.dist !.env.defaults !.env.*.example
!example.env !sample.env !template.env .netrc _netrc .npmrc .yarnrc.yml .pypirc .pgpass .my.cnf .htpasswd
.git-credentials .dockercfg .dockerconfigjson .vault_pass .vault-token .dev.vars .s3cfg .boto .terraformrc
terraform.tfstate terraform.tfstate.* *.tfvars kubeconfig *.kubeconfig id_rsa id_dsa id_ecdsa id_ecdsa_sk
id_ed25519 id_ed25519_sk *.pem *.key *.p8 *.p12 *.pfx *.ppk *.jks *.keystore *.kdbx *.agekey *.ovpn credentials
credentials.json credentials.toml application_default_credentials.json service-account*.json
service_account*.json client_secret*.json secrets.json secrets.toml secrets.yaml secrets.yml
""".split()
_GENERATED = """
package-lock.json npm-shrinkwrap.json packages.lock.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock
composer.lock poetry.lock pdm.lock uv.lock pixi.lock pipfile.lock conda-lock.yml cargo.lock gemfile.lock
podfile.lock package.resolved pubspec.lock mix.lock flake.lock go.sum gradle.lockfile .terraform.lock.hcl
*.min.js *.min.css *.min.mjs *.vectors.jsonl *.map *.tsbuildinfo *_pb2.py *_pb2_grpc.py *.pb.go *.designer.cs .ds_store
thumbs.db
""".split()


def folder_reason(name: str, entries: frozenset[str], *, secrets: bool) -> str | None:
    """Return why a folder with this name and these entries is skipped, or None; `secrets` includes secret folders."""
    if name.lower() in _SECRET_FOLDERS and not secrets:
        return "folder of secrets"
    if name in _SKIPPED_FOLDERS:
        return _SKIPPED_FOLDERS[name]
    for entry, reason in _SKIPPED_IF_HOLDING.items():
        if entry in entries:
            return reason
    return None


@lru_cache(maxsize=10_000)
def file_reason(name: str, *, secrets: bool) -> str | None:
    """Return why a file with this name is skipped, or None; `secrets` includes secret files.

    The same names are asked for again and again: to compare a folder of 5,886 files takes 65 ms instead of 93.
    """
    if name == FILE_NAME:
        return "settings of Ragstone"
    name = name.lower()
    if not secrets and _secret_rules().verdict(name):
        return SKIPPED_BY_NAME
    if _generated_rules().verdict(name):
        return "generated file"
    if name in IGNORE_FILES:
        return "ignore file"
    return None


@cache
def _secret_rules() -> IgnoreRules:
    return IgnoreRules(_SECRET)


@cache
def _generated_rules() -> IgnoreRules:
    return IgnoreRules(_GENERATED)
