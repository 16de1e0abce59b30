"""What the failure of a vector service says."""

from __future__ import annotations

from ragstone.vectors.service_failures import RequestGuard

PAGE = "<!DOCTYPE HTML>\n<html lang='en'><body><h1>404</h1></body></html>"


def test_a_web_page_is_not_repeated() -> None:
    error = RequestGuard("Chroma", "http://user@127.0.0.1:8000").record(ValueError(PAGE))
    assert str(error).startswith(
        "Chroma at 127.0.0.1:8000 failed: it answers with a web page, so it is another service ("
    )
