"""What mounts routes: bootstrap/app.php, and the providers the app registers, in the order the framework runs them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ragstone.code.evaluate import (
    PHP,
    Array,
    Evaluator,
    Given,
    Instance,
    Known,
    Recorder,
    Site,
    Unknown,
    Value,
    settle,
)
from ragstone.code.frameworks.laravel.routing.middleware import Configured, Stack, of_kernel, standard
from ragstone.code.frameworks.laravel.routing.records import Attributes, Written, attributes_of, text, texts
from ragstone.code.frameworks.laravel.routing.router import Router
from ragstone.code.frameworks.laravel.routing.surroundings import (
    WORDED,
    Collection,
    Files,
    Iterated,
    Repository,
    Settings,
    Texts,
    Words,
    functions,
)
from ragstone.code.world import World

_ROUTES: Final = "illuminate\\foundation\\support\\providers\\routeserviceprovider"
_BROADCASTS: Final = "\\Illuminate\\Broadcasting\\BroadcastController@authenticate"
_CSRF: Final = "Illuminate\\Foundation\\Http\\Middleware\\VerifyCsrfToken"
_ITERATORS: Final = ("recursivedirectoryiterator", "recursiveiteratoriterator", "regexiterator", "directoryiterator")
_ROUTERS: Final = ("router", "illuminate\\routing\\router", "illuminate\\contracts\\routing\\registrar")


@dataclass(slots=True)
class Told:
    """What bootstrap/app.php and the providers said."""

    routing: list[tuple[Given, Site]] = field(default_factory=list)
    configured: list[tuple[Value, Site]] = field(default_factory=list)
    broadcasts: list[tuple[Value, Site]] = field(default_factory=list)
    providers: list[str] = field(default_factory=list)
    later: list[tuple[Value, Site]] = field(default_factory=list)
    closures: dict[int, tuple[Value, Site]] = field(default_factory=dict)
    """By the provider that gave them to `routes()`."""


class Application(Recorder):
    """The application, its builder, and the container."""

    def __init__(self, router: Router, told: Told) -> None:
        self.router = router
        self.told = told
        self.settings = Settings()

    def called(self, name: str, given: Given, site: Site, machine: Evaluator) -> Value:
        """Take in what is set up; what is asked for is given where it is known."""
        if name in ("make", "get", "offsetGet", "resolve", "makeWith", "__getitem__", "__invoke"):
            return self._made(given, machine)
        if name == "withRouting":
            self.told.routing.append((given, site))
        elif name == "withMiddleware":
            self.told.configured.append((given.at(0, "callback"), site))
        elif name == "withBroadcasting":
            self.told.broadcasts.append((given.at(1, "attributes"), site))
        elif name in ("withProviders", "register", "registerDeferredProvider"):
            self.told.providers += [one.lstrip("\\") for one in _class_names(given.at(0, "providers"))]
        elif name in ("booted", "booting", "registered"):
            self.told.later.append((given.at(0, "callback"), site))
        elif name == "call":
            inner = settle(given.at(1))
            return machine.call(given.at(0), inner.values if isinstance(inner, Array) else [], site)
        elif name in ("basePath", "path"):
            folder = "app/" if name == "path" else ""
            return folder + text(given.at(0, "path", "")).lstrip("/")
        elif name not in _FLUENT:
            return Unknown(f"{name}() of the application is not known")
        return self

    def _made(self, given: Given, machine: Evaluator) -> Value:
        """Return what the container makes: the router, or nothing that is known."""
        wanted = text(given.at(0)).lower().lstrip("\\")
        if wanted in _ROUTERS:
            return self.router
        if wanted in ("config", "illuminate\\contracts\\config\\repository"):
            return Repository(self.settings)
        if machine.lookup.of_class(wanted):
            return machine.make(text(given.at(0)).lstrip("\\"))
        return Unknown(f"what the container makes of {wanted} is not known")

    def member(self, name: str, site: Site, machine: Evaluator) -> Value:
        """Return the router of a Lumen application."""
        return self.router if name == "router" else Unknown(f"{name} of the application is not known")


_FLUENT: Final = frozenset({
    "configure", "new", "create", "withExceptions", "withCommands", "withSchedule", "withEvents", "withBindings",
    "withSingletons", "withKernels", "withFacades", "withEloquent", "singleton", "bind", "instance", "getInstance",
    "useStoragePath", "alias", "withScopedSingletons",
})  # fmt: skip


def _class_names(value: Value) -> list[str]:
    """Return the classes that are named by text, by object or in a list."""
    value = settle(value)
    if isinstance(value, Instance):
        return [value.name]
    if isinstance(value, Array):
        return [name for one in value.values for name in _class_names(one)]
    return texts(value) if isinstance(value, str) else []


class Provider(Recorder):
    """What a provider inherits: its application, and the ways to load routes."""

    def __init__(self, application: Application) -> None:
        self.application = application

    def called(self, name: str, given: Given, site: Site, machine: Evaluator) -> Value:
        """Take in what a provider does by inherited methods."""
        told, router = self.application.told, self.application.router
        if name == "routes":
            told.closures[id(given.this)] = (given.at(0, "routesCallback"), site)
        elif name == "loadRoutesFrom":
            path = settle(given.at(0, "path"))
            found = machine.run(path, {"router": router}) if isinstance(path, str) else None
            if found is None and not isinstance(path, str):
                machine.remark(site, "the route file that is loaded is not known")
            router.settle()
        elif name in ("booted", "booting"):
            told.later.append((given.at(0), site))
        elif name == "defaultProviders":
            return Collection(Array())
        elif name in ("callAfterResolving",) and text(given.at(0)).lower().lstrip("\\") in _ROUTERS:
            machine.call(given.at(1), [router, self.application], site)
        elif name.lower() in _FORWARDED:
            return router.called(name, given, site, machine)
        return given.this if isinstance(given.this, Instance) and name == "routes" else Unknown(f"{name}()")

    def member(self, name: str, site: Site, machine: Evaluator) -> Value:
        """Return the application; other members start as nothing."""
        return self.application if name == "app" else None


_FORWARDED: Final = frozenset({
    "get", "post", "put", "patch", "delete", "options", "any", "match", "group", "resource", "apiresource", "model",
    "bind", "pattern", "patterns", "middleware", "prefix", "resources",
})  # fmt: skip


class Broadcasts(Recorder):
    """`Broadcast`, as far as it registers routes."""

    def __init__(self, router: Router) -> None:
        self.router = router

    def called(self, name: str, given: Given, site: Site, machine: Evaluator) -> Value:
        """Register the route that authorizes channels."""
        if name == "routes":
            broadcast_routes(self.router, given.at(0, "attributes"), site, machine)
        return Unknown(f"Broadcast::{name}() is not followed")


def broadcast_routes(router: Router, attributes: Value, site: Site, machine: Evaluator) -> None:
    """Register the framework's own route for channels."""
    router.settle()
    told = settle(attributes)
    web = Attributes(middleware=(Written("web", site.uri, site.line),))
    outer = attributes_of(told, site) if isinstance(told, Array) and len(told) else web
    stack = router.state.stack
    stack.append(stack[-1].merged(outer) if stack else outer)
    router.by_framework = True
    handle = router.route(("GET", "POST", "HEAD"), "broadcasting/auth", _BROADCASTS, site, machine)
    handle.called("withoutMiddleware", Given((_CSRF,)), site, machine)
    router.by_framework = False
    stack.pop()


