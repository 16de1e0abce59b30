from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragstone.types import Graph, Link, Node
from ragstone_code.django import Django
from tests.ragstone_code.projects import files, run_script, unpacked
from tests.ragstone_code.small_world import world_of

ROUTES = """
import importlib, json, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "{settings}"
import django
django.setup()
from django.urls import get_resolver, URLResolver

def full_name(view):
    view = getattr(view, "view_class", None) or getattr(view, "cls", None) or view
    while hasattr(view, "__wrapped__"):
        view = view.__wrapped__
        view = getattr(view, "view_class", None) or getattr(view, "cls", None) or view
    return f"{{view.__module__}}.{{view.__name__}}"

found = []
def walk(patterns, before, names):
    for entry in patterns:
        pattern = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            walk(entry.url_patterns, pattern, names + ([entry.namespace] if entry.namespace else []))
        else:
            name = ":".join([*names, entry.name]) if entry.name else None
            actions = getattr(entry.callback, "actions", None)
            found.append([pattern, name, full_name(entry.callback), actions])
walk(get_resolver().url_patterns, "", [])
json.dump(found, sys.stdout)
"""
SCHEMA = """
import json, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "{settings}"
import django
django.setup()
from django.core.management import call_command
from django.db import connection
call_command("migrate", verbosity=0, run_syncdb=True)
found = {{}}
with connection.cursor() as cursor:
    for table in connection.introspection.table_names(cursor):
        columns = connection.introspection.get_table_description(cursor, table)
        key = connection.introspection.get_primary_key_columns(cursor, table)
        related = connection.introspection.get_relations(cursor, table)
        found[table] = {{
            "columns": {{column.name: bool(column.null_ok) and column.name not in key for column in columns}},
            "key": key,
            "related": sorted(f"{{name}}->{{there[1]}}.{{there[0]}}" for name, there in related.items()),
        }}
json.dump(found, sys.stdout)
"""
PROJECTS = {"django_shop": "site_shop.settings.dev", "django_api": "config.settings"}


def graph_of(name: str) -> Graph:
    return Django().read(world_of(files(name)))


def routes(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if node.kind == "route"]


def named(graph: Graph, name: str) -> Node:
    return next(node for node in routes(graph) if node.attributes["name"] == name)


def links(graph: Graph, kind: str, source: str = "") -> list[Link]:
    return [link for link in graph.links if link.kind == kind and source in link.source]


@pytest.fixture(scope="module")
def shop() -> Graph:
    return graph_of("django_shop")


@pytest.fixture(scope="module")
def api() -> Graph:
    return graph_of("django_api")


def route_tuples(graph: Graph) -> set[tuple[str, str | None, str]]:
    tuples = set()
    for node in routes(graph):
        action = str(node.attributes["action"])
        if node.attributes["method"] and node.attributes["controller"]:
            action = str(node.attributes["controller"])
        name = node.attributes["name"]
        tuples.add(
            (
                str(node.attributes["pattern"]).replace("{language}/", "en/"),
                str(name) if name else None,
                action,
            )
        )
    return tuples


@pytest.mark.parametrize("name", PROJECTS)
def test_routes_match_djangos_resolver(name: str, tmp_path: Path) -> None:
    script = ROUTES.format(settings=PROJECTS[name])
    expected = run_script(script, unpacked(name, tmp_path), "django", "rest_framework")
    theirs = {
        (pattern, route, view)
        for pattern, route, view, _ in expected
        if not pattern.startswith("admin/")  # one route represents them
        and "format" not in pattern  # the same routes with a format suffix
        and "rest_framework.urls" not in view
        and not view.startswith("django.views.static")  # static files in debug mode
        and not pattern.startswith("api/log")  # URLs of an external package
    }
    mine = {
        route for route in route_tuples(graph_of(name)) if not route[0].startswith("admin/")
    }
    spelled = {
        (
            pattern,
            route,
            view.replace(
                "django.views.generic.TemplateView", "django.views.generic.base.TemplateView"
            ),
        )
        for pattern, route, view in mine
    }
    assert spelled == theirs


def test_view_set_actions_match_the_router(api: Graph, tmp_path: Path) -> None:
    script = ROUTES.format(settings="config.settings")
    expected = run_script(script, unpacked("django_api", tmp_path), "django", "rest_framework")
    theirs = {
        (route, verb.upper(), action)
        for pattern, route, _, actions in expected
        if actions and "format" not in pattern
        for verb, action in actions.items()
    }
    mine = {
        (node.attributes["name"], verb, node.attributes["method"])
        for node in routes(api)
        if node.attributes["method"] and "api-root" not in str(node.attributes["name"])
        for verb in as_list(node.attributes["methods"])
    }
    assert mine == theirs


