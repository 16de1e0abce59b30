"""Relations of Python files, from written types and imports."""

from __future__ import annotations

from tests.code.small_projects import resolved

SHOP = {
    "shop/__init__.py": "from .models import Order as Order\nfrom . import models\nfrom .tools import *\n",
    "shop/models.py": """
        from __future__ import annotations
        from typing import Optional
        from .tools import audit, Clock

        class Base:
            def save(self) -> None: ...
            def copy(self) -> Self: ...

        class Order(Base):
            clock: Clock
            lines: list[Line]

            def __init__(self, customer: Optional["Customer"] = None) -> None:
                super().save()
                self.customer = customer
                self.log = audit()

            @property
            def owner(self) -> Customer:
                return self.customer

            @classmethod
            def make(cls) -> Order:
                return cls()

            def total(self):
                self.save()
                self.clock.now()
                self.customer.greet()
                self.owner.greet()
                self.log.write()
                self.lines.sort()

        class Line: ...

        class Customer:
            def greet(self): ...
        """,
    "shop/tools.py": """
        class Clock:
            def now(self): ...

        class Log:
            def write(self): ...

        def audit() -> Log: ...
        """,
}


def test_self_fields_properties_and_parents_lead_to_methods() -> None:
    project = resolved(SHOP)
    assert project.links("EXTENDS") == {("class:shop.models.Order", "class:shop.models.Base")}
    assert project.calls_of("method:shop.models.Order.total") == {
        "method:shop.models.Base.save",
        "method:shop.tools.Clock.now",
        "method:shop.models.Customer.greet",
        "method:shop.tools.Log.write",
    }
    assert project.calls_of("method:shop.models.Order.__init__") == {
        "method:shop.models.Base.save",
        "function:shop.tools.audit",
    }
    assert project.reasons("method:shop.models.Order.total") == {}, "lists are Python's own"


def test_imports_of_every_form_are_followed() -> None:
    project = resolved(
        SHOP
        | {
            "app.py": """
                import shop
                import shop.tools
                import shop.models as m
                from shop import Order, Clock, models
                from elsewhere import Thing

                shop.Order.make().total()
                shop.tools.audit().write()
                m.Line()
                models.Customer().greet()
                Clock().now()
                made = Order()

                def run(thing: Thing, order: "Order | None", clock):
                    order.copy().total()
                    made.save()
                    thing.go()
                    clock.now()
                    made = 1
                    len([])
                """
        }
    )
    assert project.calls_of("file:app.py") == {
        "method:shop.models.Order.make",
        "method:shop.models.Order.total",
        "method:shop.models.Order.__init__",
        "function:shop.tools.audit",
        "method:shop.tools.Log.write",
        "class:shop.models.Line",
        "class:shop.models.Customer",
        "method:shop.models.Customer.greet",
        "class:shop.tools.Clock",
        "method:shop.tools.Clock.now",
    }
    assert project.calls_of("function:app.run") == {
        "method:shop.models.Base.copy",
        "method:shop.models.Order.total",
    }
    assert project.reasons("function:app.run") == {
        "thing go": "not in this project",
        "clock now": "the type of clock is not written",
        "made save": "the type of made is not written",
    }


def test_a_folder_without_init_is_an_import_root() -> None:
    files = {f"backend/{uri}": text for uri, text in SHOP.items()}
    project = resolved(
        files
        | {
            "backend/run.py": "from shop.tools import Clock\nClock().now()\nimport json\njson.loads('')\n"
        }
    )
    assert project.calls_of("file:backend/run.py") == {
        "class:backend.shop.tools.Clock",
        "method:backend.shop.tools.Clock.now",
    }


def test_a_package_named_src_is_imported_by_that_name() -> None:
    project = resolved(
        {
            "src/__init__.py": "",
            "src/store.py": "def load():\n    pass\n",
            "src/main.py": "from src.store import load\nimport src.store\n\ndef run():\n    load()\n    src.store.load()\n",
        }
    )
    assert project.calls_of("function:main.run") == {"function:store.load"}
    assert project.reasons("function:main.run") == {}


