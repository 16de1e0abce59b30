"""The end of a sentence that names the old value: ", no longer 8080", ", not 8080 any more", "(was 8080)"."""

from __future__ import annotations

import re
from typing import Final

_OLD: Final = r"(?P<old>[^\s,;()]+(?: [^\s,;()]+){0,3}?)"
_OPENING: Final = r"(?:,(?: and| und)?| and| und| -| –)"
_AFTER_COMMA: Final = re.compile(
    rf"{_OPENING} (?:no longer|not(?=.* any ?more\b)|nicht mehr|instead of|rather than|statt|formerly|previously) "
    rf"{_OLD}(?: any ?more)?[\s.!]*$",
    re.I,
)
_IN_BRACKETS: Final = re.compile(
    rf" \((?:it )?(?:was|no longer|not|instead of|formerly|previously) {_OLD}(?: before| any ?more)?\)[\s.!]*$",
    re.I,
)


def split_old_value(sentence: str) -> tuple[str, str]:
    """Return a sentence without the end that names the old value, and the old value; empty if there is none."""
    match = _AFTER_COMMA.search(sentence) or _IN_BRACKETS.search(sentence)
    if match is None:
        return sentence, ""
    return sentence[: match.start()], match["old"].rstrip(" .!")
