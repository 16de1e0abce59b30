"""What the router keeps: attributes of groups, and routes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone_code.evaluate import Array, CallSite, Lambda, Unknown, Value, display_text, first_known

PLACED: Final = frozenset({"prefix", "as", "name", "namespace", "domain", "controller"})
VERBS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_FIELD: Final = re.compile(r"\{(\w+):(\w+)(\??)\}")


@dataclass(frozen=True, slots=True)
class MiddlewareEntry:
    """A word of middleware and the place it is written."""

    text: str
    uri: str
    line: int


@dataclass(frozen=True, slots=True)
class RouteAttributes:
    """What a group, a registrar or an action says of its routes."""

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
    """Where prefixes, names, namespaces, domains and controllers are written."""

    def merged(self, new: RouteAttributes, *, existing_first: bool = True) -> RouteAttributes:
        """Return these with those of something inside, as Laravel's RouteGroup merges them."""
        return RouteAttributes(
            prefix=_prefix(self.prefix, new.prefix, existing_first=existing_first),
            name=new.name if self.name is None else self.name + (new.name or ""),
            namespace=_namespace(self.namespace, new.namespace),
            domain=self.domain if new.domain is None else new.domain,
            controller=self.controller if new.controller is None else new.controller,
            middleware=self.middleware + new.middleware,
            excluded=self.excluded + new.excluded,
            where={**self.where, **new.where},
            can=self.can + new.can,
            places=self.places + new.places,
        )


def _prefix(old: str | None, new: str | None, *, existing_first: bool) -> str | None:
    """Return the prefixes of two levels as one."""
    if new is None:
        return old
    parts = (old or "", new) if existing_first else (new, old or "")
    return "/".join(part.strip("/") for part in parts)


def _namespace(old: str | None, new: str | None) -> str | None:
    """Return the namespaces of two levels as one; a new one that starts at the root stands alone."""
    if new is None:
        return old
    if old is not None and not new.startswith("\\"):
        return f"{old.strip(chr(92))}\\{new.strip(chr(92))}"
    return new.strip("\\")


@dataclass(slots=True)
class LaravelRoute:
    """One route, as it is registered and changed by what is called on it."""

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
    """The entries of loops it is made in."""
    instead_of: tuple[LaravelRoute, ...] = ()
    """Routes whose place it takes under a condition only."""
    trashed: bool = False
    scoped: bool = False

    @property
    def domain(self) -> str:
        """Return the domain without its scheme."""
        return re.sub(r"https?://", "", self.attributes.domain or "")

    @property
    def identity(self) -> str:
        """Return what a later route must have to take its place."""
        return f"{'|'.join(self.methods)}{self.domain}{self.uri}"

    def set_uri(self, uri: str) -> None:
        """Take a path apart: `{post:slug}` is the parameter post, found by its slug."""
        self.binding_fields = {found[1]: found[2] for found in _FIELD.finditer(uri)}
        self.uri = _FIELD.sub(lambda found: f"{{{found[1]}{found[3]}}}", uri)

    def set_domain(self, domain: str) -> None:
        """Set the domain, which may have parameters of its own."""
        self.binding_fields |= {found[1]: found[2] for found in _FIELD.finditer(domain)}
        plain = _FIELD.sub(lambda found: f"{{{found[1]}{found[3]}}}", domain)
        self.attributes = replace(self.attributes, domain=plain)

    def prefixed(self, prefix: str) -> None:
        """Put a prefix before the path."""
        uri = f"{prefix.rstrip('/')}/{self.uri.lstrip('/')}"
        self.set_uri(uri if uri == "/" else uri.strip("/"))


@dataclass(slots=True)
class ParameterBinder:
    """A parameter that is bound by name: to a model, or by a function."""

    parameter: str
    model: str
    how: str
    site: CallSite
    closure: Value = None


def text(value: Value) -> str:
    """Return a value as the text a route would have; a setting as `config(key)`."""
    return display_text(value)


def maybe_text(value: Value) -> str | None:
    """Return a value as text, None for nothing."""
    return None if settled(value) is None else display_text(value)


def settled(value: Value) -> Value:
    """Return a value, of an unknown one that can be shown itself, else its likeliest option."""
    return value if isinstance(value, Unknown) and value.display else first_known(value)


def listed(value: Value, site: CallSite) -> tuple[MiddlewareEntry, ...]:
    """Return middleware as it is written: a word, a list of them, a closure; empty ones are left out."""
    return tuple(_listed(settled(value), site))


def _listed(value: Value, site: CallSite) -> Iterator[MiddlewareEntry]:
    """Yield the words of a value, each with its own line."""
    if isinstance(value, Array):
        for key, one in value.items.items():
            line = value.lines.get(key)
            yield from _listed(settled(one), CallSite(value.uri, line) if line and value.uri else site)
    elif isinstance(value, Lambda):
        yield MiddlewareEntry("Closure", site.uri, site.line)
    elif value is not None and (word := display_text(value)):
        yield MiddlewareEntry(word, site.uri, site.line)


def mapped(value: Value) -> dict[str, Value]:
    """Return an array by its keys as texts, nothing for what is none."""
    value = first_known(value)
    return {str(key): one for key, one in value.items.items()} if isinstance(value, Array) else {}


def texts(value: Value) -> list[str]:
    """Return a word or a list of words."""
    value = first_known(value)
    if isinstance(value, Array):
        return [display_text(one) for one in value.values]
    return [] if value is None else [display_text(value)]


def attributes_of(value: Value, site: CallSite) -> RouteAttributes:
    """Return the attributes an array of a group or an action has."""
    given = first_known(value)
    if not isinstance(given, Array):
        return RouteAttributes()
    home = given.uri or site.uri
    at = {key: CallSite(home, given.lines[key]) if key in given.lines else site for key in given.items}
    named = {str(key): settled(one) for key, one in given.items.items()}

    def word(key: str) -> str | None:
        return maybe_text(named.get(key))

    return RouteAttributes(
        prefix=word("prefix"),
        name=word("as") if "as" in named else word("name"),
        namespace=word("namespace"),
        domain=word("domain"),
        controller=word("controller") if "uses" not in named else None,
        middleware=listed(named.get("middleware"), at.get("middleware", site)),
        excluded=listed(named.get("excluded_middleware"), at.get("excluded_middleware", site)),
        where={key: text(one) for key, one in mapped(named.get("where")).items()},
        can=tuple(MiddlewareEntry(ability(one), site.uri, site.line) for one in mapped(named.get("can")).values()),
        places=tuple((at[key].uri, at[key].line) for key in given.items if key in PLACED),
    )


def ability(value: Value) -> str:
    """Return the middleware that `can` amounts to: `can:update,post`."""
    words = texts(value)
    if isinstance(value, Array) and len(value.values) > 1:
        words = [display_text(value.values[0]), *texts(value.values[1])]
    return f"can:{','.join(words)}"
