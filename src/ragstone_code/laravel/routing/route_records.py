"""Routes and group attributes as the router stores them, and helpers that read them from evaluated values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone_code.evaluate import (
    Array,
    CallSite,
    Lambda,
    Unknown,
    Value,
    display_text,
    first_known,
)

HTTP_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
LOCATED_ATTRIBUTES: Final = frozenset(
    {"prefix", "as", "name", "namespace", "domain", "controller"}
)
"""Group attributes whose source lines are stored with the route."""
_BOUND_PARAMETER: Final = re.compile(r"\{(\w+):(\w+)(\??)\}")
"""A parameter with its column: `{post:slug}`."""


@dataclass(frozen=True, slots=True)
class MiddlewareEntry:
    """One middleware of a route, as it is written, and the place."""

    text: str
    uri: str
    line: int


@dataclass(frozen=True, slots=True)
class RouteAttributes:
    """The attributes that a group, a registrar or an action sets for its routes."""

    prefix: str | None = None
    name: str | None = None
    namespace: str | None = None
    domain: str | None = None
    controller: str | None = None
    middleware: tuple[MiddlewareEntry, ...] = ()
    excluded: tuple[MiddlewareEntry, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)
    can: tuple[MiddlewareEntry, ...] = ()
    places: tuple[tuple[str, int], ...] = ()
    """File and line of each prefix, name, namespace, domain and controller."""

    def merged(
        self, inner: RouteAttributes, *, outer_prefix_first: bool = True
    ) -> RouteAttributes:
        """Return these attributes with those of an inner level, merged as Laravel's `RouteGroup` does."""
        return RouteAttributes(
            prefix=_merge_prefix(self.prefix, inner.prefix, outer_first=outer_prefix_first),
            name=inner.name if self.name is None else self.name + (inner.name or ""),
            namespace=_merge_namespace(self.namespace, inner.namespace),
            domain=self.domain if inner.domain is None else inner.domain,
            controller=self.controller if inner.controller is None else inner.controller,
            middleware=self.middleware + inner.middleware,
            excluded=self.excluded + inner.excluded,
            where={**self.where, **inner.where},
            can=self.can + inner.can,
            places=self.places + inner.places,
        )


def _merge_prefix(outer: str | None, inner: str | None, *, outer_first: bool) -> str | None:
    """Return the prefixes of two levels as one."""
    if inner is None:
        return outer
    parts = [outer or "", inner]
    if not outer_first:
        parts.reverse()
    return "/".join(part.strip("/") for part in parts)


def _merge_namespace(outer: str | None, inner: str | None) -> str | None:
    """Return the namespaces of two levels as one; an inner one that starts with a backslash replaces the outer."""
    if inner is None:
        return outer
    if outer is None or inner.startswith("\\"):
        return inner.strip("\\")
    return "\\".join((outer.strip("\\"), inner.strip("\\")))


@dataclass(slots=True)
class LaravelRoute:
    """A registered route; calls on it change it."""

    methods: tuple[str, ...]
    uri: str
    site: CallSite
    attributes: RouteAttributes
    action: str = "Closure"
    closure: Lambda | None = None
    wheres: dict[str, str] = field(default_factory=dict)
    binding_fields: dict[str, str | None] = field(default_factory=dict)
    defaults: dict[str, Value] = field(default_factory=dict)
    resource: str = ""
    by_framework: bool = False
    places: tuple[tuple[str, int], ...] = ()
    """File and line of the array entries of the loops that register it."""
    instead_of: tuple[LaravelRoute, ...] = ()
    """Routes that this one replaces only under a condition."""
    trashed: bool = False
    scoped: bool = False

    @property
    def domain(self) -> str:
        """Return the domain without its scheme."""
        return re.sub(r"https?://", "", self.attributes.domain or "")

    @property
    def identity(self) -> str:
        """Return the methods, domain and path; a later route with the same identity replaces this one."""
        return f"{'|'.join(self.methods)}{self.domain}{self.uri}"

    def set_uri(self, uri: str) -> None:
        """Set the path; `{post:slug}` becomes the parameter `post` that is bound by the column `slug`."""
        self.binding_fields = dict(_bound_columns(uri))
        self.uri = _without_columns(uri)

    def set_domain(self, domain: str) -> None:
        """Set the domain, which can have bound parameters too."""
        self.binding_fields.update(_bound_columns(domain))
        self.attributes = replace(self.attributes, domain=_without_columns(domain))

    def add_prefix(self, prefix: str) -> None:
        """Put a prefix in front of the path."""
        uri = f"{prefix.rstrip('/')}/{self.uri.lstrip('/')}"
        self.set_uri(uri if uri == "/" else uri.strip("/"))


