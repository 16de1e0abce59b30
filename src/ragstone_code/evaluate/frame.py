"""One run of a function or file: its variables and where it is."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragstone_code.evaluate.values import Value


@dataclass(slots=True)
class Frame:
    """The variables of a run."""

    uri: str
    variables: dict[str, Value] = field(default_factory=dict)
    this: Value = None
    owner: str = ""
    """The full name of the class around it: `self`."""
    called_on: str = ""
    """The class it was called on: `static`."""
    returned: list[Value] = field(default_factory=list)
    """What was returned, in order; several where some of it was in a branch."""


class Left(Exception):
    """Thrown by `return`, `break`, `continue` and `throw` to leave what is around them."""

    def __init__(self, how: str) -> None:
        super().__init__(how)
        self.how = how


class Spent(Exception):
    """Thrown when the steps are used up."""
