"""Classes in FastAPI applications: handlers that are methods, and routers with dependencies of their own."""

from __future__ import annotations

from ragstone_code.fastapi import FastAPI
from tests.ragstone_code.small_world import world_of

PARTS = """
from fastapi import APIRouter, Depends

def current_user(): ...
def admin(): ...
def language(): ...

class AdminRouter(APIRouter):
    def __init__(self, prefix="", **kwargs):
        super().__init__(prefix=prefix, dependencies=[Depends(admin)], **kwargs)

class Base:
    user = Depends(current_user)

def controller(router):
    def wrap(cls):
        return cls
    return wrap
"""
APP = """
from fastapi import Depends, FastAPI
from parts import AdminRouter, APIRouter, Base, controller, language

app = FastAPI()
items = APIRouter(prefix="/items")
backups = AdminRouter(prefix="/backups")

@controller(items)
class Items(Base):
    lang: str = Depends(language)

    @items.get("/")
    def list_items(self): ...

@backups.post("/")
def create_backup(): ...

app.include_router(items)
app.include_router(backups)
"""


def test_dependencies_of_a_class_and_of_a_router_class_guard_the_routes() -> None:
    graph = FastAPI().read(world_of({"parts.py": PARTS, "main.py": APP}))
    guards = {
        node.attributes["uri"]: node.attributes["middleware"]
        for node in graph.nodes
        if node.kind == "route"
    }
    assert guards["items/"] == ["current_user", "language"]
    assert guards["backups/"] == ["admin"]