def _bound_columns(uri: str) -> Iterator[tuple[str, str]]:
    """Yield the parameters of a path that name a column, with the column."""
    for match in _BOUND_PARAMETER.finditer(uri):
        yield match[1], match[2]


def _without_columns(uri: str) -> str:
    """Return a path without the columns of its parameters."""
    return _BOUND_PARAMETER.sub(r"{\1\3}", uri)


@dataclass(slots=True)
class ParameterBinder:
    """An explicit binding of a route parameter, to a model or by a closure."""

    parameter: str
    model: str
    how: str
    site: CallSite
    closure: Value = None


def known_or_displayable(value: Value) -> Value:
    """Return a value; an unknown one stays unknown if it has a display text, else its first option counts."""
    if isinstance(value, Unknown) and value.display:
        return value
    return first_known(value)


def optional_text(value: Value) -> str | None:
    """Return a value as text; None if it is null."""
    return None if known_or_displayable(value) is None else display_text(value)


def read_middleware(value: Value, site: CallSite) -> tuple[MiddlewareEntry, ...]:
    """Return the middleware of a string, a list or a closure, each with its line; empty strings are dropped."""
    return tuple(_middleware_entries(known_or_displayable(value), site))


def _middleware_entries(value: Value, site: CallSite) -> Iterator[MiddlewareEntry]:
    """Yield the middleware of a value."""
    if isinstance(value, Array):
        for key, element in value.items.items():
            line = value.lines.get(key)
            element_site = CallSite(value.uri, line) if line and value.uri else site
            yield from _middleware_entries(known_or_displayable(element), element_site)
    elif isinstance(value, Lambda):
        yield MiddlewareEntry("Closure", site.uri, site.line)
    elif value is not None:
        text = display_text(value)
        if text:
            yield MiddlewareEntry(text, site.uri, site.line)


def read_mapping(value: Value) -> dict[str, Value]:
    """Return the entries of an array by their keys as text; empty for other values."""
    value = first_known(value)
    if not isinstance(value, Array):
        return {}
    return {str(key): element for key, element in value.items.items()}


def read_text_mapping(value: Value) -> dict[str, str]:
    """Return the entries of an array as text; empty for other values."""
    return {key: display_text(element) for key, element in read_mapping(value).items()}


def read_texts(value: Value) -> list[str]:
    """Return the elements of an array as text; any other value counts as a list of one."""
    value = first_known(value)
    if isinstance(value, Array):
        return [display_text(element) for element in value.values]
    return [] if value is None else [display_text(value)]


def read_attributes(value: Value, site: CallSite) -> RouteAttributes:
    """Return the attributes in the array of a group or an action."""
    array = first_known(value)
    if not isinstance(array, Array):
        return RouteAttributes()
    values = {str(key): known_or_displayable(element) for key, element in array.items.items()}
    texts = {
        key: optional_text(element)
        for key, element in values.items()
        if key in LOCATED_ATTRIBUTES
    }
    sites = _entry_sites(array, site)
    abilities = read_mapping(values.get("can")).values()
    return RouteAttributes(
        prefix=texts.get("prefix"),
        name=texts["as"] if "as" in texts else texts.get("name"),
        namespace=texts.get("namespace"),
        domain=texts.get("domain"),
        controller=None if "uses" in values else texts.get("controller"),
        middleware=read_middleware(values.get("middleware"), sites.get("middleware", site)),
        excluded=read_middleware(
            values.get("excluded_middleware"), sites.get("excluded_middleware", site)
        ),
        where=read_text_mapping(values.get("where")),
        can=tuple(
            MiddlewareEntry(can_middleware(ability), site.uri, site.line)
            for ability in abilities
        ),
        places=tuple(
            (sites[key].uri, sites[key].line) for key in values if key in LOCATED_ATTRIBUTES
        ),
    )


def _entry_sites(array: Array, site: CallSite) -> dict[str, CallSite]:
    """Return the place of each entry of an array; `site` if its line is not known."""
    uri = array.uri or site.uri
    sites: dict[str, CallSite] = {}
    for key in array.items:
        line = array.lines.get(key)
        sites[str(key)] = site if line is None else CallSite(uri, line)
    return sites


def can_middleware(value: Value) -> str:
    """Return the middleware of `can`: `can:update,post`."""
    words = read_texts(value)
    if isinstance(value, Array) and len(value.values) > 1:
        words = [display_text(value.values[0]), *read_texts(value.values[1])]
    return f"can:{','.join(words)}"
