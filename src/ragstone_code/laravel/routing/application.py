"""The application object, its service providers, and the facades that register routes."""

from __future__ import annotations

from collections.abc import Iterable
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
    display_text,
    first_known,
)
from ragstone_code.laravel.routing.facades import (
    MIDDLEWARE_WITH_PARAMETERS,
    DirectoryIterator,
    FilesystemFacade,
    ParameterizedMiddleware,
    StrFacade,
)
from ragstone_code.laravel.routing.global_helpers import (
    Collection,
    ConfigRepository,
    ConfigValues,
    helper_functions,
)
from ragstone_code.laravel.routing.route_records import (
    MiddlewareEntry,
    RouteAttributes,
    read_attributes,
    read_texts,
)
from ragstone_code.laravel.routing.router import Router

ROUTE_PROVIDER: Final = "illuminate\\foundation\\support\\providers\\routeserviceprovider"
_BROADCAST_ACTION: Final = "\\Illuminate\\Broadcasting\\BroadcastController@authenticate"
_CSRF_MIDDLEWARE: Final = "Illuminate\\Foundation\\Http\\Middleware\\VerifyCsrfToken"
_ITERATORS: Final = (
    "recursivedirectoryiterator",
    "recursiveiteratoriterator",
    "regexiterator",
    "directoryiterator",
)
_ROUTER_NAMES: Final = (
    "router",
    "illuminate\\routing\\router",
    "illuminate\\contracts\\routing\\registrar",
)
_CONFIG_NAMES: Final = ("config", "illuminate\\contracts\\config\\repository")

RecordedValue = tuple[Value, CallSite]


@dataclass(slots=True)
class BootstrapRecords:
    """The settings of bootstrap/app.php and of the providers, kept until they are applied."""

    routing: list[tuple[Arguments, CallSite]] = field(default_factory=list)
    middleware_callbacks: list[RecordedValue] = field(default_factory=list)
    middleware_aliases: list[RecordedValue] = field(default_factory=list)
    """Arrays of middleware names and classes."""
    broadcasts: list[RecordedValue] = field(default_factory=list)
    providers: list[str] = field(default_factory=list)
    callbacks: list[RecordedValue] = field(default_factory=list)
    """Callbacks of `booted`, `booting` and `registered`."""
    route_closures: dict[int, RecordedValue] = field(default_factory=dict)
    """Closures given to `routes()`, by the id of the provider."""


