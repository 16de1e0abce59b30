"""The application as its own files see it: builder, container, what providers inherit, and facades that add routes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ragstone_code.evaluate import (
    Arguments,
    Array,
    CallSite,
    Evaluator,
    Instance,
    Recorder,
    Stubs,
    Unknown,
    Value,
    first_known,
)
from ragstone_code.laravel.routing.global_helpers import (
    MIDDLEWARE_WITH_NOTATION,
    Collection,
    ConfigRepository,
    ConfigValues,
    DirectoryIterator,
    FileFacade,
    MiddlewareNotation,
    StrFacade,
    global_functions,
)
from ragstone_code.laravel.routing.records import MiddlewareEntry, RouteAttributes, attributes_of, text, texts
from ragstone_code.laravel.routing.router import Router

ROUTES: Final = "illuminate\\foundation\\support\\providers\\routeserviceprovider"
_BROADCASTS: Final = "\\Illuminate\\Broadcasting\\BroadcastController@authenticate"
_CSRF: Final = "Illuminate\\Foundation\\Http\\Middleware\\VerifyCsrfToken"
_ITERATORS: Final = ("recursivedirectoryiterator", "recursiveiteratoriterator", "regexiterator", "directoryiterator")
_ROUTERS: Final = ("router", "illuminate\\routing\\router", "illuminate\\contracts\\routing\\registrar")


@dataclass(slots=True)
class BootstrapRecords:
    """What bootstrap/app.php and the providers said."""

    routing: list[tuple[Arguments, CallSite]] = field(default_factory=list)
    configured: list[tuple[Value, CallSite]] = field(default_factory=list)
    named: list[tuple[Value, CallSite]] = field(default_factory=list)
    """Arrays of names and classes of middleware."""
    broadcasts: list[tuple[Value, CallSite]] = field(default_factory=list)
    providers: list[str] = field(default_factory=list)
    later: list[tuple[Value, CallSite]] = field(default_factory=list)
    closures: dict[int, tuple[Value, CallSite]] = field(default_factory=dict)
    """By the provider that gave them to `routes()`."""


class Application(Recorder):
    """The application, its builder, and the container."""

    def __init__(self, router: Router, told: BootstrapRecords) -> None:
        self.router = router
        self.told = told
        self.settings = ConfigValues()

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Take in what is set up; what is asked for is given where it is known."""
        if name in _LUMEN or (name == "get" and given.has(1)):
            return self.router.on_call(name, given, site, machine)
        if name in ("make", "get", "offsetGet", "resolve", "makeWith", "__getitem__", "__invoke"):
            return self._made(given, machine)
        if name in _KEPT:
            self._keep(name, given, site)
        elif name == "call":
            inner = first_known(given.at(1))
            return machine.call(given.at(0), inner.values if isinstance(inner, Array) else [], site)
        elif name in ("basePath", "path"):
            folder = "app/" if name == "path" else ""
            return folder + text(given.at(0, "path", "")).lstrip("/")
        elif name not in _FLUENT:
            return Unknown(f"{name}() of the application is not known")
        return self

    def _keep(self, name: str, given: Arguments, site: CallSite) -> None:
        """Keep what is set up for when it is run."""
        told = self.told
        if name == "withRouting":
            told.routing.append((given, site))
        elif name == "withMiddleware":
            told.configured.append((given.at(0, "callback"), site))
        elif name == "routeMiddleware":
            told.named.append((given.at(0), site))
        elif name == "withBroadcasting":
            told.broadcasts.append((given.at(1, "attributes"), site))
        elif name in ("booted", "booting", "registered"):
            told.later.append((given.at(0, "callback"), site))
        else:
            told.providers += [one.lstrip("\\") for one in class_names(given.at(0, "providers"))]

    def _made(self, given: Arguments, machine: Evaluator) -> Value:
        """Return what the container makes: the router, or nothing that is known."""
        wanted = text(given.at(0)).lower().lstrip("\\")
        if wanted in _ROUTERS:
            return self.router
        if wanted in ("config", "illuminate\\contracts\\config\\repository"):
            return ConfigRepository(self.settings)
        if machine.lookup.of_class(wanted):
            return machine.make(text(given.at(0)).lstrip("\\"))
        return Unknown(f"what the container makes of {wanted} is not known")

    def on_member(self, name: str, site: CallSite, machine: Evaluator) -> Value:
        """Return the router of a Lumen application."""
        return self.router if name == "router" else Unknown(f"{name} of the application is not known")


_LUMEN: Final = frozenset({"post", "put", "patch", "delete", "options", "group"})
"""What an application of Lumen registers routes by, being its own router."""
_KEPT: Final = frozenset({
    "withRouting", "withMiddleware", "routeMiddleware", "withBroadcasting", "withProviders", "register", "booted",
    "booting", "registered",
})  # fmt: skip
_FLUENT: Final = frozenset({
    "configure", "new", "create", "withExceptions", "withCommands", "withSchedule", "withEvents", "withBindings",
    "withSingletons", "withKernels", "withFacades", "withEloquent", "singleton", "bind", "instance", "getInstance",
    "useStoragePath", "alias", "withScopedSingletons",
})  # fmt: skip


