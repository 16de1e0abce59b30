"""A context does not fill its budget with passages that hardly fit."""

from __future__ import annotations

from pathlib import Path

from ragstone import Engine


def test_passages_that_fit_much_less_than_the_best_one_do_not_fill_the_budget(
    tmp_path: Path,
) -> None:
    with Engine.open(tmp_path) as engine:
        engine.add("Tighten the four housing screws of the pump with 23 Nm.", uri="pump.md")
        engine.add("The housing office opens at nine.", uri="office.md")
        engine.add("A pump of the village stands at the market.", uri="village.md")
        context = engine.context("how much torque for the housing screws of the pump")
    assert [piece.uri for piece in context.cited] == ["pump.md"]
    reasons = {left.reason for left in context.left_out}
    assert reasons == {"it fits much less than the best passage"}
