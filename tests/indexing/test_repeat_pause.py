"""The pause of a watcher: it grows if the same files change again at once."""

from __future__ import annotations

from ragstone.indexing.repeat_pause import RepeatPause


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_file_that_changes_after_every_round_is_read_less_and_less_often() -> None:
    clock = Clock()
    pause = RepeatPause(clock)
    seconds = []
    for _ in range(8):
        pause.note_round(["watch.log"])
        seconds.append(pause.seconds)
        clock.now += pause.seconds + 0.3
    assert seconds == [0, 1, 2, 4, 8, 16, 30, 30]


def test_other_files_and_rest_end_the_pause() -> None:
    clock = Clock()
    pause = RepeatPause(clock)
    pause.note_round(["watch.log"])
    pause.note_round(["watch.log"])
    assert pause.seconds
    pause.note_round(["watch.log", "notes.md"])
    assert not pause.seconds
    pause.note_round(["notes.md"])
    assert pause.seconds
    pause.note_round([])
    assert not pause.seconds


def test_a_file_that_is_saved_now_and_then_is_never_waited_for() -> None:
    clock = Clock()
    pause = RepeatPause(clock)
    for _ in range(5):
        pause.note_round(["notes.md"])
        assert not pause.seconds
        clock.now += 5
