"""Documents stay true: their Python runs, and the commands, links, methods and modules that they name exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.surfaces.cli.app import nearest_command

FACETS = ("admin", "agents", "external", "graph", "memory", "prompts")
ROOT = Path(__file__).resolve().parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
ENGINE_NAME = re.compile(
    r"(?<!\.)\b(?:engine|Engine)\.(?P<name>[a-z]\w*)(?:\.(?P<member>[a-z]\w*))?"
)
MODULE_PATH = re.compile(r"`(?P<path>(?:[\w-]+/)+[\w<>-]+\.(?:py|toml|json|sql))`")
PAGES_ABOUT_THE_CODE = [
    *sorted(ROOT.glob("*.md")),
    *(ROOT / "docs" / name for name in ("architecture.md", "glossary.md")),
    *sorted((ROOT / "docs" / "decisions").glob("*.md")),
]
NO_LONGER_THERE = {"engine/later.py"}
"""Modules that decisions name although they are gone."""
FENCE = re.compile(
    r"^```(?P<language>[\w-]*)[^\n]*\n(?P<body>.*?)^```\s*$", re.MULTILINE | re.DOTALL
)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")

SAMPLE = {
    "README.md": "# Quarry\n\nA sample project.\n\n## Retries\n\nA failed upload is tried again three times, "
    "waiting longer each time.\n",
    "docs/storage.md": "# Storage\n\nEverything is kept in one file.\n\n## Durability\n\nA write is on disk when the "
    "call returns.\n",
    "src/upload.py": "def upload_with_backoff(data: bytes) -> int:\n    '''Send data, waiting longer after each "
    "failure.'''\n    return len(data)\n",
}


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """Return (line, body) of every fenced block in a language."""
    text = page.read_text(encoding="utf-8")
    matches = (match for match in FENCE.finditer(text) if match["language"] == language)
    return [(text.count("\n", 0, match.start()) + 2, match["body"]) for match in matches]


def with_blocks(language: str) -> list[Path]:
    return [page for page in PAGES if blocks(page, language)]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", with_blocks("python"), ids=name)
def test_the_python_of_a_page_runs_from_top_to_bottom(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, text in SAMPLE.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__docs__"}
    for line, body in blocks(page, "python"):
        code = compile("\n" * (line - 1) + body, str(page), "exec")
        exec(code, namespace)


@cache
def help_of(*command: str) -> str:
    """Return the help of a command, or an empty text if there is no such command."""
    ran = subprocess.run(
        [sys.executable, "-m", "ragstone", *command, "--help"], capture_output=True, text=True
    )
    return ran.stdout if ran.returncode == 0 else ""


def commands(page: Path) -> list[str]:
    """Return every `ragstone …` line that a page shows at a prompt, or in a block for a shell."""
    lines = [
        line
        for _, body in blocks(page, "console")
        for line in body.replace("\\\n", " ").splitlines()
    ]
    at_prompt = [line[2:] for line in lines if line.startswith("$ ")]
    in_shell = [
        line
        for _, body in blocks(page, "sh")
        for line in body.replace("\\\n", " ").splitlines()
        if line.startswith("ragstone ")
    ]
    return [
        line
        for line in (*at_prompt, *in_shell)
        if re.search(r"(^|/)ragstone\b", line.split()[0])
    ]


def known_command(words: list[str]) -> list[str]:
    """Return the longest beginning of the words that is a command."""
    path: list[str] = []
    for word in words:
        if word.startswith("-") or not re.search(
            rf"^  {re.escape(word)}\b", help_of(*path), re.MULTILINE
        ):
            break
        path.append(word)
    return path


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=name)
def test_the_commands_a_page_shows_exist_with_their_options(page: Path) -> None:
    for line in commands(page):
        words = shlex.split(line, comments=True)[1:]
        path = known_command(words)
        if words and not path and not nearest_command(words[0]):
            path = ["search"]  # a question without a command
        assert path or all(word.startswith("-") for word in words), (
            f"{name(page)} shows an unknown command: {line}"
        )
        for word in words[len(path) :]:
            option = word.partition("=")[0]
            if re.fullmatch(r"--?[a-z][\w-]*", option):
                assert re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", help_of(*path)), (
                    f"{option} in: {line}"
                )


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_links_of_a_page_lead_to_files(page: Path) -> None:
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    for match in LINK.finditer(prose):
        target = match["target"].partition("#")[0]
        if target and "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), (
                f"{name(page)} links to {target}, which is not there"
            )


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_fence_of_a_page_is_closed(page: Path) -> None:
    assert len(re.findall(r"^```", page.read_text(encoding="utf-8"), re.MULTILINE)) % 2 == 0


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_has_no_control_characters(page: Path) -> None:
    assert not re.search(r"[^\n\t -\x7e\x80-\U0010ffff]", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "reference").glob("*.md")), ids=name)
def test_the_reference_has_no_marks_of_help_texts(page: Path) -> None:
    assert r"\b" not in page.read_text(encoding="utf-8")


def test_every_page_can_be_reached_from_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    linked = {
        (ROOT / "docs" / match["target"].partition("#")[0]).resolve()
        for match in LINK.finditer(index)
    }
    decisions = {match.resolve() for match in (ROOT / "docs" / "decisions").glob("*.md")}
    pages = {page.resolve() for page in (ROOT / "docs").rglob("*.md")} - {
        (ROOT / "docs" / "README.md").resolve()
    }
    assert not pages - linked - decisions


def headings(page: Path) -> set[str]:
    """Return the anchors that a page's headings make."""
    lines = re.findall(
        r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE
    )
    return {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in lines}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_anchors_of_a_page_lead_to_headings(page: Path) -> None:
    for match in LINK.finditer(FENCE.sub("", page.read_text(encoding="utf-8"))):
        target, _, anchor = match["target"].partition("#")
        if anchor and "://" not in target:
            assert anchor in headings(page.parent / target if target else page), (
                f"{name(page)}: {match['target']}"
            )


