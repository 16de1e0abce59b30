"""SQLAlchemy, SQLModel and Flask-SQLAlchemy: models with tables and relations, and replayed Alembic migrations."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from ragstone.protocols import ProjectFiles
from ragstone.types import Graph
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.project_files import WorldCache
from ragstone_code.python_project import Program, any_module_matches
from ragstone_code.sqlalchemy.alembic import replay_migrations
from ragstone_code.sqlalchemy.model_graph import ModelGraphReader
from ragstone_code.tables import DatabaseSchema

IMPORT: Final = re.compile(
    r"^\s*(?:from|import)\s+(?:sqlalchemy|sqlmodel|flask_sqlalchemy|alembic)\b", re.MULTILINE
)


@dataclass(slots=True)
class SqlAlchemy:
    """The framework adapter for SQLAlchemy."""

    name = "sqlalchemy"
    worlds: WorldCache = field(default_factory=WorldCache)

    def detects(self, files: ProjectFiles) -> bool:
        """Return whether a module of the project imports SQLAlchemy or a library on top of it."""
        return any_module_matches(files, IMPORT)

    def read(self, files: ProjectFiles) -> Graph:
        """Return models and tables: a table is taken from migrations if any creates it, otherwise from its model."""
        # All modules are followed: a module with models may only import `db` from another module.
        program = Program(self.worlds.world_of(files), lambda text: True)
        builder = GraphBuilder(self.name)
        schema = DatabaseSchema()
        builder.run_pass(
            "migrations",
            lambda: replay_migrations(
                program,
                builder,
                schema,
            ),
        )
        builder.run_pass("models", lambda: ModelGraphReader(program, builder).read(schema))
        builder.run_pass("tables", lambda: schema.add_to_graph(builder))
        return builder.build()
