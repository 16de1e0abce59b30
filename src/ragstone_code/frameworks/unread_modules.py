"""The modules of a Python project that no adapter reads: examples, and copies of the framework."""

from __future__ import annotations

from ragstone.types import Json, Node
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.python_project import Program


def add_unread_modules(program: Program, builder: GraphBuilder) -> None:
    """Add the remarks of a program, and a node that says which of its modules were not read."""
    for remark in program.interpreter.remarks:
        builder.remarks.setdefault(remark)
    copies: list[Json] = [*program.interpreter.project.copied_frameworks.values()]
    if program.examples_remark or copies:
        node = Node(
            f"registry:{builder.framework}.modules",
            "registry",
            "modules",
            framework=builder.framework,
            attributes={"examples": program.examples_remark, "copies": copies},
        )
        builder.add_node(node)