def test_a_name_that_gets_its_own_result_many_times_ends() -> None:
    steps = "".join(f"    text = text.step_{number}()\n" for number in range(60))
    project = resolved({"app.py": f"def run(text):\n{steps}    return text\n"})
    assert project.calls_of("function:app.run") == set()


def test_a_module_of_the_standard_library_is_not_a_module_of_the_project() -> None:
    project = resolved(
        {"pkg/a.py": "import json\njson.dump()\n", "pkg/json.py": "def dump(): ...\n"}
    )
    assert project.links() == set()


def test_methods_with_the_same_name_in_unrelated_classes_are_not_linked() -> None:
    project = resolved(
        {
            "a.py": "class Song:\n    def play(self): ...\n",
            "b.py": (
                "class Game:\n    def play(self): ...\n\ndef start(it, *others):\n    it.play()\n    others[0].play()\n"
            ),
            "c.py": "from a import Song\n\ndef start(song):\n    for song in song:\n        song.play()\n",
        }
    )
    assert project.links() == set()
    assert {(row.receiver, row.reason) for row in project.graph.unresolved} == {
        ("it", "the type of it is not written"),
        ("others[0]", "the type of others[0] is not written"),
        ("song", "the type of song is not written"),
    }


def test_a_name_with_two_types_is_linked_to_neither() -> None:
    text = """
        class A:
            def go(self): ...
        class B:
            def go(self): ...
        def run(flag):
            if flag:
                it = A()
            else:
                it = B()
            it.go()
        """
    project = resolved({"m.py": text})
    assert project.calls_of("function:m.run") == {"class:m.A", "class:m.B"}
    assert project.reasons("function:m.run") == {"it go": "it has several types"}


def test_a_decorator_is_called_by_the_code_around_the_function() -> None:
    project = resolved(
        {"m.py": "def wraps(f): ...\n\n@wraps(1)\ndef run(wraps):\n    wraps()\n"}
    )
    assert project.links() == {("file:m.py", "function:m.wraps")}
    assert project.reasons("function:m.run") == {
        "wraps": "wraps is a name here, and what it calls is not written"
    }


def test_a_decorator_without_brackets_is_called_at_its_line() -> None:
    text = """
        import tools
        from tools import Kept, trace
        @trace
        def run(trace): ...
        @tools.trace
        async def other(): ...
        @Kept
        class Shop:
            @property
            def price(self): ...
            @price.setter
            @trace
            def price(self, value): ...
            @staticmethod
            def sell():
                @trace
                def inner(): ...
        """
    tools = "def trace(f): ...\nclass Kept:\n    def __init__(self, f): ...\n"
    project = resolved({"tools.py": tools, "m.py": text})
    calls = [
        (link.source, link.target, link.line)
        for link in project.graph.links
        if link.kind == "CALLS"
    ]
    trace = "function:tools.trace"
    assert calls == [
        ("file:m.py", trace, 4),
        ("file:m.py", trace, 6),
        ("file:m.py", "method:tools.Kept.__init__", 8),
        ("class:m.Shop", trace, 13),
        ("method:m.Shop.sell", trace, 17),
    ]
    assert project.graph.unresolved == ()


def test_an_async_result_is_followed_only_if_it_is_awaited() -> None:
    text = """
        class Reply:
            def text(self): ...
        async def fetch() -> Reply: ...
        async def run():
            (await fetch()).text()
            fetch().text()
        """
    project = resolved({"m.py": text})
    rows = [link.line for link in project.graph.links if link.target == "method:m.Reply.text"]
    assert rows == [6]


def test_modules_that_import_each_other_end() -> None:
    project = resolved(
        {
            "p/__init__.py": "from .a import x\nfrom .b import *\n",
            "p/a.py": "from .b import x\n",
            "p/b.py": "from .a import x\nfrom p import *\nx()\n",
        }
    )
    assert project.links() == set()
