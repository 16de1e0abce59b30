"""Documents of the index as resources: `ragstone://document/<collection>/<path>`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final, TypeVar
from urllib.parse import parse_qs, quote, unquote, urlsplit

import mcp_types as types
from mcp.shared.exceptions import MCPError

from ragstone.errors import InputError, RagstoneError
from ragstone.retrieval.context.fence import reveal_hidden
from ragstone.retrieval.context.formatters import one_line
from ragstone.surfaces.mcp.session import McpSession, RequestContext
from ragstone.surfaces.present.failures import failure_codes
from ragstone.surfaces.tools.reading import DocumentLines, read_lines
from ragstone.surfaces.tools.tool import MAX_TEXT_TOKENS
from ragstone.text.counts import plural
from ragstone.types import StoredDocument

SCHEME: Final = "ragstone"
TEMPLATE: Final = "ragstone://document/{collection}/{+path}{?first_line,last_line}"
_PAGE: Final = 100
Argument = TypeVar("Argument")
Result = TypeVar("Result")
_HINT: Final = "for example ragstone://document/default/docs/a.md"


@dataclass(frozen=True, slots=True)
class ResourceHandlers:
    """Answers requests for resources."""

    find: Callable[[RequestContext], McpSession]

    async def list_resources(
        self,
        context: RequestContext,
        params: types.PaginatedRequestParams | None,
    ) -> types.ListResourcesResult:
        """Return a page of documents; the cursor is the address of the last one."""
        cursor = params.cursor if params else None
        session = self.find(context)
        documents, is_last = await _run(session, _list_page, cursor)
        resources = [_resource(document) for document in documents]
        next_cursor = None if is_last else resources[-1].uri
        return types.ListResourcesResult(resources=resources, next_cursor=next_cursor)

    async def list_templates(
        self,
        context: RequestContext,
        params: types.PaginatedRequestParams | None,
    ) -> types.ListResourceTemplatesResult:
        """Return the form of the addresses."""
        template = types.ResourceTemplate(
            name="document",
            uri_template=TEMPLATE,
            description="A document of the index, or some lines of it.",
            mime_type="text/plain",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, context: RequestContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Return the text of a document, as many lines of it as the token limit allows."""
        session = self.find(context)
        address = str(params.uri)
        lines = await _run(session, _read, address)
        contents = types.TextResourceContents(
            uri=address,
            mime_type="text/plain",
            text=reveal_hidden(lines.text),
            _meta={
                "ragstone/citation": lines.citation,
                "ragstone/totalLines": lines.total,
            },
        )
        return types.ReadResourceResult(contents=[contents])


def document_address(collection: str, uri: str) -> str:
    """Return the address of a document."""
    return f"{SCHEME}://document/{quote(collection, safe='')}/{quote(uri)}"


async def _run(
    session: McpSession, work: Callable[[McpSession, Argument], Result], argument: Argument
) -> Result:
    """Return the result of work in a thread, in its turn; a failure becomes an error of the protocol."""
    try:
        return await session.run(partial(work, session, argument))
    except RagstoneError as error:
        raise MCPError(failure_codes(error).mcp, str(error)) from error


def _list_page(session: McpSession, cursor: str | None) -> tuple[list[StoredDocument], bool]:
    """Return the documents after the cursor, and whether they are the last ones."""
    session.wait_until_ready()
    if not session.engine.exists:
        return [], True
    documents = session.engine.sources()
    if cursor is not None:
        after = _parse_address(cursor)[:2]
        page = islice(
            (each for each in documents if (each.collection, each.uri) > after), _PAGE + 1
        )
    else:
        page = islice(documents, _PAGE + 1)
    listed = list(page)
    return listed[:_PAGE], len(listed) <= _PAGE


def _resource(document: StoredDocument) -> types.Resource:
    return types.Resource(
        uri=document_address(document.collection, document.uri),
        name=one_line(document.uri),
        title=one_line(document.title) or None,
        description=f"{document.kind}, {plural(document.chunks, 'chunk')}",
        mime_type="text/plain",
    )


def _read(session: McpSession, address: str) -> DocumentLines:
    session.wait_until_ready()
    collection, path, first, last = _parse_address(address)
    return read_lines(
        session.engine,
        path,
        first=first,
        last=last,
        collection=collection,
        max_tokens=MAX_TEXT_TOKENS,
    )


def _parse_address(address: str) -> tuple[str, str, int | None, int | None]:
    """Return the collection, the path and the lines of an address; `InputError` if it is none."""
    try:
        parts = urlsplit(address)
    except ValueError as error:
        raise InputError("this is no address of a document", hint=_HINT) from error
    collection, _, path = parts.path.removeprefix("/").partition("/")
    if parts.scheme != SCHEME or parts.netloc != "document" or not path:
        raise InputError("this is no address of a document", hint=_HINT)
    lines: dict[str, int] = {}
    for name, values in parse_qs(parts.query).items():
        if name not in ("first_line", "last_line") or not values[0].isdecimal():
            raise InputError(f"{one_line(name)} is no number of a line", hint=_HINT)
        lines[name] = int(values[0][:9])
    return unquote(collection), unquote(path), lines.get("first_line"), lines.get("last_line")
