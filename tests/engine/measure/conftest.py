"""A folder with enough text for a measurement, and an index of its user."""

from __future__ import annotations

from pathlib import Path

import pytest

SUBJECTS = (
    "ferry mill bridge tower harbour quarry garden stable cellar chapel market forge".split()
)


@pytest.fixture
def valley(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with twelve pages and the fake model."""
    monkeypatch.setenv("RAGSTONE_EMBED_PROVIDER", "fake")
    folder = tmp_path / "valley"
    folder.mkdir()
    for number, subject in enumerate(SUBJECTS):
        page = (
            f"# The old {subject} of the valley\n\nThe {subject} was built in {1700 + number} by the people of the "
            f"valley. In winter the {subject} is closed, and in summer it opens at nine.\n"
        )
        (folder / f"{number}.md").write_text(page, encoding="utf-8")
    return folder
