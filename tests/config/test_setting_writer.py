"""Writing a setting into the project file: comments stay, and a wrong value changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.config import load
from ragstone.config.setting_writer import write_setting
from ragstone.errors import ConfigError

FILE = """# our settings
[search]
top_k = 5  # enough for us

# how texts are cut
[chunk]
max_tokens = 180
"""


def test_a_changed_value_keeps_comments_and_order(tmp_path: Path) -> None:
    path = tmp_path / "ragstone.toml"
    path.write_text(FILE)
    assert write_setting(tmp_path, "search.top_k", "9") == path
    assert path.read_text() == FILE.replace("top_k = 5", "top_k = 9")
    assert load(tmp_path).search.top_k == 9


def test_a_missing_file_and_a_missing_table_are_made(tmp_path: Path) -> None:
    write_setting(tmp_path, "search.top_k", "7")
    write_setting(tmp_path, "rag.vector_store.provider", "memory")
    settings = load(tmp_path)
    assert settings.search.top_k == 7
    assert settings.rag.vector_store.provider == "memory"


def test_an_empty_value_removes_the_setting(tmp_path: Path) -> None:
    path = tmp_path / "ragstone.toml"
    path.write_text(FILE)
    write_setting(tmp_path, "chunk.max_tokens", " ")
    assert "max_tokens" not in path.read_text()
    assert "# how texts are cut" in path.read_text()


def test_the_last_value_takes_its_table_and_its_file_along(tmp_path: Path) -> None:
    path = tmp_path / "ragstone.toml"
    write_setting(tmp_path, "rag.vector_store.provider", "memory")
    write_setting(tmp_path, "search.top_k", "7")
    write_setting(tmp_path, "search.top_k", "")
    assert "search" not in path.read_text()
    write_setting(tmp_path, "rag.vector_store.provider", "")
    assert not path.exists()


def test_a_table_with_a_comment_stays(tmp_path: Path) -> None:
    path = tmp_path / "ragstone.toml"
    for text in ("[search]  # ours\ntop_k = 5\n", "[search]\n# ours\ntop_k = 5\n"):
        path.write_text(text)
        write_setting(tmp_path, "search.top_k", "")
        assert path.read_text() == text.replace("top_k = 5\n", "")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("search.top_k", "many"),
        ("search.top_k", "-1"),
        ("search.fusion", "magic"),
        ("search.nothing", "1"),
        ("embed.url", "http://127.0.0.1:1"),
        ("embed.api_key", "secret"),
    ],
)
def test_a_value_that_is_not_accepted_changes_nothing(
    tmp_path: Path, name: str, value: str
) -> None:
    path = tmp_path / "ragstone.toml"
    path.write_text(FILE)
    with pytest.raises(ConfigError):
        write_setting(tmp_path, name, value)
    assert path.read_text() == FILE
    assert [entry.name for entry in tmp_path.iterdir()] == ["ragstone.toml"]


def test_a_link_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(FILE)
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "ragstone.toml").symlink_to(other)
    with pytest.raises(ConfigError, match="link"):
        write_setting(tmp_path / "project", "search.top_k", "9")
    assert other.read_text() == FILE


def test_a_value_that_loosens_a_protection_needs_trust(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="loosens a protection"):
        write_setting(tmp_path, "sources.secrets", "off")
    assert not (tmp_path / "ragstone.toml").exists()
