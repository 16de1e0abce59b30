"""Answers in JSON, and the one shape of a failure."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from ragstone.errors import (
    InputError,
    NotFound,
    Overloaded,
    RagstoneError,
    Unauthenticated,
)
from ragstone.surfaces.present.failures import failure_codes, failure_json, system_failure

RETRY_SECONDS: Final = 1
_BUG: Final = {
    "code": "bug",
    "message": "a bug in Ragstone",
    "hint": "see the server's log",
    "retryable": False,
}
logger = logging.getLogger(__name__)


class JsonReply(Response):
    """A JSON object in ASCII: texts may have lone surrogates, which UTF-8 cannot represent."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """Return the object as bytes."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def reply(data: Mapping[str, object], status: int = 200) -> JsonReply:
    """Return an answer; it always says `success`."""
    return JsonReply({"success": True, **data}, status)


def failure_response(error: RagstoneError) -> JsonReply:
    """Return a failure with the status of its class."""
    status = failure_codes(error).http
    headers = {}
    if isinstance(error, Unauthenticated):
        headers["www-authenticate"] = "Bearer"
    if isinstance(error, Overloaded):
        headers["retry-after"] = f"{error.retry_after:.0f}"
    elif error.retryable:
        headers["retry-after"] = str(RETRY_SECONDS)
    return JsonReply({"success": False, "error": failure_json(error)}, status, headers)


async def answer_failure(request: Request, error: Exception) -> Response:
    """Return the answer to a failed request; an unknown exception is a bug, which is logged and not shown."""
    if isinstance(error, RagstoneError):
        return failure_response(error)
    if isinstance(error, RequestValidationError):
        return failure_response(_invalid_request(error.errors()))
    if isinstance(error, HTTPException):
        return _http_failure(request, error)
    typed_error = system_failure(error)
    if typed_error is not None:
        return failure_response(typed_error)
    if isinstance(error, RecursionError):
        return failure_response(InputError("the JSON is nested too deeply", hint="flatten it"))
    logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return JsonReply({"success": False, "error": _BUG}, 500)


def _invalid_request(problems: Sequence[Any]) -> InputError:
    """Return the first problem of a request as one sentence."""
    first = problems[0]
    if first["type"] == "json_invalid":
        reason = first.get("ctx", {}).get("error", "")
        return InputError(
            f"the body is not valid JSON at character {first['loc'][-1]}: {reason}",
            hint="send a JSON object",
        )
    if tuple(first["loc"]) == ("body",) and first["type"] != "value_error":
        return InputError(
            "the body is not a JSON object",
            hint="send one with `content-type: application/json`; /openapi.json describes it",
        )
    place = ".".join(str(part) for part in first["loc"][1:])
    where = f"{place}: " if place else ""
    sentence = first["msg"].removeprefix("Value error, ")
    return InputError(f"{where}{sentence}", hint="/openapi.json describes every request")


def _http_failure(request: Request, error: HTTPException) -> Response:
    """Return a failure that the framework found: no such route, a wrong method, a body that cannot be read."""
    cause = error.__cause__
    if isinstance(cause, RagstoneError):
        return failure_response(cause)
    if error.status_code == 404:
        return failure_response(
            NotFound("there is no such address", hint="/openapi.json lists them")
        )
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        wrong = InputError(f"the address does not take {request.method}", hint=f"use {allowed}")
        data = {**failure_json(wrong), "code": "method"}
        return JsonReply({"success": False, "error": data}, 405, error.headers)
    data = failure_json(
        InputError(str(error.detail), hint="/openapi.json describes every request")
    )
    return JsonReply({"success": False, "error": data}, error.status_code, error.headers)
