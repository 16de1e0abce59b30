"""Frames: the local state of one function call or one file."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragstone_code.evaluate.values import Value


@dataclass(slots=True)
class Frame:
    """The variables and the context of one call."""

    uri: str
    variables: dict[str, Value] = field(default_factory=dict)
    this: Value = None
    owner: str = ""
    """Full name of the surrounding class: `self`."""
    called_on: str = ""
    """The class that the method was called on: `static`."""
    returned: list[Value] = field(default_factory=list)
    """Returned values in order; several if some `return` statements are in branches."""


class ControlTransfer(Exception):
    """Raised by `return`, `break`, `continue` and `throw` to leave the surrounding statements."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class StepLimitReached(Exception):
    """Raised if a run uses more steps than its limit."""