def class_names(value: Value) -> list[str]:
    """Return the classes that are named by text, by object or in a list."""
    value = first_known(value)
    if isinstance(value, Instance):
        return [value.name]
    if isinstance(value, Array):
        return [name for one in value.values for name in class_names(one)]
    return texts(value) if isinstance(value, str) else []


class ServiceProvider(Recorder):
    """What a provider inherits: its application, and the ways to load routes."""

    def __init__(self, application: Application) -> None:
        self.application = application

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Take in what a provider does by inherited methods."""
        told, router = self.application.told, self.application.router
        if name == "routes":
            told.closures[id(given.this)] = (given.at(0, "routesCallback"), site)
        elif name == "loadRoutesFrom":
            path = first_known(given.at(0, "path"))
            found = machine.run(path, {"router": router}) if isinstance(path, str) else None
            if found is None and not isinstance(path, str):
                machine.remark(site, "the route file that is loaded is not known")
            router.register_pending()
        elif name in ("booted", "booting"):
            told.later.append((given.at(0), site))
        elif name == "defaultProviders":
            return Collection(Array())
        elif name in ("callAfterResolving",) and text(given.at(0)).lower().lstrip("\\") in _ROUTERS:
            machine.call(given.at(1), [router, self.application], site)
        elif name.lower() in _FORWARDED:
            return router.on_call(name, given, site, machine)
        return given.this if isinstance(given.this, Instance) and name == "routes" else Unknown(f"{name}()")

    def on_member(self, name: str, site: CallSite, machine: Evaluator) -> Value:
        """Return the application; other members start as nothing."""
        return self.application if name == "app" else None


_FORWARDED: Final = frozenset({
    "get", "post", "put", "patch", "delete", "options", "any", "match", "group", "resource", "apiresource", "model",
    "bind", "pattern", "patterns", "middleware", "prefix", "resources",
})  # fmt: skip


class BroadcastFacade(Recorder):
    """`Broadcast`, as far as it registers routes."""

    def __init__(self, router: Router) -> None:
        self.router = router

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Register the route that authorizes channels."""
        if name == "routes":
            broadcast_routes(self.router, given.at(0, "attributes"), site, machine)
        return Unknown(f"Broadcast::{name}() is not followed")


def broadcast_routes(router: Router, attributes: Value, site: CallSite, machine: Evaluator) -> None:
    """Register the framework's own route for channels."""
    router.register_pending()
    told = first_known(attributes)
    web = RouteAttributes(middleware=(MiddlewareEntry("web", site.uri, site.line),))
    outer = attributes_of(told, site) if isinstance(told, Array) and len(told) else web
    stack = router.state.stack
    stack.append(stack[-1].merged(outer) if stack else outer)
    router.by_framework = True
    handle = router.route(("GET", "POST", "HEAD"), "broadcasting/auth", _BROADCASTS, site, machine)
    handle.on_call("withoutMiddleware", Arguments((_CSRF,)), site, machine)
    router.by_framework = False
    stack.pop()


class AuthFacade(Recorder):
    """`Auth`, as far as it registers routes."""

    def __init__(self, router: Router) -> None:
        self.router = router

    def on_call(self, name: str, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        """Register the routes of laravel/ui."""
        if name == "routes":
            return self.router.on_call("auth", given, site, machine)
        return Unknown(f"Auth::{name}() is not followed")


def known_symbols(application: Application, router: Router) -> Stubs:
    """Return what the evaluator hands to the files of an app."""
    provider, broadcasts, users = ServiceProvider(application), BroadcastFacade(router), AuthFacade(router)
    classes: dict[str, Recorder] = {
        **dict.fromkeys(("illuminate\\support\\facades\\route", "route", *_ROUTERS[1:]), router),
        **dict.fromkeys(("illuminate\\support\\facades\\app", "app"), application),
        "illuminate\\foundation\\application": application,
        "laravel\\lumen\\application": application, "illuminate\\contracts\\foundation\\application": application,
        **dict.fromkeys(("illuminate\\support\\serviceprovider", ROUTES), provider),
        **dict.fromkeys(("illuminate\\support\\facades\\broadcast", "broadcast"), broadcasts),
        **dict.fromkeys(("illuminate\\support\\facades\\auth", "auth"), users),
        **dict.fromkeys(
            ("illuminate\\support\\facades\\file", "file", "illuminate\\filesystem\\filesystem"), FileFacade()
        ),
        **dict.fromkeys(("illuminate\\support\\str", "str"), StrFacade()),
        **dict.fromkeys(("illuminate\\support\\facades\\config", "config"), ConfigRepository(application.settings)),
        **dict.fromkeys(_ITERATORS, DirectoryIterator()),
        **{name.lower(): MiddlewareNotation(name) for name in MIDDLEWARE_WITH_NOTATION},
        "laravel\\lumen\\routing\\router": router,
    }  # fmt: skip
    for name in ("auth", "event"):
        classes[f"illuminate\\foundation\\support\\providers\\{name}serviceprovider"] = provider

    def app(given: Arguments, site: CallSite, machine: Evaluator) -> Value:
        return application.on_call("make", given, site, machine) if given.positional else application

    return Stubs(classes, {**global_functions(application.settings), "app": app, "resolve": app})
