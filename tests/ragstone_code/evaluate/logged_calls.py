"""A PHP program whose calls on a log can be read by a test."""

from __future__ import annotations

from ragstone_code.evaluate import (
    PHP,
    Arguments,
    CallSite,
    Evaluator,
    Lambda,
    Limits,
    Recorder,
    Stubs,
    Unknown,
    Value,
    display_text,
)
from tests.ragstone_code.small_world import world


class Log(Recorder):
    """Records every call and runs closures among the arguments."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Arguments, CallSite]] = []

    def on_call(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        self.calls.append((name, arguments, site))
        for argument in arguments.positional:
            if isinstance(argument, Lambda):
                evaluator.call(argument, [self], site)
        return self


def create_evaluator(
    code: str, more: dict[str, str] | None = None, limits: Limits | None = None
) -> tuple[Evaluator, Log]:
    log = Log()

    def setting(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
        return Unknown("a setting", f"config({display_text(arguments.at(0))})")

    stubs = Stubs({"lib\\log": log}, {"config": setting})
    files = {"main.php": f"use Lib\\Log;\n{code}", **(more or {})}
    return Evaluator(world(files), PHP, stubs, limits=limits), log


def logged_arguments(code: str, more: dict[str, str] | None = None) -> list[tuple[Value, ...]]:
    """Return the arguments of every call on the log."""
    evaluator, log = create_evaluator(code, more)
    evaluator.run("main.php")
    return [arguments.positional for _, arguments, _ in log.calls]


def last_logged(code: str, more: dict[str, str] | None = None) -> Value:
    """Return the first argument of the last call on the log."""
    return logged_arguments(code, more)[-1][0]
