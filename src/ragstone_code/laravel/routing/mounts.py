"""What mounts routes: bootstrap/app.php, and the providers the app registers, in the order the framework runs them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from ragstone.code.world import World
from ragstone_code.evaluate import PHP, Arguments, Array, CallSite, Evaluator, Instance, Unknown, Value, first_known
from ragstone_code.laravel.routing.application import (
    ROUTES,
    Application,
    BootstrapRecords,
    broadcast_routes,
    class_names,
    known_symbols,
)
from ragstone_code.laravel.routing.global_helpers import ConfigValues
from ragstone_code.laravel.routing.middleware import (
    MiddlewareConfigurator,
    MiddlewareRegistry,
    default_middleware,
    read_kernel,
)
from ragstone_code.laravel.routing.records import MiddlewareEntry, RouteAttributes, text
from ragstone_code.laravel.routing.router import Router


@dataclass(slots=True)
class MountedRoutes:
    """The router after everything that is known has run."""

    router: Router
    machine: Evaluator
    stack: MiddlewareRegistry
    settings: ConfigValues


def mount_routes(world: World) -> MountedRoutes:
    """Return the router of an app after bootstrap/app.php and all its providers."""
    router, told = Router(), BootstrapRecords()
    application = Application(router, told)
    machine = Evaluator(world, PHP, known_symbols(application, router))
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
    router.register_pending()
    if not router.state.routes:
        _conventional(router, machine)
    for how, group, words, site in router.state.groups:
        stack.change(how, group, words, site)
    for given_names, site in told.named:
        stack.alias(given_names, site)
    stack.aliases.update(router.state.aliases)
    return MountedRoutes(router, machine, stack, application.settings)


def _middleware(machine: Evaluator, told: BootstrapRecords) -> MiddlewareRegistry:
    """Return names and groups of middleware: of bootstrap/app.php where that sets them, else of the kernel."""
    if told.configured or told.routing:
        stack = default_middleware(CallSite("", 0))
        for callback, site in told.configured:
            machine.call(callback, [MiddlewareConfigurator(stack)], site)
        return stack
    found = read_kernel(machine, ["App\\Http\\Kernel", *_declared(machine.world, "Kernel")])
    return found if found is not None else default_middleware(CallSite("", 0))


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
    application.router.register_pending()
    given = application.told.closures.get(id(provider))
    if given is not None:
        machine.call(given[0], [], given[1])
    elif any(one.lower() == ROUTES for one in machine.lookup.ancestors(provider.name)):
        if machine.lookup.method(provider.name, "map"):
            machine.call_method(provider, "map")
    application.router.register_pending()


def _listed(machine: Evaluator) -> Iterator[str]:
    """Yield the providers an app lists: in config, in bootstrap, in its modules and packages."""
    world = machine.world
    if world.has("config/app.php"):
        settings = first_known(machine.run("config/app.php"))
        yield from class_names(settings.get("providers") if isinstance(settings, Array) else None)
    if world.has("bootstrap/providers.php"):
        yield from class_names(machine.run("bootstrap/providers.php"))
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


def _routing(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> None:
    """Mount what `withRouting` names, in the framework's order: api, health, web, then."""
    using, then = first_known(given.at(0, "using")), given.at(8, "then")
    web, api, health = given.at(1, "web"), given.at(2, "api"), first_known(given.at(6, "health"))
    channels = first_known(given.at(4, "channels"))
    if first_known(given.at(5, "pages")) is not None:
        machine.remark(site, "pages are routed by Laravel Folio, by the files of a folder: not known here")
    if using is not None:
        machine.call(using, [], site)
    if using is None or first_known(then) is not None:
        prefix = text(given.at(7, "apiPrefix", "api"))
        there = CallSite(site.uri, given.lines.get("api", site.line))
        place = (site.uri, given.lines.get("apiPrefix", there.line))
        here = (MiddlewareEntry("api", there.uri, there.line),)
        _files(router, api, RouteAttributes(prefix=prefix, middleware=here, places=(place,)), there, machine)
        if isinstance(health, str):
            router.by_framework = True
            at = CallSite(site.uri, given.lines.get("health", site.line))
            router.on_call("get", Arguments((health, None)), at, machine)
            router.by_framework = False
        there = CallSite(site.uri, given.lines.get("web", site.line))
        _files(
            router, web, RouteAttributes(middleware=(MiddlewareEntry("web", there.uri, there.line),)), there, machine
        )
        if first_known(then) is not None:
            machine.call(then, [Unknown("the application")], site)
    if isinstance(channels, str):
        broadcast_routes(router, None, site, machine)
    router.register_pending()


def _files(router: Router, files: Value, attributes: RouteAttributes, site: CallSite, machine: Evaluator) -> None:
    """Mount one route file or several."""
    if first_known(files) is not None:
        router.group(attributes, files, site, machine)


def _conventional(router: Router, machine: Evaluator) -> None:
    """Mount the usual files where nothing that mounts them was found, and say so."""
    for uri, group, prefix in (("routes/web.php", "web", None), ("routes/api.php", "api", "api")):
        if machine.world.has(uri) and uri not in machine.followed:
            site = CallSite(uri, 1)
            machine.remark(site, f"what mounts it was not found: taken as the framework's own {group} routes")
            router.group(
                RouteAttributes(prefix=prefix, middleware=(MiddlewareEntry(group, uri, 1),)), uri, site, machine
            )
