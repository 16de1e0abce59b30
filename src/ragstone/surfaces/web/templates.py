"""The templates: text is always escaped, and a name that is missing raises an error."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from ragstone import __version__
from ragstone.surfaces.web import formats
from ragstone.surfaces.web.addresses import (
    collection_change_path,
    collection_path,
    document_change_path,
    document_path,
    passage_path,
    picture_path,
    quote_uri,
    session_change_path,
    session_path,
)
from ragstone.surfaces.web.static_files import static_url
from ragstone.text.counts import plural
from ragstone.types.documents import KNOWN_KINDS


@cache
def environment() -> Environment:
    """Return the one environment of all templates."""
    templates = Environment(
        loader=PackageLoader("ragstone.surfaces.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(
        number=formats.format_number,
        size=formats.format_size,
        percent=formats.format_percent,
        milliseconds=formats.format_milliseconds,
        ago=formats.format_ago,
        duration=formats.format_duration,
        moment=formats.format_moment,
        sentence=formats.format_sentence,
    )
    templates.globals.update(
        static=static_url,
        plural=plural,
        collection_path=collection_path,
        document_path=document_path,
        passage_path=passage_path,
        picture_path=picture_path,
        quote_uri=quote_uri,
        document_change_path=document_change_path,
        session_path=session_path,
        session_change_path=session_change_path,
        collection_change_path=collection_change_path,
        known_kinds=KNOWN_KINDS,
        version=__version__,
    )
    return templates


def render_template(name: str, **values: object) -> bytes:
    """Return a template with its values. A text may have lone surrogates, which become question marks."""
    text = environment().get_template(name).render(**values)
    return text.encode("utf-8", "replace")
