"""The mounting of routes: bootstrap/app.php and the service providers, in the framework's order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ragstone_code.evaluate import (
    PHP,
    Arguments,
    Array,
    CallSite,
    Evaluator,
    Instance,
    Unknown,
    Value,
    display_text,
    first_known,
)
from ragstone_code.laravel.routing.application import (
    ROUTE_PROVIDER,
    Application,
    BootstrapRecords,
    create_stubs,
    read_class_names,
    register_broadcast_routes,
)
from ragstone_code.laravel.routing.global_helpers import ConfigValues
from ragstone_code.laravel.routing.middleware import (
    MiddlewareConfigurator,
    MiddlewareRegistry,
    default_middleware,
    read_kernel,
)
from ragstone_code.laravel.routing.route_records import MiddlewareEntry, RouteAttributes
from ragstone_code.laravel.routing.router import Router
from ragstone_code.project_files import World

_MAX_PROVIDERS: Final = 500


@dataclass(slots=True)
class MountedRoutes:
    """The router and the middleware after all known files were evaluated."""

    router: Router
    evaluator: Evaluator
    middleware: MiddlewareRegistry
    config: ConfigValues


def mount_routes(world: World) -> MountedRoutes:
    """Return the router of an application after bootstrap/app.php and all providers were evaluated."""
    router, records = Router(), BootstrapRecords()
    application = Application(router, records)
    evaluator = Evaluator(world, PHP, create_stubs(application, router))
    if world.has("bootstrap/app.php"):
        evaluator.run("bootstrap/app.php")
    middleware = _read_middleware(evaluator, records)
    _run_providers(application, evaluator)
    for arguments, site in records.routing:
        _mount_configured_files(router, arguments, site, evaluator)
    for attributes, site in records.broadcasts:
        register_broadcast_routes(router, attributes, site, evaluator)
    for callback, site in records.callbacks:
        evaluator.call(callback, [application], site)
    router.register_pending()
    if not router.state.routes:
        _mount_standard_files(router, evaluator)
    for change in router.state.group_changes:
        middleware.change_group(
            change.how,
            change.group,
            change.words,
            change.site,
        )
    for aliases, site in records.middleware_aliases:
        middleware.add_aliases(aliases, site)
    middleware.aliases.update(router.state.aliases)
    return MountedRoutes(router, evaluator, middleware, application.config)


def _read_middleware(evaluator: Evaluator, records: BootstrapRecords) -> MiddlewareRegistry:
    """Return the middleware that bootstrap/app.php configures; if it configures none, that of the kernel."""
    if records.middleware_callbacks or records.routing:
        registry = default_middleware()
        for callback, site in records.middleware_callbacks:
            evaluator.call(callback, [MiddlewareConfigurator(registry)], site)
        return registry
    kernels = ["App\\Http\\Kernel", *_declared_classes(evaluator.world, "Kernel")]
    return read_kernel(evaluator, kernels) or default_middleware()


def _declared_classes(world: World, ending: str) -> Iterator[str]:
    """Yield the classes in the application's files whose names have this ending."""
    for uri in world.uris:
        if not uri.endswith(f"{ending}.php") or uri.startswith(
            ("vendor/", "tests/", "node_modules/")
        ):
            continue
        module = world.module(uri)
        if module:
            yield from (definition.name for definition in module.classes)


# ── providers ─────────────────────────────────────────────────────────────────────────────────────


def _run_providers(application: Application, evaluator: Evaluator) -> None:
    """Call `register` of all providers, then `boot` of each, followed by its routes."""
    records = application.records
    queue = list(dict.fromkeys([*_listed_providers(evaluator), *records.providers]))
    if not queue:
        queue = list(_declared_classes(evaluator.world, "Provider"))
    records.providers.clear()
    seen: set[str] = set()
    providers: list[Instance] = []
    while queue and len(seen) < _MAX_PROVIDERS:
        name = queue.pop(0)
        if name.lower() in seen:
            continue
        seen.add(name.lower())
        if evaluator.lookup.of_class(name):
            provider = evaluator.make(name)
            providers.append(provider)
            if evaluator.lookup.method(name, "register"):
                evaluator.call_method(provider, "register")
        queue += records.providers
        records.providers.clear()
    for provider in providers:
        _boot_provider(application, provider, evaluator)


def _boot_provider(application: Application, provider: Instance, evaluator: Evaluator) -> None:
    """Call a provider's `boot`, then its routes: the closure it gave to `routes()`, or its `map` method."""
    if evaluator.lookup.method(provider.name, "boot"):
        evaluator.call_method(provider, "boot")
    application.router.register_pending()
    closure = application.records.route_closures.get(id(provider))
    if closure is not None:
        callback, site = closure
        evaluator.call(callback, [], site)
    elif _is_route_provider(provider, evaluator) and evaluator.lookup.method(
        provider.name, "map"
    ):
        evaluator.call_method(provider, "map")
    application.router.register_pending()


