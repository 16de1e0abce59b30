"""The classes behind middleware names and groups: from the HTTP kernel, or from bootstrap/app.php."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from ragstone_code.evaluate import (
    Arguments,
    Array,
    CallSite,
    Evaluator,
    Recorder,
    Value,
    display_text,
    first_known,
)
from ragstone_code.laravel.routing.route_records import (
    read_mapping,
    read_text_mapping,
    read_texts,
)

_KERNEL: Final = "illuminate\\foundation\\http\\kernel"
_STATEFUL: Final = "Laravel\\Sanctum\\Http\\Middleware\\EnsureFrontendRequestsAreStateful"
DEFAULT_ALIASES: Final = {
    "auth": "Illuminate\\Auth\\Middleware\\Authenticate",
    "auth.basic": "Illuminate\\Auth\\Middleware\\AuthenticateWithBasicAuth",
    "auth.session": "Illuminate\\Session\\Middleware\\AuthenticateSession",
    "cache.headers": "Illuminate\\Http\\Middleware\\SetCacheHeaders",
    "can": "Illuminate\\Auth\\Middleware\\Authorize",
    "guest": "Illuminate\\Auth\\Middleware\\RedirectIfAuthenticated",
    "password.confirm": "Illuminate\\Auth\\Middleware\\RequirePassword",
    "precognitive": "Illuminate\\Foundation\\Http\\Middleware\\HandlePrecognitiveRequests",
    "signed": "Illuminate\\Routing\\Middleware\\ValidateSignature",
    "throttle": "Illuminate\\Routing\\Middleware\\ThrottleRequests",
    "verified": "Illuminate\\Auth\\Middleware\\EnsureEmailIsVerified",
}
"""Names that the framework defines in applications with a configuring bootstrap/app.php."""
DEFAULT_GROUPS: Final = {
    "web": (
        "Illuminate\\Cookie\\Middleware\\EncryptCookies",
        "Illuminate\\Cookie\\Middleware\\AddQueuedCookiesToResponse",
        "Illuminate\\Session\\Middleware\\StartSession",
        "Illuminate\\View\\Middleware\\ShareErrorsFromSession",
        "Illuminate\\Foundation\\Http\\Middleware\\ValidateCsrfToken",
        "Illuminate\\Routing\\Middleware\\SubstituteBindings",
    ),
    "api": ("Illuminate\\Routing\\Middleware\\SubstituteBindings",),
}


@dataclass(slots=True)
class MiddlewareRegistry:
    """Names and groups of middleware, each with the place that defines it."""

    aliases: dict[str, tuple[str, CallSite]] = field(default_factory=dict)
    groups: dict[str, tuple[tuple[str, ...], CallSite]] = field(default_factory=dict)
    everywhere: list[tuple[str, CallSite]] = field(default_factory=list)
    """Middleware of every request."""

    def add_aliases(self, value: Value, site: CallSite) -> None:
        """Add an array of names and classes."""
        array = first_known(value)
        if not isinstance(array, Array):
            return
        for key, element in array.items.items():
            line = array.lines.get(key, site.line)
            class_name = display_text(element).lstrip("\\")
            self.aliases[str(key)] = (class_name, replace(site, line=line))

    def change_group(
        self, how: str, group: str, words: tuple[str, ...], site: CallSite
    ) -> None:
        """Set a group, append to it, prepend to it or remove from it."""
        current, current_site = self.groups.get(group, ((), site))
        others = tuple(word for word in current if word not in words)
        changed = {
            "set": words,
            "append": current + words,
            "prepend": words + others,
            "remove": others,
        }[how]
        keeps_site = bool(current) and how != "set"
        self.groups[group] = (
            tuple(dict.fromkeys(changed)),
            current_site if keeps_site else site,
        )

    def replace_in_group(
        self, group: str, replacements: dict[str, str], site: CallSite
    ) -> None:
        """Replace middleware of a group, each at its position."""
        current, current_site = self.groups.get(group, ((), site))
        changed = tuple(replacements.get(word, word) for word in current)
        self.groups[group] = (changed, current_site)


class MiddlewareConfigurator(Recorder):
    """The `$middleware` object that bootstrap/app.php configures."""

    def __init__(self, registry: MiddlewareRegistry) -> None:
        self.registry = registry

    def on_call(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Apply one call to the registry and return this object."""
        registry = self.registry
        if name == "alias":
            registry.add_aliases(arguments.at(0, "aliases"), site)
        elif name in ("web", "api"):
            self._configure_group(name, arguments, site)
        elif name in _GROUP_CHANGES:
            words = tuple(read_texts(arguments.at(1, "middleware")))
            registry.change_group(
                _GROUP_CHANGES[name],
                display_text(arguments.at(0, "group")),
                words,
                site,
            )
        elif name == "replaceInGroup":
            replacement = {display_text(arguments.at(1)): display_text(arguments.at(2))}
            registry.replace_in_group(
                display_text(arguments.at(0)),
                replacement,
                site,
            )
        elif name in ("append", "prepend", "use"):
            words = tuple(read_texts(arguments.at(0, "middleware")))
            registry.everywhere += [(word, site) for word in words]
        elif name == "throttleApi":
            limiter = display_text(arguments.at(0, "limiter", "api"))
            registry.change_group(
                "prepend",
                "api",
                (f"throttle:{limiter}",),
                site,
            )
        elif name == "statefulApi":
            registry.change_group("prepend", "api", (_STATEFUL,), site)
        elif name == "authenticateSessions":
            registry.change_group("append", "web", ("auth.session",), site)
        return self

    def _configure_group(self, group: str, arguments: Arguments, site: CallSite) -> None:
        """Apply `web(append: …, prepend: …, remove: …, replace: …)` in the framework's order."""
        self.registry.replace_in_group(
            group,
            read_text_mapping(arguments.at(3, "replace")),
            site,
        )
        for how, position in (("remove", 2), ("prepend", 1), ("append", 0)):
            words = tuple(read_texts(arguments.at(position, how)))
            if words:
                self.registry.change_group(how, group, words, site)