def test_the_embedder_of_the_guide_searches_after_its_installation(tmp_path: Path) -> None:
    page = ROOT / "docs" / "guides" / "plugins.md"
    module = next(body for _, body in blocks(page, "python") if body.startswith("# letters.py"))
    points = (
        next(body for _, body in blocks(page, "toml"))
        .replace("[project.entry-points.", "[")
        .replace('"', "")
    )
    installed, folder = tmp_path / "installed", tmp_path / "folder"
    metadata = installed / "letters-1.0.dist-info"
    metadata.mkdir(parents=True)
    folder.mkdir()
    (installed / "letters.py").write_text(module, encoding="utf-8")
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: letters\nVersion: 1.0\n", encoding="utf-8"
    )
    (metadata / "entry_points.txt").write_text(points, encoding="utf-8")
    (folder / "a.md").write_text("Zebras graze.", encoding="utf-8")
    program = f"""
import sys
sys.path.insert(0, {str(installed)!r})
from ragstone import Engine
with Engine.open({str(folder)!r}, config={{"rag.embedding_provider": "letters"}}) as engine:
    assert engine.sync().embedded == 1
    assert engine.search("zebra", mode="vectors")[0].trace.lists[0].name == "letters"
    assert engine.search("arbez", mode="vectors"), "the same letters, no word in common"
    for query in ("arbez", "qqq", "?", ""):
        engine.search(query)
        engine.context(query)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_the_reference_is_up_to_date_with_the_code() -> None:
    check = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "generate_reference.py"), "--check"],
        capture_output=True,
        text=True,
    )
    assert check.returncode == 0, check.stdout + check.stderr


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_methods_of_an_engine_that_a_page_names_exist(page: Path, tmp_path: Path) -> None:
    with Engine.open(tmp_path) as engine:
        for match in ENGINE_NAME.finditer(page.read_text(encoding="utf-8")):
            if match["name"] == "py":  # the file engine.py
                continue
            assert hasattr(engine, match["name"]), f"{name(page)}: {match.group()}"
            if match["name"] in FACETS and match["member"]:
                facet = getattr(engine, match["name"])
                assert hasattr(facet, match["member"]), f"{name(page)}: {match.group()}"


@pytest.mark.parametrize("page", PAGES_ABOUT_THE_CODE, ids=name)
def test_the_modules_that_a_page_names_exist(page: Path) -> None:
    packages = (
        ROOT,
        ROOT / "src",
        ROOT / "src" / "ragstone",
        ROOT / "src" / "ragstone" / "surfaces",
    )
    for match in MODULE_PATH.finditer(page.read_text(encoding="utf-8")):
        path = match["path"]
        if "<" in path or path in NO_LONGER_THERE:
            continue
        assert any((package / path).exists() for package in packages), f"{name(page)}: {path}"


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = (folder / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in folder.glob("[0-9]*.md") if page.name not in listed] == []


READERS_WITHOUT_A_CLONE = [
    ROOT / "README.md",
    ROOT / "docs" / "model-card.md",
    *sorted((ROOT / "docs" / "guides").glob("*.md")),
]


@pytest.mark.parametrize("page", READERS_WITHOUT_A_CLONE, ids=name)
def test_a_command_that_needs_a_clone_says_so_beside_it(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"-->\n\s*", "-->\n", text)  # the sentence under a table belongs to it
    for paragraph in re.split(r"\n\n+", text):
        if re.search(r"python -m (?:bench|evals)\b", paragraph):
            assert "clone" in paragraph, paragraph
