from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone.errors import InputError
from ragstone.sources.folder.source import MISSING, NOT_INCLUDED

Scan = Callable[..., tuple[list[str], dict[str, str]]]

FILES = {
    path: "x"
    for path in (
        "a.md",
        "a.py",
        "docs/a.md",
        "docs/b.py",
        "docs/sub/c.md",
        "pkg/one/src/d.py",
        "pkg/e.py",
    )
}


@pytest.mark.parametrize(
    ("include", "expected"),
    [
        (["docs"], ["docs/a.md", "docs/b.py", "docs/sub/c.md"]),
        (["docs/"], ["docs/a.md", "docs/b.py", "docs/sub/c.md"]),
        (["./docs/*.md"], ["docs/a.md"]),
        (["docs/**/*.md"], ["docs/a.md", "docs/sub/c.md"]),
        (["docs/*"], ["docs/a.md", "docs/b.py"]),
        (["*.md"], ["a.md", "docs/a.md", "docs/sub/c.md"]),
        (["/*.md"], ["a.md"]),
        (["a.md", "pkg/*/src"], ["a.md", "pkg/one/src/d.py"]),
        (["*"], sorted(FILES)),
        ([], sorted(FILES)),
        (["."], sorted(FILES)),
    ],
)
def test_includes_are_files_folders_and_globs(
    way: str, plant: Callable[..., Path], scan: Scan, include: list[str], expected: list[str]
) -> None:
    plant(FILES)
    assert scan(include=include) == (expected, {})


def test_excludes_are_lines_of_an_ignore_file(
    way: str, plant: Callable[..., Path], scan: Scan
) -> None:
    plant(FILES)
    assert scan(exclude=["docs/", "*.py", "!/a.py"]) == (["a.md", "a.py"], {})


def test_an_include_that_is_not_there_is_reported(
    way: str, plant: Callable[..., Path], scan: Scan
) -> None:
    plant(FILES)
    assert scan(include=["a.md", "nowhere"]) == (["a.md"], {"nowhere": NOT_INCLUDED})


def test_a_named_path_that_does_not_exist_is_reported_once(
    way: str, plant: Callable[..., Path], scan: Scan
) -> None:
    folder = plant(FILES)
    assert scan(only=["a.md", "b.md", folder / "b.md", "docs/gone/"]) == (
        ["a.md"],
        {"b.md": MISSING, "docs/gone": MISSING},
    )
    assert scan(only=["a.md/below"]) == ([], {"a.md/below": MISSING})
    assert scan(only=["*.rst"]) == ([], {})
    assert scan(only=["nowhere"], include=["nowhere", "elsewhere"]) == (
        [],
        {"nowhere": MISSING},
    )


@pytest.mark.parametrize("pattern", ["../other", "docs/../../x", "[oops*"])
def test_a_pattern_that_makes_no_sense_is_refused(scan: Scan, pattern: str) -> None:
    with pytest.raises(InputError):
        scan(include=[pattern])


def test_only_narrows_and_takes_names_as_they_are(
    way: str, plant: Callable[..., Path], scan: Scan
) -> None:
    folder = plant({**FILES, "docs/[x].md": "x", "docs/x.md": "x"})
    assert scan(only=["docs/[x].md"]) == (["docs/[x].md"], {})
    assert scan(only=[folder / "docs/sub", "a.py"], include=["*.md"]) == (["docs/sub/c.md"], {})
    assert scan(only=["docs/*.py"]) == (["docs/b.py"], {})
    assert scan(only=[]) == ([], {})
    assert len(scan(only=["."])[0]) == 9
    with pytest.raises(InputError, match="not below"):
        scan(only=[folder.parent])


def test_a_folder_that_is_usually_skipped_can_be_named(
    way: str, plant: Callable[..., Path], scan: Scan
) -> None:
    plant({"node_modules/lib/a.js": "x", "b.js": "x"})
    assert scan() == (["b.js"], {"node_modules/": "installed packages"})
    assert scan(include=["node_modules/lib"]) == (["node_modules/lib/a.js"], {})
