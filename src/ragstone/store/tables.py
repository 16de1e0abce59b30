"""The statements of `schema.sql`, which create the tables of the newest version."""

from __future__ import annotations

from pathlib import Path


def table_statements() -> list[str]:
    """Return the statements in order, without comments."""
    lines = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8").splitlines()
    script = "\n".join(line for line in lines if not line.startswith("--"))
    return [statement.strip() for statement in script.split(";\n") if statement.strip()]


def create_statement(table: str) -> str:
    """Return the statement that creates one table."""
    start = f"CREATE TABLE {table} ("
    return next(statement for statement in table_statements() if statement.startswith(start))