class Users(Recorder):
    """`Auth`, as far as it registers routes."""

    def __init__(self, router: Router) -> None:
        self.router = router

    def called(self, name: str, given: Given, site: Site, machine: Evaluator) -> Value:
        """Register the routes of laravel/ui."""
        if name == "routes":
            return self.router.called("auth", given, site, machine)
        return Unknown(f"Auth::{name}() is not followed")


@dataclass(slots=True)
class Mounted:
    """The router after everything that is known has run."""

    router: Router
    machine: Evaluator
    stack: Stack
    settings: Settings


def mounted(world: World) -> Mounted:
    """Return the router of an app after bootstrap/app.php and all its providers."""
    router, told = Router(), Told()
    application = Application(router, told)
    machine = Evaluator(world, PHP, _known(application, router))
    if world.has("bootstrap/app.php"):
        machine.run("bootstrap/app.php")
    stack = _middleware(machine, told)
    _boot(application, machine)
    for given, site in told.routing:
        _routing(router, given, site, machine)
    for attributes, site in told.broadcasts:
        broadcast_routes(router, attributes, site, machine)
    for callback, site in told.later:
        machine.call(callback, [application], site)
    router.settle()
    if not router.state.routes:
        _conventional(router, machine)
    for how, group, words, site in router.state.groups:
        stack.change(how, group, words, site)
    stack.aliases.update(router.state.aliases)
    return Mounted(router, machine, stack, application.settings)


