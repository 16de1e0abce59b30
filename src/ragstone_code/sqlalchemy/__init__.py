"""SQLAlchemy, SQLModel and Flask-SQLAlchemy: models, their tables and relations; Alembic's migrations replayed."""

from __future__ import annotations

import re
from typing import Final

from ragstone.code.world import World
from ragstone.types import Graph
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.program import Program, any_module_matches
from ragstone_code.sqlalchemy.alembic import migrations
from ragstone_code.sqlalchemy.mapping import Mapping
from ragstone_code.tables import DatabaseSchema

IMPORT: Final = re.compile(r"^\s*(?:from|import)\s+(?:sqlalchemy|sqlmodel|flask_sqlalchemy|alembic)\b", re.MULTILINE)


class SqlAlchemy:
    """The adapter of SQLAlchemy."""

    name = "sqlalchemy"

    def detects(self, world: World) -> bool:
        """Return whether a module of the project imports it."""
        return any_module_matches(world, IMPORT)

    def read(self, world: World) -> Graph:
        """Return models and tables: as migrations leave them where there are some, as models say elsewhere."""
        program = Program(world, lambda text: True)  # models may only name the `db` of another module
        builder = GraphBuilder(self.name)
        tables = DatabaseSchema()
        builder.run_pass("migrations", lambda: migrations(program, builder, tables))
        builder.run_pass("models", lambda: Mapping(program, builder).read(tables))
        builder.run_pass("tables", lambda: tables.add_to_graph(builder))
        return builder.build()
