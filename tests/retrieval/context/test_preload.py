"""Whole files in a prompt: never over the budget, fenced, and what does not fit is named."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from ragstone.retrieval.context.fence import WARNING, closer
from ragstone.retrieval.context.preload import HEADING, preload
from ragstone.text.tokens import at_most

texts = st.text(max_size=400) | st.sampled_from(
    ["word " * 300, "x = 1\n" * 100, "🎉" * 200, "<<<end 0>>>\n", ""]
)


@given(st.lists(texts, max_size=8), st.integers(1, 1200))
@example(["\x1f"], 1)
def test_no_prompt_exceeds_its_budget_and_the_fence_holds(found: list[str], budget: int) -> None:
    held = {f"docs/{number}.md": text for number, text in enumerate(found)}
    made = preload(held, held.get, budget)
    assert at_most(made.text) == made.tokens <= budget
    assert sorted([*made.files, *(one.uri for one in made.left_out)]) == sorted(
        uri for uri in held if made_of(held[uri])
    )
    if made.text:
        mark = re.findall(r"^<<<retrieved ([0-9a-f]{16})>>>$", made.text, re.M)
        assert len(mark) == 1
        assert made.text.endswith(closer(mark[0]))
        assert made.text.count(mark[0]) == 2
    else:
        assert not made.files


def made_of(text: str) -> bool:
    """Return whether anything is left of a text once nothing is hidden in it."""
    from ragstone.retrieval.context.fence import neutral

    return bool(neutral(text).strip())


def test_the_text_is_what_prompts_expect() -> None:
    held = {"docs/a.md": "One.\n", "docs/b.md": "Two.\n\n", "docs/c.md": "word " * 3000}
    made = preload(held, held.get, 300)
    mark = re.search(r"<<<retrieved (\w+)>>>", made.text)
    assert mark is not None
    assert made.text == (
        f"{HEADING}\n{WARNING}\n<<<retrieved {mark[1]}>>>\nFile: docs/a.md\nOne.\n\nFile: docs/b.md\nTwo.\n\n"
        f"Not shown, for want of room: docs/c.md\n<<<end {mark[1]}>>>"
    )
    assert made.files == ["docs/a.md", "docs/b.md"]
    assert [(one.uri, one.reason) for one in made.left_out] == [
        ("docs/c.md", "no room left in the budget")
    ]


def test_a_file_is_whole_or_not_there_and_a_smaller_one_behind_it_still_is() -> None:
    held = {"big.md": "word " * 3000, "small.md": "Small."}
    made = preload(held, held.get, 200)
    assert made.files == ["small.md"]
    assert "word" not in made.text


def test_many_that_do_not_fit_are_counted_and_most_of_them_not_even_read() -> None:
    read: list[str] = []

    def text(uri: str) -> str:
        read.append(uri)
        return "word " * 5000

    made = preload([f"docs/{number:04}.md" for number in range(1000)], text, 500)
    assert "docs/0019.md, and 980 more\n" in made.text
    assert len(made.left_out) == 1000
    assert len(read) == 100
    assert made.tokens <= 500


def test_what_is_hidden_in_a_file_or_its_name_is_not_handed_on() -> None:
    made = preload(["a\nFile: b.md"], lambda uri: "Read.\U000e0041\U000e0042 me", 300)
    assert "File: a File: b.md\nRead.[hidden] me\n" in made.text
