from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.types import Graph, Link, Node
from ragstone_code.fastapi import FastAPI
from tests.ragstone_code.projects import files, run_script, unpacked
from tests.ragstone_code.small_world import world_of

ROUTES = """
import json, sys
from starlette.routing import Mount
{make}

def named(call):
    return getattr(call, "__name__", None) or type(call).__name__

rows = []
def walk(routes, prefix):
    for route in routes:
        route = getattr(route, "starlette_route", None) or route
        if isinstance(route, Mount):
            walk(route.routes, prefix + route.path)
        elif hasattr(route, "effective_candidates"):  # newer releases include routers lazily
            walk(route.effective_candidates(), prefix)
        else:
            methods = sorted(getattr(route, "methods", None) or ["WEBSOCKET"])
            needs = [named(dependency.call) for dependency in route.dependant.dependencies]
            rows.append([prefix + route.path, methods, route.name, needs])
walk(app.routes, "")
json.dump(rows, sys.stdout)
"""
PROJECTS = {
    "fastapi_notes": ("from notes.main import app", "backend"),
    "fastapi_shop": ("from shop.factory import create_app\napp = create_app()", ""),
}


def graph_of(name: str) -> Graph:
    return FastAPI().read(world_of(files(name)))


def routes(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if node.kind == "route"]


def links(graph: Graph, kind: str, source: str) -> list[Link]:
    return [link for link in graph.links if link.kind == kind and link.source == source]


@pytest.fixture(scope="module")
def notes() -> Graph:
    return graph_of("fastapi_notes")


@pytest.mark.parametrize("name", PROJECTS)
def test_routes_and_dependencies_match_the_running_application(
    name: str, tmp_path: Path
) -> None:
    make, folder = PROJECTS[name]
    needed = ("fastapi", "sqlalchemy", "sqlmodel", "alembic")
    found = run_script(ROUTES.format(make=make), unpacked(name, tmp_path) / folder, *needed)
    theirs = {
        (path, "|".join(methods), named, *needs)
        for path, methods, named, needs in found
        if path not in ("/docs", "/redoc", "/docs/oauth2-redirect", "/openapi.json")
    }
    mine = set()
    for node in routes(graph_of(name)):
        if node.attributes["conditional"]:
            continue
        methods, guards = node.attributes["methods"], node.attributes["middleware"]
        assert isinstance(methods, list) and isinstance(guards, list)
        verbs = "|".join(sorted(map(str, methods)))
        path, label = str(node.attributes["pattern"]), str(node.attributes["name"])
        mine.add((path, verbs, label, *(str(guard).partition(":")[0] for guard in guards)))
    assert mine == theirs


def test_routes_under_a_condition_are_marked_conditional() -> None:
    graph = graph_of("fastapi_shop")
    conditional = {node.key for node in routes(graph) if node.attributes["conditional"]}
    assert conditional == {
        "route:PATCH extra/items/{item_id}",
        "route:GET extra/items/{item_id}",
        "route:HEAD extra/items/{item_id}",
    }


def test_a_route_links_to_its_function_schemas_and_models(notes: Graph) -> None:
    created = "route:POST api/v1/notes/"
    handled = links(notes, "HANDLED_BY", created)
    assert [(link.target, link.uri) for link in handled] == [
        ("function:backend.notes.routes.create", "backend/notes/routes.py")
    ]
    text = files("fastapi_notes")["backend/notes/routes.py"].splitlines()
    assert text[handled[0].line - 1].startswith('@router.post("/"')
    key = handled[0].target
    assert [link.target for link in links(notes, "VALIDATED_BY", key)] == [
        "class:backend.notes.schemas.NoteIn"
    ]
    assert [link.target for link in links(notes, "RETURNS", key)] == [
        "class:backend.notes.schemas.NoteOut"
    ]
    assert [link.target for link in links(notes, "USES_MODEL", key)] == [
        "class:backend.notes.models.Note"
    ]
    change = links(notes, "RETURNS", "function:backend.notes.routes.change")
    assert [link.target for link in change] == ["class:backend.notes.schemas.NoteOut"]


def test_dependencies_of_a_dependency_are_linked_from_it(notes: Graph) -> None:
    needed = links(notes, "GUARDED_BY", "middleware:backend.notes.deps.current_user")
    assert [link.target.rpartition(".")[2] for link in needed] == [
        "session",
        "OAuth2PasswordBearer",
    ]
    behind = links(notes, "HANDLED_BY", "middleware:backend.notes.deps.current_user")
    assert behind[0].target == "function:backend.notes.deps.current_user"


def test_routes_are_found_by_their_names_and_paths(notes: Graph) -> None:
    named = {(alias.name, alias.kind): alias.key for alias in notes.aliases}
    assert named["create-note", "route_name"] == "route:POST api/v1/notes/"
    assert named["POST api/v1/notes", "uri"] == "route:POST api/v1/notes/"
    assert "route:GET api/v1/tags-two/{tag}" in {node.key for node in routes(notes)}
    prose = next(
        description
        for description in notes.rendered
        if description.key == "route:POST api/v1/notes/"
    )
    assert "notes.schemas.NoteIn" in prose.text


def test_a_prefix_from_the_environment_gives_a_remark() -> None:
    texts = {
        "main.py": (
            "import os\nfrom fastapi import APIRouter, FastAPI\nrouter = APIRouter()\n"
            "@router.get('/x')\ndef x(): ...\n"
            "app = FastAPI()\napp.include_router(router, prefix=os.environ['P'])\napp.include_router(missing)\n"
            "from fastapi import Depends\n@app.get('/y', dependencies=[Depends(nowhere())])\ndef y(): ...\n"
        )
    }
    graph = FastAPI().read(world_of(texts))
    assert [node.key for node in routes(graph)] == ["route:GET {?}/x", "route:GET y"]
    assert not [link for link in graph.links if link.kind == "GUARDED_BY"]
    assert any("a dependency that is not known" in said for said in graph.remarks)
    assert any(
        said.startswith("main.py:7:") and "environment" in said for said in graph.remarks
    )
    assert any(said.startswith("main.py:8:") for said in graph.remarks)
