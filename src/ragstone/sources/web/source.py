"""Web pages as a source: stored pages are fetched again, and a new page is fetched once."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from ragstone.errors import AccessError, InputError, ReadError
from ragstone.sources.web.client import NetworkPolicy
from ragstone.sources.web.fetch import FetchedPage, FetchRules, Validators, parse_allowed_hosts
from ragstone.sources.web.pages import (
    WEB,
    PageVisitor,
    describe_status,
    file_name,
    page_bytes,
    title_from_url,
)
from ragstone.sources.web.urls import parse_url
from ragstone.types import Item, LoadedItem, StoredDocument

if TYPE_CHECKING:
    from ragstone.config.sections import WebSettings

_GONE: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
_VALIDATORS: Final = ("etag", "last_modified", "url")
_NO_TEXT_HINT: Final = "pages that a script fills in a browser cannot be read"


def web_rules(settings: WebSettings) -> FetchRules:
    """Return the rules for fetching; raise `AccessError` if it is switched off."""
    if settings.enabled is False:
        raise AccessError(
            "fetching pages is switched off (web.enabled)",
            hint="save the page and add the file",
        )
    network = NetworkPolicy(allow=parse_allowed_hosts(settings.allow))
    return FetchRules(network, max_bytes=settings.max_bytes, seconds=float(settings.seconds))


class NewPage:
    """One page that a user named, fetched now; earlier copies of it under other addresses are removed."""

    name = WEB

    def __init__(
        self, url: str, rules: FetchRules, clock: Callable[[], float] = time.time
    ) -> None:
        """Fetch the page; raise `ReadError` if it does not exist."""
        self.address = parse_url(url).text
        self._page = PageVisitor(rules).visit_existing(self.address)
        self._clock = clock
        self.scope: list[str] = [self._page.url.text]

    def replace_earlier(self, uris: Iterable[str]) -> None:
        """Remove these documents too: copies of the same page under other addresses."""
        self.scope += uris

    def scan(self) -> Iterator[Item]:
        """Yield the page."""
        yield Item(self._page.url.text, None)

    def load(self, item: Item) -> LoadedItem:
        """Return the page's content."""
        return _loaded_page(self._page, self.address, self._clock())

    def covers(self, uri: str) -> bool:
        """Return whether a document is an earlier copy of the page."""
        return uri in self.scope


class StoredPages:
    """All stored pages of a collection. Each server says whether its page changed."""

    name = WEB
    scope = None

    def __init__(
        self,
        rules: FetchRules,
        list_stored: Callable[[], Iterable[StoredDocument]],
        is_current: Callable[[str], bool],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take a list of stored documents; `is_current` says if a page was stored with the present recipe."""
        self._visitor = PageVisitor(rules)
        self._list_stored = list_stored
        self._is_current = is_current
        self._clock = clock
        self._stored: dict[str, StoredDocument] = {}

    def scan(self) -> Iterator[Item]:
        """Yield every stored page."""
        self._stored = {
            document.uri: document for document in self._list_stored() if document.source == WEB
        }
        for uri in self._stored:
            yield Item(uri, None)

    def load(self, item: Item) -> LoadedItem:
        """Fetch a page again; raise `ReadError` if that fails, so that the stored text stays."""
        try:
            return self._fetch(self._stored[item.uri])
        except (AccessError, InputError) as error:
            raise ReadError(error.message, hint=error.hint) from error

    def covers(self, uri: str) -> bool:
        """Return whether a document was listed by the last scan."""
        return uri in self._stored

    def _fetch(self, stored: StoredDocument) -> LoadedItem:
        address = str(stored.metadata.get("url") or stored.uri)
        is_current = self._is_current(stored.uri)
        validators = _validators(stored) if is_current else None
        page = self._visitor.visit(address, validators)
        if page.status == HTTPStatus.NOT_MODIFIED and is_current:
            return LoadedItem(state="unchanged")
        if page.status in _GONE:
            return LoadedItem(
                state="gone", remark=f"gone, removed: {describe_status(page.status)}"
            )
        if page.status != HTTPStatus.OK:
            raise ReadError(f"{describe_status(page.status)}; what was stored stays")
        if (
            page.url.text != stored.uri
            and address == stored.uri
            and not page.has_moved_permanently
        ):
            # A login page or an outage: the way to another address is new and temporary.
            raise ReadError(f"it leads to {page.url.text} for now; what was stored stays")
        return _loaded_page(page, address, self._clock(), stored)


def _loaded_page(
    page: FetchedPage, address: str, now: float, stored: StoredDocument | None = None
) -> LoadedItem:
    facts = {
        "url": address,
        "fetched_at": datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds"),
        "content_type": page.media_type,
        "content_hash": hashlib.sha256(page.body).hexdigest(),
        "etag": page.etag,
        "last_modified": page.last_modified,
    }
    metadata = {key: value for key, value in facts.items() if value}
    has_new_validators = stored is None or any(
        metadata.get(key) != stored.metadata.get(key) for key in _VALIDATORS
    )
    return LoadedItem(
        data=page_bytes(page),
        file_name=file_name(page),
        uri=page.url.text,
        title=title_from_url(page.url),
        metadata=metadata,
        must_store=has_new_validators,
        no_text_hint=_NO_TEXT_HINT,
    )


def _validators(stored: StoredDocument) -> Validators:
    return Validators(
        stored.uri,
        etag=str(stored.metadata.get("etag", "")),
        last_modified=str(stored.metadata.get("last_modified", "")),
    )
