from __future__ import annotations

from ragstone.types import Alias, Graph, Link, Node, Rendered
from ragstone_code.laravel.subfolder import relocate_graph, world_in_folder
from tests.ragstone_code.laravel.small import world


def test_a_folder_is_a_separate_world() -> None:
    project = world({"api/a.php": "<?php class A {}", "web/b.php": "<?php class B {}"})
    part = world_in_folder(project, "api/")
    assert part.uris == ("a.php",)
    declared = part.of_class("A")
    assert declared is not None
    assert declared[0] == "a.php"
    assert world_in_folder(project, "") is project


def test_paths_in_keys_and_attributes_are_relocated() -> None:
    graph = Graph(
        nodes=(
            Node(
                "file:a.php",
                "file",
                "a",
                "a.php",
                1,
                attributes={"places": ["a.php:1"], "other": "x/y"},
            ),
        ),
        links=(
            Link(
                "FIRES",
                "file:a.php",
                "class:A",
                "a.php",
                2,
                attributes={"registered": "b/c.php:3"},
            ),
        ),
        aliases=(Alias("A", "class:A", "class", "a.php"),),
        rendered=(Rendered("class:A", "event", "A", "text", "a.php", 1),),
        remarks=("a.php:1: odd",),
    )
    there = relocate_graph(graph, "api/")
    assert (there.nodes[0].key, there.nodes[0].place) == ("file:api/a.php", "api/a.php:1")
    assert there.nodes[0].attributes == {"places": ["api/a.php:1"], "other": "x/y"}
    assert (there.links[0].source, there.links[0].target, there.links[0].uri) == (
        "file:api/a.php",
        "class:A",
        "api/a.php",
    )
    assert there.links[0].attributes == {"registered": "api/b/c.php:3"}
    assert (there.aliases[0].uri, there.rendered[0].uri, there.remarks) == (
        "api/a.php",
        "api/a.php",
        ("api/a.php:1: odd",),
    )
    assert relocate_graph(graph, "") is graph
