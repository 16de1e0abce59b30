"""Questions about plain code: methods named without their class, and applications that are left out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]

ERRORS = """
class NotFound(Exception):
    def describe_failure(self) -> str:
        return "not found"


class Refused(Exception):
    def describe_failure(self) -> str:
        return "refused"

    def retry_later(self) -> bool:
        return True


def show(error: NotFound) -> None:
    print(error.describe_failure())


def wait(error: Refused) -> None:
    error.retry_later()
"""
EXAMPLE = (
    "from flask import Flask\napp = Flask(__name__)\n@app.get('/hello')\ndef hello(): ...\n"
)


@pytest.fixture
def errors(project: Path) -> Path:
    (project / "errors.py").write_text(ERRORS, encoding="utf-8")
    return project


def test_a_method_is_found_without_its_class(quick: Command, errors: Path) -> None:
    ran = quick("related", "retry_later")
    assert ran.out.startswith("method errors.Refused.retry_later")
    answer = quick("retrieve", "what calls retry_later", "-k", "0").out
    assert answer.startswith("errors.Refused.retry_later is called from errors.wait")


def test_a_name_of_several_methods_lists_them(quick: Command, errors: Path) -> None:
    ran = quick("related", "describe_failure")
    assert ran.code == 2
    assert "'describe_failure' stands for 2 things" in ran.err
    assert "method:errors.NotFound.describe_failure" in ran.err
    assert "method:errors.Refused.describe_failure" in ran.err
    answer = quick("retrieve", "what calls describe_failure", "-k", "0").out
    assert "(“describe_failure” stands for errors." in answer


def test_an_unknown_name_is_still_unknown(quick: Command, errors: Path) -> None:
    assert quick("related", "NoSuch.retry_later").code == 4
    ran = quick("retrieve", "what calls nosuch_thing", "-k", "0")
    assert ran.out == "No answer for “what calls nosuch_thing”.\n"
    assert "(unknown name: nosuch_thing)" in ran.err
    assert "nothing fits well" not in ran.err


def test_a_project_without_routes_says_which_examples_were_left_out(
    quick: Command, project: Path
) -> None:
    for folder in ("examples/first", "examples/second"):
        (project / folder).mkdir(parents=True)
        (project / folder / "site.py").write_text(EXAMPLE, encoding="utf-8")
    (project / "library.py").write_text("import flask\n", encoding="utf-8")
    ran = quick("graph", "routes")
    assert ran.out == "No route is known.\n"
    assert (
        "(examples: the routes and models of 2 modules of examples are left out; "
        "`ragstone graph routes -C examples` makes a separate index there and lists them)"
    ) in ran.err
    listed = quick("graph", "routes", "-C", "examples")
    assert "hello" in listed.out
    inside = quick("graph", "routes", "-C", str(project / "examples" / "first"))
    assert "hello" in inside.out