class Application(Recorder):
    """The application, its builder and the container."""

    def __init__(self, router: Router, records: BootstrapRecords) -> None:
        self.router = router
        self.records = records
        self.config = ConfigValues()

    def on_call(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Record a setting, or return the object that is requested if it is known."""
        if name in _LUMEN_ROUTE_METHODS or (name == "get" and arguments.has(1)):
            return self.router.on_call(name, arguments, site, evaluator)
        if name in _CONTAINER_METHODS:
            return self._resolve(arguments, evaluator)
        if name in _RECORDED_METHODS:
            self._record(name, arguments, site)
            return self
        if name == "call":
            parameters = first_known(arguments.at(1))
            values = parameters.values if isinstance(parameters, Array) else []
            return evaluator.call(arguments.at(0), values, site)
        if name in ("basePath", "path"):
            folder = "app/" if name == "path" else ""
            return folder + display_text(arguments.at(0, "path", "")).lstrip("/")
        if name in _FLUENT_METHODS:
            return self
        return Unknown(f"{name}() of the application is not known")

    def on_member(self, name: str, site: CallSite, evaluator: Evaluator) -> Value:
        """Return the router of a Lumen application."""
        return (
            self.router
            if name == "router"
            else Unknown(f"{name} of the application is not known")
        )

    def _record(self, name: str, arguments: Arguments, site: CallSite) -> None:
        """Store a setting until it is applied."""
        records = self.records
        if name == "withRouting":
            records.routing.append((arguments, site))
        elif name == "withMiddleware":
            records.middleware_callbacks.append((arguments.at(0, "callback"), site))
        elif name == "routeMiddleware":
            records.middleware_aliases.append((arguments.at(0), site))
        elif name == "withBroadcasting":
            records.broadcasts.append((arguments.at(1, "attributes"), site))
        elif name in ("booted", "booting", "registered"):
            records.callbacks.append((arguments.at(0, "callback"), site))
        else:
            names = read_class_names(arguments.at(0, "providers"))
            records.providers += [class_name.lstrip("\\") for class_name in names]

    def _resolve(self, arguments: Arguments, evaluator: Evaluator) -> Value:
        """Return the object that the container creates for a name."""
        written_name = display_text(arguments.at(0))
        name = written_name.lower().lstrip("\\")
        if name in _ROUTER_NAMES:
            return self.router
        if name in _CONFIG_NAMES:
            return ConfigRepository(self.config)
        if evaluator.lookup.of_class(name):
            return evaluator.make(written_name.lstrip("\\"))
        return Unknown(f"what the container makes of {name} is not known")


_LUMEN_ROUTE_METHODS: Final = frozenset({"post", "put", "patch", "delete", "options", "group"})
"""Methods that register routes on a Lumen application, which is its own router."""
_CONTAINER_METHODS: Final = frozenset({
    "make", "get", "offsetGet", "resolve", "makeWith", "__getitem__", "__invoke",
})  # fmt: skip
_RECORDED_METHODS: Final = frozenset({
    "withRouting", "withMiddleware", "routeMiddleware", "withBroadcasting", "withProviders", "register", "booted",
    "booting", "registered",
})  # fmt: skip
_FLUENT_METHODS: Final = frozenset({
    "configure", "new", "create", "withExceptions", "withCommands", "withSchedule", "withEvents", "withBindings",
    "withSingletons", "withKernels", "withFacades", "withEloquent", "singleton", "bind", "instance", "getInstance",
    "useStoragePath", "alias", "withScopedSingletons",
})  # fmt: skip
"""Methods that return the application and register no route."""


def read_class_names(value: Value) -> list[str]:
    """Return the classes that a string, an object or a list of them names."""
    value = first_known(value)
    if isinstance(value, Instance):
        return [value.name]
    if isinstance(value, Array):
        names: list[str] = []
        for element in value.values:
            names += read_class_names(element)
        return names
    return read_texts(value) if isinstance(value, str) else []


class ServiceProvider(Recorder):
    """The methods that a service provider inherits."""

    def __init__(self, application: Application) -> None:
        self.application = application

    def on_call(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Apply or record the call of an inherited method."""
        records, router = self.application.records, self.application.router
        if name.lower() in _FORWARDED_METHODS:
            return router.on_call(name, arguments, site, evaluator)
        if name == "defaultProviders":
            return Collection(Array())
        if name == "routes":
            records.route_closures[id(arguments.this)] = (
                arguments.at(0, "routesCallback"),
                site,
            )
            if isinstance(arguments.this, Instance):
                return arguments.this
        elif name == "loadRoutesFrom":
            self._load_routes(arguments, site, evaluator)
        elif name in ("booted", "booting"):
            records.callbacks.append((arguments.at(0), site))
        elif name == "callAfterResolving":
            resolved = display_text(arguments.at(0)).lower().lstrip("\\")
            if resolved in _ROUTER_NAMES:
                evaluator.call(
                    arguments.at(1),
                    [router, self.application],
                    site,
                )
        return Unknown(f"{name}()")

    def _load_routes(self, arguments: Arguments, site: CallSite, evaluator: Evaluator) -> None:
        """Evaluate the route file of `loadRoutesFrom`."""
        path = first_known(arguments.at(0, "path"))
        if isinstance(path, str):
            evaluator.run(path, {"router": self.application.router})
        else:
            evaluator.remark(site, "the route file that is loaded is not known")
        self.application.router.register_pending()

    def on_member(self, name: str, site: CallSite, evaluator: Evaluator) -> Value:
        """Return the application; other members start as null."""
        return self.application if name == "app" else None


_FORWARDED_METHODS: Final = frozenset({
    "get", "post", "put", "patch", "delete", "options", "any", "match", "group", "resource", "apiresource", "model",
    "bind", "pattern", "patterns", "middleware", "prefix", "resources",
})  # fmt: skip
"""Methods that Laravel's route provider forwards to the router."""


class BroadcastFacade(Recorder):
    """The `Broadcast` facade, as far as it registers routes."""

    def __init__(self, router: Router) -> None:
        self.router = router

    def on_call(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Register the route that authorises channels."""
        if name == "routes":
            register_broadcast_routes(
                self.router,
                arguments.at(0, "attributes"),
                site,
                evaluator,
            )
        return Unknown(f"Broadcast::{name}() is not followed")


def register_broadcast_routes(
    router: Router, attributes: Value, site: CallSite, evaluator: Evaluator
) -> None:
    """Register the framework's route that authorises channels."""
    router.register_pending()
    array = first_known(attributes)
    group = RouteAttributes(middleware=(MiddlewareEntry("web", site.uri, site.line),))
    if isinstance(array, Array) and len(array):
        group = read_attributes(array, site)
    with router.in_group(group):
        router.by_framework = True
        methods = ("GET", "POST", "HEAD")
        handle = router.add_route(
            methods, "broadcasting/auth", _BROADCAST_ACTION, site, evaluator
        )
        handle.on_call("withoutMiddleware", Arguments((_CSRF_MIDDLEWARE,)), site, evaluator)
        router.by_framework = False


class AuthFacade(Recorder):
    """The `Auth` facade, as far as it registers routes."""

    def __init__(self, router: Router) -> None:
        self.router = router

    def on_call(
        self, name: str, arguments: Arguments, site: CallSite, evaluator: Evaluator
    ) -> Value:
        """Register the routes of laravel/ui."""
        if name == "routes":
            return self.router.on_call("auth", arguments, site, evaluator)
        return Unknown(f"Auth::{name}() is not followed")


def create_stubs(application: Application, router: Router) -> Stubs:
    """Return the classes and functions of the framework that the evaluator needs."""
    provider = ServiceProvider(application)
    recorders: list[tuple[Recorder, Iterable[str]]] = [
        (router, ("illuminate\\support\\facades\\route", "route", *_ROUTER_NAMES[1:])),
        (router, ("laravel\\lumen\\routing\\router",)),
        (application, ("illuminate\\support\\facades\\app", "app")),
        (
            application,
            (
                "illuminate\\foundation\\application",
                "illuminate\\contracts\\foundation\\application",
            ),
        ),
        (application, ("laravel\\lumen\\application",)),
        (provider, ("illuminate\\support\\serviceprovider", ROUTE_PROVIDER)),
        (provider, ("illuminate\\foundation\\support\\providers\\authserviceprovider",)),
        (provider, ("illuminate\\foundation\\support\\providers\\eventserviceprovider",)),
        (BroadcastFacade(router), ("illuminate\\support\\facades\\broadcast", "broadcast")),
        (AuthFacade(router), ("illuminate\\support\\facades\\auth", "auth")),
        (
            FilesystemFacade(),
            (
                "illuminate\\support\\facades\\file",
                "file",
                "illuminate\\filesystem\\filesystem",
            ),
        ),
        (StrFacade(), ("illuminate\\support\\str", "str")),
        (
            ConfigRepository(application.config),
            ("illuminate\\support\\facades\\config", "config"),
        ),
        (DirectoryIterator(), _ITERATORS),
    ]
    classes: dict[str, Recorder] = {}
    for recorder, names in recorders:
        classes.update(dict.fromkeys(names, recorder))
    for name in MIDDLEWARE_WITH_PARAMETERS:
        classes[name.lower()] = ParameterizedMiddleware(name)

    def app(arguments: Arguments, site: CallSite, evaluator: Evaluator) -> Value:
        if arguments.positional:
            return application.on_call("make", arguments, site, evaluator)
        return application

    functions = helper_functions(application.config)
    return Stubs(classes, {**functions, "app": app, "resolve": app})
