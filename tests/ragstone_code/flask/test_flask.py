from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.types import Graph, Node
from ragstone_code.flask import Flask
from tests.ragstone_code.projects import files, run_script, unpacked
from tests.ragstone_code.small_world import world_of

ROUTES = """
import json, sys
{make}
rows = [[rule.rule, sorted(rule.methods - {{"HEAD", "OPTIONS"}}), rule.endpoint] for rule in app.url_map.iter_rules()]
json.dump(rows, sys.stdout)
"""
PROJECTS = {
    "flask_diary": "from diary import create_app\napp = create_app({'SQLALCHEMY_DATABASE_URI': 'sqlite://'})",
    "flask_tools": "from app import app",
}


def graph_of(name: str) -> Graph:
    return Flask().read(world_of(files(name)))


def routes(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if node.kind == "route"]


def named(graph: Graph, name: str) -> Node:
    return next(node for node in routes(graph) if node.attributes["name"] == name)


@pytest.fixture(scope="module")
def diary() -> Graph:
    return graph_of("flask_diary")


@pytest.mark.parametrize("name", PROJECTS)
def test_rules_match_the_url_map_of_the_running_application(name: str, tmp_path: Path) -> None:
    needed = ("flask", "flask_sqlalchemy", "flask_restful")
    found = run_script(ROUTES.format(make=PROJECTS[name]), unpacked(name, tmp_path), *needed)
    theirs = {(rule, tuple(methods), endpoint) for rule, methods, endpoint in found}
    mine = set()
    for node in routes(graph_of(name)):
        methods = node.attributes["methods"]
        assert isinstance(methods, list)
        if not node.attributes["conditional"]:
            mine.add(
                (
                    str(node.attributes["pattern"]),
                    tuple(sorted(map(str, methods))),
                    str(node.attributes["name"]),
                )
            )
    assert mine == theirs


def test_routes_under_a_condition_are_marked_conditional(diary: Graph) -> None:
    conditional = {node.key for node in routes(diary) if node.attributes["conditional"]}
    assert conditional == {"route:GET debug"}
    tools = {
        node.key for node in routes(graph_of("flask_tools")) if node.attributes["conditional"]
    }
    assert tools == {"route:GET extra"}


def test_guards_are_ordered_application_blueprint_view(diary: Graph) -> None:
    assert named(diary, "auth.logout").attributes["middleware"] == [
        "everywhere",
        "check",
        "signed_in",
        "needs:member",
    ]
    assert named(diary, "index").attributes["middleware"] == ["everywhere"]
    assert named(diary, "api.entries").attributes["middleware"] == ["everywhere", "signed_in"]
    assert named(diary, "internal.admin.deeper.bottom").attributes["middleware"] == [
        "everywhere",
        "only_admins",
    ]
    guards = [
        link
        for link in diary.links
        if link.kind == "GUARDED_BY" and link.source == "route:GET auth/logout"
    ]
    text = files("flask_diary")["diary/auth.py"].splitlines()
    assert [text[link.line - 1] for link in guards[1:]] == [
        "@bp.before_request",
        "@signed_in",
        '@needs("member")',
    ]
    behind = {link.source: link.target for link in diary.links if link.kind == "HANDLED_BY"}
    assert behind["middleware:diary.guards.needs"] == "function:diary.guards.needs"


def test_views_link_to_functions_methods_and_models(diary: Graph) -> None:
    handled = {(link.source, link.target) for link in diary.links if link.kind == "HANDLED_BY"}
    assert ("route:GET|POST api/entries/", "method:diary.api.views.Entries.get") in handled
    assert ("route:GET|POST api/entries/", "method:diary.api.views.Entries.post") in handled
    assert ("route:GET|POST auth/login", "function:diary.auth.login") in handled
    used = {(link.source, link.target) for link in diary.links if link.kind == "USES_MODEL"}
    assert used == {
        ("function:diary.auth.login", "class:diary.models.User"),
        ("method:diary.api.views.Entries.get", "class:diary.models.Entry"),
    }


def test_an_unknown_blueprint_gives_a_remark() -> None:
    texts = {
        "app.py": "from flask import Flask\napp = Flask('x')\napp.register_blueprint(plugin())\n"
    }
    graph = Flask().read(world_of(texts))
    assert [node.key for node in routes(graph)] == ["route:GET static/{filename}"]
    assert graph.remarks[0].startswith("app.py:3: the blueprint registered here is not known")