def _known(application: Application, router: Router) -> Known:
    """Return what the evaluator hands to the files of an app."""
    provider, broadcasts, users = Provider(application), Broadcasts(router), Users(router)
    classes: dict[str, Recorder] = {
        **dict.fromkeys(("illuminate\\support\\facades\\route", "route", *_ROUTERS[1:]), router),
        **dict.fromkeys(("illuminate\\support\\facades\\app", "app"), application),
        "illuminate\\foundation\\application": application,
        "laravel\\lumen\\application": application, "illuminate\\contracts\\foundation\\application": application,
        **dict.fromkeys(("illuminate\\support\\serviceprovider", _ROUTES), provider),
        **dict.fromkeys(("illuminate\\support\\facades\\broadcast", "broadcast"), broadcasts),
        **dict.fromkeys(("illuminate\\support\\facades\\auth", "auth"), users),
        **dict.fromkeys(("illuminate\\support\\facades\\file", "file", "illuminate\\filesystem\\filesystem"), Files()),
        **dict.fromkeys(("illuminate\\support\\str", "str"), Texts()),
        **dict.fromkeys(("illuminate\\support\\facades\\config", "config"), Repository(application.settings)),
        **dict.fromkeys(_ITERATORS, Iterated()),
        **{name.lower(): Words(name) for name in WORDED},
        "laravel\\lumen\\routing\\router": router,
    }  # fmt: skip
    for name in ("auth", "event"):
        classes[f"illuminate\\foundation\\support\\providers\\{name}serviceprovider"] = provider

    def app(given: Given, site: Site, machine: Evaluator) -> Value:
        return application.called("make", given, site, machine) if given.positional else application

    return Known(classes, {**functions(application.settings), "app": app, "resolve": app})


def _middleware(machine: Evaluator, told: Told) -> Stack:
    """Return names and groups of middleware: of bootstrap/app.php where that sets them, else of the kernel."""
    if told.configured or told.routing:
        stack = standard(Site("", 0))
        for callback, site in told.configured:
            machine.call(callback, [Configured(stack)], site)
        return stack
    found = of_kernel(machine, ["App\\Http\\Kernel", *_declared(machine.world, "Kernel")])
    return found if found is not None else standard(Site("", 0))


def _declared(world: World, ending: str) -> Iterator[str]:
    """Yield the classes in files whose names end so, of the app itself."""
    for uri in world.uris:
        if uri.endswith(f"{ending}.php") and not uri.startswith(("vendor/", "tests/", "node_modules/")):
            module = world.module(uri)
            yield from (one.name for one in module.classes) if module else ()


# ── providers ─────────────────────────────────────────────────────────────────────────────────────


def _boot(application: Application, machine: Evaluator) -> None:
    """Run the providers: all that they register, then what each does when it boots, then its routes."""
    told = application.told
    waiting = list(dict.fromkeys([*_listed(machine), *told.providers])) or list(_declared(machine.world, "Provider"))
    told.providers.clear()
    seen: set[str] = set()
    made: list[Instance] = []
    while waiting and len(seen) < 500:
        name = waiting.pop(0)
        if name.lower() in seen:
            continue
        seen.add(name.lower())
        if machine.lookup.of_class(name):
            provider = machine.make(name)
            made.append(provider)
            if machine.lookup.method(name, "register"):
                machine.call_method(provider, "register")
        waiting += told.providers
        told.providers.clear()
    for provider in made:
        _booted(application, provider, machine)


