"""The stages before the training: they choose packages, mine pairs from them, check them and make tokens."""

from __future__ import annotations

import argparse
import hashlib
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context
from typing import TypeVar

import build_minilm
import numpy as np

from model import packages
from model.exclusions import Exclusions
from model.packages import Package
from model.pairs import Pair, mine, read_pairs, write_pairs
from model.registries import BadPackage
from model.tokens import Ids, TokenPairs, TokenRows, write_tokens
from model.work import PACKAGES, PAIRS, TOKENS, StageFailed, log, tell, wheel_of
from ragstone.embed.wordpiece import WordPiece

Task = TypeVar("Task")
Result = TypeVar("Result")


_PACKED = 2_000
"""Pairs that a process turns into tokens at a time."""

_PIECES = frozenset({"path to piece", "module doc to piece"})
_PIECE_TOKENS = 128
"""Of a piece of a file fewer tokens are kept: what fits the query is anywhere in the file."""


class _Shared:
    """What processes take over from the one that forks them."""

    options: argparse.Namespace
    exclusions: Exclusions
    tokenizer: WordPiece


def list_packages(options: argparse.Namespace) -> None:
    """Choose packages by licence and write them with version and hash."""
    if options.names is None:
        raise StageFailed("needs a file of names, one line of REGISTRY NAME each")
    refused: list[str] = []

    def refuse(reason: str) -> None:
        refused.append(reason)
        tell(reason)

    chosen = packages.list_packages(
        packages.read_names(options.names),
        options.work / "packages",
        _exclusions(options),
        refuse,
    )
    packages.write_packages(options.work / PACKAGES, chosen)
    log(options.work, "list", {"packages": len(chosen), "refused": sorted(refused)})


def fetch_packages(options: argparse.Namespace) -> None:
    """Download and unpack every package of the list. One that is gone or changed ends the stage."""
    listed = packages.read_packages(options.work / PACKAGES)
    try:
        packages.fetch_packages(listed, options.work / "packages")
    except BadPackage as reason:
        raise StageFailed(str(reason)) from reason
    tell(f"fetch: {len(listed)} packages are there")


def mine_pairs(options: argparse.Namespace) -> None:
    """Write the pairs of all packages, each passage once."""
    listed = packages.read_packages(options.work / PACKAGES)
    _Shared.options, _Shared.exclusions = options, _exclusions(options)
    seen: set[bytes] = set()
    pairs: list[Pair] = []
    for number, found in enumerate(_run_in_pool(_mine_package, listed), 1):
        for pair in found:
            digest = hashlib.sha256(pair.passage.encode("utf-8", "replace")).digest()
            if digest not in seen:
                seen.add(digest)
                pairs.append(pair)
        if number % 100 == 0:
            tell(f"{number}/{len(listed)} packages, {len(pairs):,} pairs")
    kinds = write_pairs(options.work / PAIRS, pairs)
    licences = Counter(package.licence for package in listed)
    log(
        options.work,
        "mine",
        {
            "seed": options.seed,
            "packages": len(listed),
            "licences": dict(licences.most_common()),
            "pairs": dict(kinds.most_common()),
        },
    )


def _run_in_pool(work: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
    """Yield the results in the order of the tasks, from processes that take `_Shared` over."""
    processes = min(os.cpu_count() or 1, len(tasks))
    with get_context("fork").Pool(processes) as pool:
        yield from pool.imap(work, tasks, chunksize=4)


def _mine_package(package: Package) -> list[Pair]:
    folder = _Shared.options.work / "packages" / package.folder_name
    if not folder.is_dir():
        raise StageFailed(f"{package.name} is not there: run the stage fetch first")
    name = f"{package.registry}:{package.name}"
    return mine(name, folder, _Shared.exclusions, _Shared.options.seed)


def check_pairs(options: argparse.Namespace) -> None:
    """Fail if a pair comes from a package or has the lines of a benchmark."""
    exclusions = _exclusions(options)
    if not exclusions.names and not exclusions.lines:
        raise StageFailed("nothing to check against: name --exclude-names or --exclude-lines")
    leaks = []
    pairs = read_pairs(options.work / PAIRS)
    for pair in pairs:
        name = pair.package.partition(":")[2]
        if exclusions.has_name(name) or exclusions.has_passage(pair.passage):
            leaks.append(f"{pair.package}: {pair.query[:60]}")
    log(
        options.work,
        "check",
        {
            "pairs": len(pairs),
            "names": len(exclusions.names),
            "lines": len(exclusions.lines),
            "leaks": len(leaks),
        },
    )
    if leaks:
        raise StageFailed(f"{len(leaks)} pairs are part of a benchmark, first: {leaks[0]}")


def pack_pairs(options: argparse.Namespace) -> None:
    """Write the pairs as tokens; `--most` keeps a sample."""
    vocabulary = build_minilm.read_wheel(wheel_of(options))[1]
    pairs = read_pairs(options.work / PAIRS)
    if 0 < options.most < len(pairs):
        chance = random.Random(options.seed)  # noqa: S311 - a sample, no secret
        kept = sorted(chance.sample(range(len(pairs)), options.most))
        pairs = [pairs[number] for number in kept]
    _Shared.options = options
    _Shared.tokenizer = WordPiece(vocabulary.decode().splitlines())
    parts = [pairs[start : start + _PACKED] for start in range(0, len(pairs), _PACKED)]
    rows = [row for part in _run_in_pool(_tokens, parts) for row in part]
    packages_of = [pair.package for pair in pairs]
    numbers = {package: number for number, package in enumerate(dict.fromkeys(packages_of))}
    size = write_tokens(
        options.work / TOKENS,
        TokenPairs(
            TokenRows.join(query for query, _ in rows),
            TokenRows.join(passage for _, passage in rows),
            np.array([numbers[package] for package in packages_of]),
        ),
    )
    log(options.work, "pack", {"pairs": len(pairs), "megabytes": round(size / 1e6, 1)})


def _tokens(pairs: Sequence[Pair]) -> list[tuple[Ids, Ids]]:
    """Return the token ids of the queries and passages, without those around each text."""
    encode = _Shared.tokenizer.encode
    options = _Shared.options
    rows = []
    for pair in pairs:
        most = options.passage_tokens
        if pair.kind in _PIECES:
            most = min(most, _PIECE_TOKENS)
        query = encode(pair.query)[: options.query_tokens - 2]
        passage = encode(pair.passage)[: most - 2]
        rows.append((np.array(query, np.uint16), np.array(passage, np.uint16)))
    return rows


def _exclusions(options: argparse.Namespace) -> Exclusions:
    return Exclusions.read(options.exclude_names, options.exclude_lines, options.exclude_tree)
