"""Which classes stand behind names of middleware: the kernel's arrays, or what bootstrap/app.php says."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from ragstone_code.evaluate import Arguments, Array, CallSite, Evaluator, Recorder, Value, first_known
from ragstone_code.laravel.routing.records import mapped, text, texts

_KERNEL: Final = "illuminate\\foundation\\http\\kernel"
_A: Final = "Illuminate\\Auth\\Middleware\\"
ALIASES: Final = {
    "auth": f"{_A}Authenticate", "auth.basic": f"{_A}AuthenticateWithBasicAuth",
    "auth.session": "Illuminate\\Session\\Middleware\\AuthenticateSession",
    "cache.headers": "Illuminate\\Http\\Middleware\\SetCacheHeaders", "can": f"{_A}Authorize",
    "guest": f"{_A}RedirectIfAuthenticated", "password.confirm": f"{_A}RequirePassword",
    "precognitive": "Illuminate\\Foundation\\Http\\Middleware\\HandlePrecognitiveRequests",
    "signed": "Illuminate\\Routing\\Middleware\\ValidateSignature",
    "throttle": "Illuminate\\Routing\\Middleware\\ThrottleRequests", "verified": f"{_A}EnsureEmailIsVerified",
}  # fmt: skip
"""What the framework itself names, since it is set up in bootstrap/app.php."""
GROUPS: Final = {
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
    """Names and groups of middleware, each with the place that says so."""

    aliases: dict[str, tuple[str, CallSite]] = field(default_factory=dict)
    groups: dict[str, tuple[tuple[str, ...], CallSite]] = field(default_factory=dict)
    everywhere: list[tuple[str, CallSite]] = field(default_factory=list)
    """What every request goes through."""

    def alias(self, given: Value, site: CallSite) -> None:
        """Take in an array of names and classes."""
        array = first_known(given)
        for key, one in array.items.items() if isinstance(array, Array) else ():
            line = array.lines.get(key, site.line) if isinstance(array, Array) else site.line
            self.aliases[str(key)] = (text(one).lstrip("\\"), replace(site, line=line))

    def change(self, how: str, group: str, words: tuple[str, ...], site: CallSite) -> None:
        """Set a group, or put words at its end or start, or take them out."""
        old, place = self.groups.get(group, ((), site))
        rest = tuple(one for one in old if one not in words)
        new = {"set": words, "append": old + words, "prepend": words + rest, "remove": rest}[how]
        self.groups[group] = (tuple(dict.fromkeys(new)), place if old and how != "set" else site)


class MiddlewareConfigurator(Recorder):
    """The `$middleware` that bootstrap/app.php sets things on."""

    def __init__(self, stack: MiddlewareRegistry) -> None:
        self.stack = stack

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Take in one call and return itself."""
        stack = self.stack
        if name == "alias":
            stack.alias(given.at(0, "aliases"), site)
        elif name in ("web", "api"):
            self._group(name, given, site)
        elif name == "group":
            stack.change("set", text(given.at(0, "group")), tuple(texts(given.at(1, "middleware"))), site)
        elif name in ("appendToGroup", "prependToGroup", "removeFromGroup"):
            words = tuple(texts(given.at(1, "middleware")))
            stack.change(name.removesuffix("ToGroup").removesuffix("FromGroup"), text(given.at(0)), words, site)
        elif name == "replaceInGroup":
            self._replaced(text(given.at(0)), {text(given.at(1)): text(given.at(2))}, site)
        elif name in ("append", "prepend", "use"):
            stack.everywhere += [(one, site) for one in texts(given.at(0, "middleware"))]
        elif name == "throttleApi":
            stack.change("prepend", "api", (f"throttle:{text(given.at(0, 'limiter', 'api'))}",), site)
        elif name == "statefulApi":
            word = "Laravel\\Sanctum\\Http\\Middleware\\EnsureFrontendRequestsAreStateful"
            stack.change("prepend", "api", (word,), site)
        elif name == "authenticateSessions":
            stack.change("append", "web", ("auth.session",), site)
        return self

    def _group(self, name: str, given: Arguments, site: CallSite) -> None:
        """Take in `web(append: …, prepend: …, remove: …, replace: …)`, in the order the framework does."""
        self._replaced(name, {key: text(one) for key, one in mapped(given.at(3, "replace")).items()}, site)
        for how, position in (("remove", 2), ("prepend", 1), ("append", 0)):
            words = tuple(texts(given.at(position, how)))
            if words:
                self.stack.change(how, name, words, site)

    def _replaced(self, group: str, put: dict[str, str], site: CallSite) -> None:
        """Put other words into the places of some."""
        old, place = self.stack.groups.get(group, ((), site))
        self.stack.groups[group] = (tuple(put.get(one, one) for one in old), place)


def default_middleware(site: CallSite) -> MiddlewareRegistry:
    """Return what the framework itself has where bootstrap/app.php sets it up."""
    return MiddlewareRegistry(
        {name: (full, site) for name, full in ALIASES.items()}, {name: (one, site) for name, one in GROUPS.items()}
    )


def read_kernel(machine: Evaluator, names: list[str]) -> MiddlewareRegistry | None:
    """Return what the app's HTTP kernel says in its arrays, None where it has none."""
    for name in names:
        if not any(one.lower() == _KERNEL for one in machine.lookup.ancestors(name)):
            continue
        stack = MiddlewareRegistry()
        for prop in ("routeMiddleware", "middlewareAliases"):
            stack.alias(machine.property(name, prop), _place(machine, name, prop))
        for key, one in _items(machine.property(name, "middlewareGroups")):
            site = _place(machine, name, "middlewareGroups")
            stack.groups[str(key)] = (tuple(texts(one)), site)
        site = _place(machine, name, "middleware")
        stack.everywhere = [(one, site) for one in texts(machine.property(name, "middleware"))]
        return stack
    return None


def _items(value: Value) -> list[tuple[str, Value]]:
    """Return the entries of an array."""
    return list(mapped(value).items())


def _place(machine: Evaluator, name: str, prop: str) -> CallSite:
    """Return where a property is written."""
    found = machine.lookup.property(name, prop)
    return CallSite(found[0], found[2].line) if found else CallSite("", 0)