def _is_route_provider(provider: Instance, evaluator: Evaluator) -> bool:
    """Return whether a provider extends Laravel's route provider."""
    ancestors = evaluator.lookup.ancestors(provider.name)
    return any(ancestor.lower() == ROUTE_PROVIDER for ancestor in ancestors)


def _listed_providers(evaluator: Evaluator) -> Iterator[str]:
    """Yield the providers listed in config/app.php, bootstrap/providers.php, modules and packages."""
    world = evaluator.world
    if world.has("config/app.php"):
        config = first_known(evaluator.run("config/app.php"))
        if isinstance(config, Array):
            yield from read_class_names(config.get("providers"))
    if world.has("bootstrap/providers.php"):
        yield from read_class_names(evaluator.run("bootstrap/providers.php"))
    for uri in world.uris:
        is_manifest = uri.endswith(("/module.json", "/composer.json"))
        if is_manifest and "vendor/" not in uri and "node_modules/" not in uri:
            yield from _package_providers(world.text(uri) or "")


def _package_providers(text: str) -> Iterator[str]:
    """Yield the providers that the manifest of a module or a package names."""
    try:
        manifest = json.loads(text)
    except ValueError:
        return
    if not isinstance(manifest, dict):
        return
    extra = manifest.get("extra")
    laravel = extra.get("laravel") if isinstance(extra, dict) else None
    for section in (manifest, laravel):
        providers = section.get("providers") if isinstance(section, dict) else None
        if isinstance(providers, list):
            yield from (name for name in providers if isinstance(name, str))


# ── bootstrap/app.php ─────────────────────────────────────────────────────────────────────────────


def _mount_configured_files(
    router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator
) -> None:
    """Mount the files that `withRouting` names, in the framework's order: api, health, web, then."""
    if first_known(arguments.at(5, "pages")) is not None:
        evaluator.remark(
            site, "pages are routed by Laravel Folio, by the files of a folder: not known here"
        )
    using = first_known(arguments.at(0, "using"))
    then = arguments.at(8, "then")
    has_then = first_known(then) is not None
    if using is not None:
        evaluator.call(using, [], site)
    if using is None or has_then:
        _mount_api(router, arguments, site, evaluator)
        _add_health_route(router, arguments, site, evaluator)
        _mount_web(router, arguments, site, evaluator)
    if has_then:
        evaluator.call(then, [Unknown("the application")], site)
    if isinstance(first_known(arguments.at(4, "channels")), str):
        register_broadcast_routes(router, None, site, evaluator)
    router.register_pending()


def _mount_api(
    router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator
) -> None:
    """Mount the API route files under their prefix."""
    api_site = CallSite(site.uri, arguments.lines.get("api", site.line))
    prefix_line = arguments.lines.get("apiPrefix", api_site.line)
    attributes = RouteAttributes(
        prefix=display_text(arguments.at(7, "apiPrefix", "api")),
        middleware=(MiddlewareEntry("api", api_site.uri, api_site.line),),
        places=((site.uri, prefix_line),),
    )
    _mount_files(
        router,
        arguments.at(2, "api"),
        attributes,
        api_site,
        evaluator,
    )


def _add_health_route(
    router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator
) -> None:
    """Register the health route if `withRouting` names a path for it."""
    health = first_known(arguments.at(6, "health"))
    if not isinstance(health, str):
        return
    health_site = CallSite(site.uri, arguments.lines.get("health", site.line))
    router.by_framework = True
    router.on_call(
        "get",
        Arguments((health, None)),
        health_site,
        evaluator,
    )
    router.by_framework = False


def _mount_web(
    router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator
) -> None:
    """Mount the web route files."""
    web_site = CallSite(site.uri, arguments.lines.get("web", site.line))
    attributes = RouteAttributes(
        middleware=(MiddlewareEntry("web", web_site.uri, web_site.line),)
    )
    _mount_files(
        router,
        arguments.at(1, "web"),
        attributes,
        web_site,
        evaluator,
    )


def _mount_files(
    router: Router,
    files: Value,
    attributes: RouteAttributes,
    site: CallSite,
    evaluator: Evaluator,
) -> None:
    """Mount one route file or several."""
    if first_known(files) is not None:
        router.add_group(attributes, files, site, evaluator)


def _mount_standard_files(router: Router, evaluator: Evaluator) -> None:
    """Mount routes/web.php and routes/api.php if nothing that mounts them was found; leave a remark."""
    for uri, group, prefix in (
        ("routes/web.php", "web", None),
        ("routes/api.php", "api", "api"),
    ):
        if not evaluator.world.has(uri) or uri in evaluator.followed:
            continue
        site = CallSite(uri, 1)
        evaluator.remark(
            site, f"what mounts it was not found: taken as the framework's own {group} routes"
        )
        attributes = RouteAttributes(
            prefix=prefix, middleware=(MiddlewareEntry(group, uri, 1),)
        )
        router.add_group(attributes, uri, site, evaluator)
