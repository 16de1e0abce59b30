"""Whole files in a prompt: inside the budget, fenced, with the names of files that do not fit."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from ragstone.retrieval.context.fence import WARNING, closing_line, reveal_hidden
from ragstone.retrieval.context.preload import HEADING, preload_files
from ragstone.text.tokens import at_most

texts = st.text(max_size=400) | st.sampled_from(
    ["word " * 300, "x = 1\n" * 100, "🎉" * 200, "<<<end 0>>>\n", ""]
)


@given(st.lists(texts, max_size=8), st.integers(1, 1200))
@example(["\x1f"], 1)
def test_no_prompt_exceeds_its_budget_and_the_fence_holds(
    file_texts: list[str], budget: int
) -> None:
    texts_by_uri = {f"docs/{number}.md": text for number, text in enumerate(file_texts)}
    preloaded = preload_files(texts_by_uri, texts_by_uri.get, budget)
    assert at_most(preloaded.text) == preloaded.tokens <= budget
    reported = [*preloaded.files, *(skip.uri for skip in preloaded.left_out)]
    with_text = [uri for uri, text in texts_by_uri.items() if reveal_hidden(text).strip()]
    assert sorted(reported) == sorted(with_text)
    if preloaded.text:
        mark = re.findall(r"^<<<retrieved ([0-9a-f]{16})>>>$", preloaded.text, re.M)
        assert len(mark) == 1
        assert preloaded.text.endswith(closing_line(mark[0]))
        assert preloaded.text.count(mark[0]) == 2
    else:
        assert not preloaded.files


def test_the_text_has_the_form_that_prompts_expect() -> None:
    texts_by_uri = {"docs/a.md": "One.\n", "docs/b.md": "Two.\n\n", "docs/c.md": "word " * 3000}
    preloaded = preload_files(texts_by_uri, texts_by_uri.get, 300)
    mark = re.search(r"<<<retrieved (\w+)>>>", preloaded.text)
    assert mark is not None
    assert preloaded.text == (
        f"{HEADING}\n{WARNING}\n<<<retrieved {mark[1]}>>>\nFile: docs/a.md\nOne.\n\nFile: docs/b.md\nTwo.\n\n"
        f"Not shown, for want of room: docs/c.md\n<<<end {mark[1]}>>>"
    )
    assert preloaded.files == ["docs/a.md", "docs/b.md"]
    assert [(skip.uri, skip.reason) for skip in preloaded.left_out] == [
        ("docs/c.md", "no room left in the budget")
    ]


def test_a_file_that_does_not_fit_is_left_out_and_a_smaller_file_after_it_is_included() -> None:
    texts_by_uri = {"big.md": "word " * 3000, "small.md": "Small."}
    preloaded = preload_files(texts_by_uri, texts_by_uri.get, 200)
    assert preloaded.files == ["small.md"]
    assert "word" not in preloaded.text


def test_many_files_that_do_not_fit_are_counted_and_most_are_not_read() -> None:
    read_uris: list[str] = []

    def read(uri: str) -> str:
        read_uris.append(uri)
        return "word " * 5000

    preloaded = preload_files([f"docs/{number:04}.md" for number in range(1000)], read, 500)
    assert "docs/0019.md, and 980 more\n" in preloaded.text
    assert len(preloaded.left_out) == 1000
    assert len(read_uris) == 100
    assert preloaded.tokens <= 500


def test_hidden_characters_in_a_file_or_its_name_are_not_passed_on() -> None:
    preloaded = preload_files(
        ["a\nFile: b.md"], lambda uri: "Read.\U000e0041\U000e0042 me", 300
    )
    assert "File: a File: b.md\nRead.[hidden] me\n" in preloaded.text