def _booted(application: Application, provider: Instance, machine: Evaluator) -> None:
    """Run one provider's `boot`, then the routes it gave or maps."""
    if machine.lookup.method(provider.name, "boot"):
        machine.call_method(provider, "boot")
    application.router.settle()
    given = application.told.closures.get(id(provider))
    if given is not None:
        machine.call(given[0], [], given[1])
    elif any(one.lower() == _ROUTES for one in machine.lookup.ancestors(provider.name)):
        if machine.lookup.method(provider.name, "map"):
            machine.call_method(provider, "map")
    application.router.settle()


def _listed(machine: Evaluator) -> Iterator[str]:
    """Yield the providers an app lists: in config, in bootstrap, in its modules and packages."""
    world = machine.world
    if world.has("config/app.php"):
        settings = settle(machine.run("config/app.php"))
        yield from _class_names(settings.get("providers") if isinstance(settings, Array) else None)
    if world.has("bootstrap/providers.php"):
        yield from _class_names(machine.run("bootstrap/providers.php"))
    for uri in world.uris:
        if uri.endswith(("/module.json", "/composer.json")) and "vendor/" not in uri and "node_modules/" not in uri:
            yield from _of_package(world.read(uri) or "")


def _of_package(written: str) -> Iterator[str]:
    """Yield the providers that a module or a package inside of the project names."""
    try:
        data = json.loads(written)
    except ValueError:
        return
    extra = data.get("extra") if isinstance(data, dict) else None
    laravel = extra.get("laravel") if isinstance(extra, dict) else None
    for holder in (data, laravel):
        named = holder.get("providers") if isinstance(holder, dict) else None
        yield from (one for one in named if isinstance(one, str)) if isinstance(named, list) else ()


# ── bootstrap/app.php ─────────────────────────────────────────────────────────────────────────────


def _routing(router: Router, given: Given, site: Site, machine: Evaluator) -> None:
    """Mount what `withRouting` names, in the framework's order: api, health, web, then."""
    using, then = settle(given.at(0, "using")), given.at(8, "then")
    web, api, health = given.at(1, "web"), given.at(2, "api"), settle(given.at(6, "health"))
    channels = settle(given.at(4, "channels"))
    if settle(given.at(5, "pages")) is not None:
        machine.remark(site, "pages are routed by Laravel Folio, by the files of a folder: not known here")
    if using is not None:
        machine.call(using, [], site)
    if using is None or settle(then) is not None:
        prefix = text(given.at(7, "apiPrefix", "api"))
        there = Site(site.uri, given.lines.get("api", site.line))
        place = (site.uri, given.lines.get("apiPrefix", there.line))
        here = (Written("api", there.uri, there.line),)
        _files(router, api, Attributes(prefix=prefix, middleware=here, places=(place,)), there, machine)
        if isinstance(health, str):
            router.by_framework = True
            at = Site(site.uri, given.lines.get("health", site.line))
            router.called("get", Given((health, None)), at, machine)
            router.by_framework = False
        there = Site(site.uri, given.lines.get("web", site.line))
        _files(router, web, Attributes(middleware=(Written("web", there.uri, there.line),)), there, machine)
        if settle(then) is not None:
            machine.call(then, [Unknown("the application")], site)
    if isinstance(channels, str):
        broadcast_routes(router, None, site, machine)
    router.settle()


def _files(router: Router, files: Value, attributes: Attributes, site: Site, machine: Evaluator) -> None:
    """Mount one route file or several."""
    if settle(files) is not None:
        router.group(attributes, files, site, machine)


def _conventional(router: Router, machine: Evaluator) -> None:
    """Mount the usual files where nothing that mounts them was found, and say so."""
    for uri, group, prefix in (("routes/web.php", "web", None), ("routes/api.php", "api", "api")):
        if machine.world.has(uri) and uri not in machine.followed:
            site = Site(uri, 1)
            machine.remark(site, f"what mounts it was not found: taken as the framework's own {group} routes")
            router.group(Attributes(prefix=prefix, middleware=(Written(group, uri, 1),)), uri, site, machine)
