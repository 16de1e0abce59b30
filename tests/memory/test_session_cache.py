"""What a process holds of a session stays level with what is said."""

from __future__ import annotations

from collections import deque

from ragstone.memory.session_cache import SessionCache, speaker
from ragstone.types import Turn


def turn(index: int, content: str, *, who: str = "user", supersedes: tuple[int, ...] = ()) -> Turn:
    return Turn(
        "s", index, who, content, 0.0, supersedes=supersedes, because="so" if supersedes else ""
    )


def test_turns_are_taken_in_behind_those_that_were_seen() -> None:
    known = SessionCache("x", statements=deque(), superseded={})
    known.add(turn(n, f"thing {n}") for n in range(30))
    known.add([turn(31, "My editor is Vim.", supersedes=(3, 4))])  # number 30 was never stored
    assert (known.hot[0].index, len(known.hot), known.end) == (11, 20, 32)
    assert known.statements is not None
    assert [one.index for one in known.statements] == [31]
    assert known.superseded is not None
    assert {old: later.index for old, later in known.superseded.items()} == {3: 31, 4: 31}


def test_what_nobody_asked_for_is_not_gathered() -> None:
    known = SessionCache("x")
    known.add([turn(0, "My editor is Vim.", supersedes=(1,))])
    assert (known.statements, known.superseded) == (None, None)


def test_a_turn_is_judged_by_what_its_own_speaker_said() -> None:
    known = SessionCache("x", statements=deque())
    known.add([turn(0, "My editor is Vim."), turn(1, "My editor is Nano.", who="assistant")])
    assert known.judge(turn(2, "My editor is Helix.")).supersedes == (0,)
    assert known.judge(turn(2, "Nothing of the kind.")).supersedes == ()


def test_one_turn_takes_back_a_bounded_number_of_others_and_gives_a_few_reasons() -> None:
    known = SessionCache("x", statements=deque())
    known.add(turn(n, f"My port is {n}.") for n in range(300))
    judged = known.judge(turn(300, "My port is 8080."))
    assert judged.supersedes == tuple(range(200, 300))
    assert judged.because.count("became") == 3


def test_a_speaker_has_a_name_or_a_role() -> None:
    assert speaker(turn(0, "x")) == "user"
    assert speaker(Turn("s", 0, "user", "x", 0.0, "Åsa")) == "Åsa"