def as_list(value: Any) -> list[Any]:  # noqa: ANN401 attributes hold any JSON value
    assert isinstance(value, list)
    return value


@pytest.mark.parametrize("name", PROJECTS)
def test_tables_match_the_migrated_database(name: str, tmp_path: Path) -> None:
    expected = run_script(
        SCHEMA.format(settings=PROJECTS[name]),
        unpacked(name, tmp_path),
        "django",
        "rest_framework",
    )
    outside = ("django_", "auth_", "sqlite_")
    theirs = {
        table: description
        for table, description in expected.items()
        if not table.startswith(outside)
    }
    mine = {}
    for node in graph_of(name).nodes:
        if (
            node.kind != "table"
            or node.attributes.get("external")
            or node.attributes["dropped"]
        ):
            continue
        columns = as_list(node.attributes["columns"])
        mine[node.name] = {
            "columns": {column["name"]: column["nullable"] for column in columns},
            "key": [column["name"] for column in columns if column.get("primary")],
            "related": sorted(as_list(node.attributes["foreign_keys"])),
        }
    if "store_line" in mine:  # added by SQL, which only gives a remark
        assert "amount" not in mine["store_line"]["columns"]
        theirs["store_line"]["columns"].pop("amount")
    assert mine == theirs


def test_guards_are_listed_in_the_order_of_their_checks(shop: Graph) -> None:
    route = named(shop, "shop:order-detail")
    assert route.attributes["middleware"] == [
        "login_required",
        "permission_required:store.view_order",
    ]
    guards = links(shop, "GUARDED_BY", route.key)
    assert [(link.target.rpartition(".")[2], link.order) for link in guards] == [
        ("login_required", 0),
        ("permission_required", 1),
    ]
    text = files("django_shop")["shop/views.py"].splitlines()
    assert [text[link.line - 1].strip()[:17] for link in guards] == [
        "@login_required",
        "@permission_requi",
    ]
    assert named(shop, "shop:order-create").attributes["middleware"] == [
        "LoginRequiredMixin",
        "PermissionRequiredMixin:store.add_order",
    ]
    hook = next(
        node for node in routes(shop) if str(node.attributes["pattern"]) == "shop/hooks/"
    )
    assert hook.attributes["middleware"] == ["login_required", "csrf_exempt"]


def test_permissions_come_from_the_action_the_view_or_the_settings(api: Graph) -> None:
    lend = next(node for node in routes(api) if node.attributes["name"] == "v1:book-lend-out")
    assert lend.attributes["middleware"] == ["IsAdminUser"]
    assert lend.key == "route:POST api/v1/books/{slug}/lend/"
    detail = [node for node in routes(api) if node.attributes["name"] == "v1:book-detail"]
    assert {str(node.attributes["middleware"]) for node in detail} == {
        "['IsAuthenticatedOrReadOnly']"
    }
    assert named(api, "loan-list").attributes["middleware"] == ["IsAuthenticated"]
    assert named(api, "search").attributes["middleware"] == []


def test_views_are_linked_to_models_forms_and_tables(shop: Graph, api: Graph) -> None:
    created = {
        link.target for link in links(shop, "VALIDATED_BY", "class:shop.views.OrderCreate")
    }
    assert created == {"class:shop.forms.OrderForm"}
    used = {link.target for link in links(shop, "USES_MODEL", "function:shop.views.order")}
    assert used == {"class:shop.models.Order"}
    assert {
        link.target for link in links(shop, "USES_MODEL", "class:shop.views.ProductDetail")
    } == {"class:shop.models.Product"}
    maps = {
        (link.source, link.target, link.attributes["how"]) for link in links(shop, "MAPS_TO")
    }
    assert ("class:shop.models.Category", "table:shop_tree", "explicit") in maps
    assert ("class:shop.models.OpenOrder", "table:store_order", "proxy") in maps
    assert ("class:shop.models.Product", "table:store_product", "convention") in maps
    assert "class:shop.models.Dated" not in {source for source, _, _ in maps}
    returned = {
        link.target
        for link in links(api, "RETURNS", "method:library.views.BookViewSet.lend_out")
    }
    assert returned == {"class:library.serializers.BookSerializer"}


def test_relations_have_a_target_and_a_pivot_model(shop: Graph) -> None:
    relations = {
        (link.source.rpartition(".")[2], link.attributes["name"]): (
            link.target,
            link.attributes["type"],
        )
        for link in links(shop, "RELATES")
    }
    assert relations["Order", "customer"] == ("class:accounts.models.User", "foreign_key")
    assert relations["Order", "products"] == ("class:shop.models.Product", "many_to_many")
    assert relations["Category", "parent"] == ("class:shop.models.Category", "foreign_key")
    assert relations["Line", "product"] == ("class:shop.models.Product", "foreign_key")
    assert relations["Shelf", "below"] == ("class:stock.models.Shelf", "one_to_one")
    through = next(
        link for link in links(shop, "RELATES") if link.attributes["name"] == "products"
    )
    assert through.attributes["through"] == "store.line"


