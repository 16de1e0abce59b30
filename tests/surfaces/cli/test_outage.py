"""Commands while the service of the model refuses the key: words answer, and one sentence says why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone.surfaces.cli.app import run
from tests.support.model_services import KEY, ModelService, answer_openai, serving

REASON = "OpenAI refused the key (401)"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a folder that was indexed with the right key; now the key is wrong."""
    (tmp_path / "ferry.md").write_text("The ferry leaves at nine.")
    with serving(ModelService(answer_openai, 16), "/v1") as service:
        monkeypatch.setenv("RAGSTONE_EMBED_PROVIDER", "openai:small@16")
        monkeypatch.setenv("RAGSTONE_EMBED_URL", service.url)
        monkeypatch.setenv("RAGSTONE_EMBED_API_KEY", KEY)
        assert run(["sync", "-C", str(tmp_path)]) == 0
        monkeypatch.setenv("RAGSTONE_EMBED_API_KEY", "sk-wrong")
        yield tmp_path


@pytest.mark.parametrize("command", ["search", "context"])
def test_the_reason_is_printed_once(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    (folder / "new.md").write_text("The gondola leaves at ten.")
    assert run([command, "gondola", "-C", str(folder)]) == 0
    output = capsys.readouterr()
    assert "leaves at ten" in output.out
    assert output.err.count(REASON) == 1
    assert "vectors are missing, words answer" in output.err


def test_a_context_names_the_outage_if_only_the_texts_lack_vectors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ferry.md").write_text("The ferry leaves at nine.")
    with serving(ModelService(answer_openai, 16), "/v1") as service:
        monkeypatch.setenv("RAGSTONE_EMBED_PROVIDER", "openai:small@16")
        monkeypatch.setenv("RAGSTONE_EMBED_URL", service.url)
        monkeypatch.setenv("RAGSTONE_EMBED_API_KEY", "sk-wrong")
        assert run(["context", "ferry", "-C", str(tmp_path)]) == 0
    assert REASON in capsys.readouterr().err


def test_a_search_by_vectors_does_not_claim_that_words_answer(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["search", "when does it leave", "--mode", "vectors", "-C", str(folder)]) == 0
    output = capsys.readouterr()
    assert output.err.count(REASON) == 1
    assert "found by words" not in output.err
    assert "no vectors yet" not in output.err
