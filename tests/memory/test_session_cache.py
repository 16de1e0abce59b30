"""What a process holds of a session stays level with what is said."""

from __future__ import annotations

from collections import deque

from ragstone.memory.session_cache import SessionCache, speaker
from ragstone.types import Turn


def turn(
    index: int, content: str, *, who: str = "user", supersedes: tuple[int, ...] = ()
) -> Turn:
    return Turn(
        "s", index, who, content, 0.0, supersedes=supersedes, because="so" if supersedes else ""
    )


def test_new_turns_are_appended_to_the_cache() -> None:
    cache = SessionCache("x", statements=deque(), superseded={})
    cache.add(turn(n, f"thing {n}?") for n in range(30))
    cache.add([turn(31, "My editor is Vim.", supersedes=(3, 4))])  # number 30 was never stored
    assert (cache.hot[0].index, len(cache.hot), cache.end) == (11, 20, 32)
    assert cache.statements is not None
    assert [statement.index for statement in cache.statements] == [31]
    assert cache.superseded is not None
    assert {old: later.index for old, later in cache.superseded.items()} == {3: 31, 4: 31}


def test_statements_are_collected_only_if_they_are_tracked() -> None:
    cache = SessionCache("x")
    cache.add([turn(0, "My editor is Vim.", supersedes=(1,))])
    assert (cache.statements, cache.superseded) == (None, None)


def test_a_turn_is_compared_with_turns_of_the_same_speaker() -> None:
    cache = SessionCache("x", statements=deque())
    cache.add([turn(0, "My editor is Vim."), turn(1, "My editor is Nano.", who="assistant")])
    assert cache.judge(turn(2, "My editor is Helix.")).supersedes == (0,)
    assert cache.judge(turn(2, "Nothing of the kind.")).supersedes == ()


def test_a_turn_supersedes_a_limited_number_of_turns_with_few_reasons() -> None:
    cache = SessionCache("x", statements=deque())
    cache.add(turn(n, f"My port is {n}.") for n in range(300))
    judged = cache.judge(turn(300, "My port is 8080."))
    assert judged.supersedes == tuple(range(200, 300))
    assert judged.because.count("became") == 3


def test_a_speaker_has_a_name_or_a_role() -> None:
    assert speaker(turn(0, "x")) == "user"
    assert speaker(Turn("s", 0, "user", "x", 0.0, "Åsa")) == "Åsa"