def test_migrations_are_linked_to_the_tables_they_change(shop: Graph) -> None:
    touching = {
        (link.kind, link.source) for link in shop.links if link.target == "table:shop_tree"
    }
    assert ("CREATES", "migration:store.0001_initial") in touching
    assert ("RENAMES", "migration:store.0003_changes") in touching
    assert ("ALTERS", "migration:store.0003_changes") in touching
    table = next(node for node in shop.nodes if node.key == "table:shop_tree")
    assert table.attributes["former_names"] == ["store_section", "store_category"]
    assert any(node.key == "table:store_leaflet#store.0001_initial" for node in shop.nodes)
    replaced = next(node for node in shop.nodes if node.key == "migration:stock.0001_first")
    assert replaced.attributes["replaced_by"] == "stock.0001_squashed_0002_second"


def test_signals_commands_and_admin_classes_are_linked_to_models(shop: Graph) -> None:
    heard = {
        (link.source, link.target, link.attributes["sender"]) for link in links(shop, "LISTENS")
    }
    post_save = "event:django.db.models.signals.post_save"
    assert ("function:shop.signals.count_order", post_save, "shop.models.Order") in heard
    post_delete = "event:django.db.models.signals.post_delete"
    assert ("function:shop.signals.forget", post_delete, "shop.models.Order") in heard
    assert ("function:shop.signals.thank", "event:shop.signals.order_paid", None) in heard
    assert [(link.source, link.target) for link in links(shop, "FIRES")] == [
        ("function:shop.signals.pay", "event:shop.signals.order_paid")
    ]
    watched = {link.target for link in links(shop, "OBSERVED_BY", "class:shop.models.Order")}
    assert watched == {"function:shop.signals.count_order", "function:shop.signals.forget"}
    admins = {
        link.source: link.target for link in links(shop, "USES_MODEL", "class:shop.admin")
    }
    assert admins == {
        "class:shop.admin.ProductAdmin": "class:shop.models.Product",
        "class:shop.admin.OrderAdmin": "class:shop.models.Order",
    }
    command = next(node for node in shop.nodes if node.kind == "command")
    assert command.attributes["command"] == "close_orders"
    assert links(shop, "USES_MODEL", command.key)


def test_conditional_routes_are_marked(shop: Graph) -> None:
    assert named(shop, "debug-status").attributes["conditional"] is True
    assert named(shop, "legal:terms").attributes["conditional"] is False
    assert any("admin" in remark for remark in shop.remarks)
    assert any(
        "SQL that is not followed: ALTER TABLE store_line" in remark for remark in shop.remarks
    )


def test_every_link_has_a_source_line(shop: Graph, api: Graph) -> None:
    for graph, name in ((shop, "django_shop"), (api, "django_api")):
        texts = files(name)
        for link in graph.links:
            assert link.uri in texts, link
            assert 0 <= link.line <= len(texts[link.uri].splitlines()), link


def test_celery_tasks_are_jobs_that_delay_dispatches() -> None:
    texts = {
        "manage.py": 'import os\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "conf")\n',
        "conf.py": 'ROOT_URLCONF = "urls"\nINSTALLED_APPS = ["mail"]\n',
        "urls.py": "from django.urls import path\nfrom mail.views import write\nurlpatterns = [path('w', write)]\n",
        "mail/__init__.py": "",
        "mail/tasks.py": (
            "from celery import Celery, shared_task\napp = Celery('x')\n\n@shared_task\ndef post(a): ...\n\n"
            "@app.task(bind=True)\ndef sort(self): ...\n\ndef delay(): ...\n"
        ),
        "mail/views.py": (
            "from mail.tasks import post, sort\nfrom mail import tasks\n\ndef write(request):\n    post.delay(1)\n"
            "    tasks.sort.apply_async()\n    unknown.delay()\n"
        ),
    }
    graph = Django().read(world_of(texts))
    assert {(link.source, link.target, link.line) for link in links(graph, "DISPATCHES")} == {
        ("function:mail.views.write", "function:mail.tasks.post", 5),
        ("function:mail.views.write", "function:mail.tasks.sort", 6),
    }
    assert {node.key for node in graph.nodes if node.kind == "job"} == {
        "function:mail.tasks.post",
        "function:mail.tasks.sort",
    }