_GROUP_CHANGES: Final = {
    "group": "set",
    "appendToGroup": "append",
    "prependToGroup": "prepend",
    "removeFromGroup": "remove",
}


def default_middleware() -> MiddlewareRegistry:
    """Return the names and groups that the framework itself defines."""
    site = CallSite("", 0)
    aliases = {name: (class_name, site) for name, class_name in DEFAULT_ALIASES.items()}
    groups = {name: (words, site) for name, words in DEFAULT_GROUPS.items()}
    return MiddlewareRegistry(aliases, groups)


def read_kernel(evaluator: Evaluator, names: Iterable[str]) -> MiddlewareRegistry | None:
    """Return the middleware in the properties of the first class that is an HTTP kernel; None if none is."""
    for name in names:
        ancestors = evaluator.lookup.ancestors(name)
        if any(ancestor.lower() == _KERNEL for ancestor in ancestors):
            return _read_kernel_class(evaluator, name)
    return None


def _read_kernel_class(evaluator: Evaluator, name: str) -> MiddlewareRegistry:
    """Return the middleware in the properties of a kernel."""
    registry = MiddlewareRegistry()
    for property_name in ("routeMiddleware", "middlewareAliases"):
        aliases = evaluator.property(name, property_name)
        registry.add_aliases(aliases, _property_site(evaluator, name, property_name))
    groups_site = _property_site(evaluator, name, "middlewareGroups")
    groups = read_mapping(evaluator.property(name, "middlewareGroups"))
    for group, words in groups.items():
        registry.groups[group] = (tuple(read_texts(words)), groups_site)
    site = _property_site(evaluator, name, "middleware")
    words_everywhere = read_texts(evaluator.property(name, "middleware"))
    registry.everywhere = [(word, site) for word in words_everywhere]
    return registry


def _property_site(evaluator: Evaluator, class_name: str, property_name: str) -> CallSite:
    """Return the place that declares a property."""
    declared = evaluator.lookup.property(class_name, property_name)
    if declared is None:
        return CallSite("", 0)
    uri, _, class_property = declared
    return CallSite(uri, class_property.line)
