"""Habits of larger Flask applications: namespaces, guarded methods of a class, examples beside the program."""

from __future__ import annotations

from ragstone.types import Graph
from ragstone_code.flask import Flask
from tests.ragstone_code.small_world import world_of

APP = "from flask import Flask\napp = Flask(__name__, static_folder=None)\n"


def graph_of(**files: str) -> Graph:
    named = {path.replace("__", "/") + ".py": text for path, text in files.items()}
    return Flask().read(world_of(named))


def guards(graph: Graph) -> dict[str, object]:
    """Return the guards of each route."""
    return {
        node.name: node.attributes["middleware"] for node in graph.nodes if node.kind == "route"
    }


def test_the_resources_of_namespaces_are_routes() -> None:
    graph = graph_of(
        shop=APP + "from flask import Blueprint\n"
        "from flask_restx import Api\n"
        "from items import items\n"
        "bp = Blueprint('api', __name__, url_prefix='/api')\n"
        "api = Api(bp)\n"
        "api.add_namespace(items, '/things')\n"
        "own = api.namespace('stock')\n"
        "app.register_blueprint(bp)\n"
        "@own.route('/<int:id>')\n"
        "class Stock:\n"
        "    def put(self, id): ...\n"
        "@api.route('/health')\n"
        "class Health:\n"
        "    def get(self): ...\n",
        items="from flask_restx import Namespace, Resource\n"
        "items = Namespace('items')\n"
        "@items.route('', '/all')\n"
        "class Items(Resource):\n"
        "    def get(self): ...\n"
        "    def post(self): ...\n",
    )
    assert set(guards(graph)) == {
        "GET|POST api/things",
        "GET|POST api/things/all",
        "PUT api/stock/{id}",
        "GET api/health",
    }


def test_a_copy_of_flask_in_the_project_hides_no_route() -> None:
    files = {
        "src/flask/__init__.py": "from .app import Flask\nfrom .blueprints import Blueprint\n",
        "src/flask/app.py": "class Flask:\n"
        "    def __init__(self, name): self.name = name\n"
        "    def register_blueprint(self, blueprint): blueprint.register(self)\n",
        "src/flask/blueprints.py": "class Blueprint:\n"
        "    def __init__(self, name, import_name, url_prefix=None): self.name = name\n"
        "    def route(self, rule, **options): return lambda view: view\n"
        "    def register(self, app): ...\n",
        "shop/app.py": "from flask import Blueprint, Flask\n"
        "orders = Blueprint('orders', __name__, url_prefix='/orders')\n"
        "@orders.route('/<int:order_id>/pay', methods=['POST'])\n"
        "def pay(order_id): ...\n"
        "def create_app():\n"
        "    app = Flask(__name__, static_folder=None)\n"
        "    app.register_blueprint(orders)\n"
        "    return app\n",
    }
    assert set(guards(Flask().read(world_of(files)))) == {"POST orders/{order_id}/pay"}


def test_each_method_of_a_class_has_its_own_guards() -> None:
    graph = graph_of(
        shop=APP + "from flask_restx import Api, Resource\n"
        "from guards import admins_only, members\n"
        "api = Api(app)\n"
        "@api.route('/items')\n"
        "class Items(Resource):\n"
        "    @members\n"
        "    @api.doc(description='all')\n"
        "    def get(self): ...\n"
        "    @admins_only\n"
        "    def post(self): ...\n"
        "    def delete(self): ...\n",
        guards="def members(f): return f\ndef admins_only(f): return f\n",
    )
    assert guards(graph) == {
        "GET items": ["members"],
        "POST items": ["admins_only"],
        "DELETE items": [],
    }
    served = {
        link.source: link.target
        for link in graph.links
        if link.kind == "HANDLED_BY" and link.source.startswith("route:")
    }
    assert served["route:POST items"] == "method:shop.Items.post"


def test_a_guard_that_is_a_method_keeps_the_name_of_its_object() -> None:
    graph = graph_of(
        shop=APP + "from flask_httpauth import HTTPTokenAuth\n"
        "token_auth = HTTPTokenAuth()\n"
        "@app.get('/a')\n"
        "@token_auth.login_required\n"
        "def a(): ...\n"
        "@app.get('/b')\n"
        "@token_auth.login_required(role='admin')\n"
        "def b(): ...\n"
    )
    assert guards(graph) == {
        "GET a": ["token_auth.login_required"],
        "GET b": ["token_auth.login_required"],
    }


def test_an_application_in_a_folder_of_examples_is_read_if_there_is_no_other() -> None:
    example = APP + "@app.get('/a')\ndef a(): ...\n"
    assert set(guards(graph_of(examples__shop=example))) == {"GET a"}
    both = graph_of(examples__shop=example, site=APP + "@app.get('/b')\ndef b(): ...\n")
    assert set(guards(both)) == {"GET b"}
    assert both.remarks == (
        "examples: the routes and models of 1 module of examples are left out;"
        " `ragstone graph routes -C examples` makes a separate index there and lists them",
    )
    assert guards(graph_of(tests__shop=example)) == {}
