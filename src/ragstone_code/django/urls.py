"""Django's URLs: patterns with the prefixes and namespaces of the modules that include them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from ragstone_code.django.patterns import convert_path, convert_regex
from ragstone_code.django.routers import ROUTERS, RouterPattern, router_patterns
from ragstone_code.django.views import UrlView, ViewRoutes
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.python.values import (
    BoundMember,
    CallResult,
    ExternalName,
    ModuleValue,
    UnknownValue,
    Value,
    full_name,
)
from ragstone_code.python_project import Program
from ragstone_code.route_definition import Location

_PATH_FUNCTIONS: Final = frozenset(("path", "re_path", "url"))
_TRANSLATIONS: Final = ("gettext_lazy", "_", "pgettext_lazy", "gettext")
_ADMIN_URLS: Final = "django.contrib.admin.site.urls"
_ACCOUNT_URLS: Final = "django.contrib.auth.urls"
_ACCOUNT_PATTERNS: Final = (
    ("login/", "login", "LoginView"),
    ("logout/", "logout", "LogoutView"),
    ("password_change/", "password_change", "PasswordChangeView"),
    ("password_change/done/", "password_change_done", "PasswordChangeDoneView"),
    ("password_reset/", "password_reset", "PasswordResetView"),
    ("password_reset/done/", "password_reset_done", "PasswordResetDoneView"),
    ("reset/<uidb64>/<token>/", "password_reset_confirm", "PasswordResetConfirmView"),
    ("reset/done/", "password_reset_complete", "PasswordResetCompleteView"),
)
"""Path, name and view of each pattern in `django.contrib.auth.urls`."""
_MAX_DEPTH: Final = 16


@dataclass(frozen=True, slots=True)
class UrlContext:
    """The prefix and namespaces of the patterns that are being read."""

    pattern: str = ""
    """The prefix as written."""
    uri: str = ""
    """The prefix with parameters in braces."""
    namespaces: tuple[str, ...] = ()
    conditional: bool = False
    urlconf: str = ""
    depth: int = 0

    def with_prefix(self, pattern: str, uri: str) -> UrlContext:
        """Return the context with a longer prefix."""
        return replace(self, pattern=f"{self.pattern}{pattern}", uri=f"{self.uri}{uri}")

    def deeper(self) -> UrlContext:
        """Return the context one nesting level deeper."""
        return replace(self, depth=self.depth + 1)

    def in_namespace(self, namespace: Value) -> UrlContext:
        """Return the context in a namespace; the same context if the namespace is no text."""
        if not isinstance(namespace, str):
            return self
        return replace(self, namespaces=(*self.namespaces, namespace))

    def qualify(self, *names: str) -> str:
        """Return a route name with its namespaces."""
        return ":".join((*self.namespaces, *names))


class UrlReader:
    """Adds the routes of all URL modules to a graph."""

    def __init__(
        self,
        program: Program,
        builder: GraphBuilder,
        views: ViewRoutes,
    ) -> None:
        self.program = program
        self.builder = builder
        self.views = views
        self._visited: set[str] = set()

    def read(self) -> None:
        """Add the routes below the root modules of the settings, else of modules that no other includes."""
        roots = self.views.models.settings.url_roots()
        for name, settings in roots:
            uri = self.program.interpreter.project.uri_of(name, settings.uri)
            module: ModuleValue | None = None
            if uri:
                module = self.program.interpreter.loaded.get(uri)
            if module is None:
                text = f"the root of urls, {name}, is no file of the project"
                self.builder.add_remark((settings.uri, 0), text)
            else:
                self._read_module(module, UrlContext(urlconf=name))
        for module in self._modules_without_include():
            if not roots:
                self._read_module(module, UrlContext(urlconf=module.name))
            elif module.uri not in self._visited:
                self.builder.add_remark(
                    (module.uri, 1),
                    "urlpatterns that no root of the settings reaches",
                )

    def _modules_without_include(self) -> list[ModuleValue]:
        """Return the URL modules that no `include()` names."""
        included: set[str] = set()
        for call in self.program.objects_of(
            "django.urls.include",
            "django.conf.urls.include",
        ):
            if call.args and isinstance(call.args[0], str):
                included.add(call.args[0])
        modules: list[ModuleValue] = []
        for module in self.program.modules():
            is_included = any(
                module.name == name or module.name.endswith(f".{name}") for name in included
            )
            if isinstance(module.names.get("urlpatterns"), list) and not is_included:
                modules.append(module)
        return modules

    def _read_module(self, module: ModuleValue, context: UrlContext) -> None:
        self._visited.add(module.uri)
        patterns = module.names.get("urlpatterns")
        if patterns is None:
            self.builder.add_remark((module.uri, 0), "no urlpatterns")
        self._read_patterns(patterns, context, (module.uri, 1))

    def _read_patterns(
        self,
        patterns: Value,
        context: UrlContext,
        location: Location,
    ) -> None:
        """Add the routes of a list of patterns, of one pattern, or of a call that creates patterns."""
        if context.depth > _MAX_DEPTH or patterns is None:
            return
        if isinstance(patterns, list | tuple):
            for pattern in patterns:
                self._read_patterns(pattern, context.deeper(), location)
        elif isinstance(patterns, CallResult):
            self._read_call(patterns, context)
        elif _is_urls_member(patterns) and isinstance(patterns.owner, CallResult):
            self._read_router(patterns.owner, context, location)
        else:
            self.builder.add_remark(
                location,
                f"patterns that are not known ({_reason(patterns)})",
            )

    def _read_call(self, call: CallResult, context: UrlContext) -> None:
        """Add the routes of a call in a list of patterns."""
        function = call.callee.rpartition(".")[2]
        location = (call.uri, call.line)
        inner = replace(context, conditional=context.conditional or call.conditional)
        if function in _PATH_FUNCTIONS:
            self._read_path(call, inner, is_regex=function != "path")
        elif function == "i18n_patterns":
            self._read_patterns(
                call.args,
                inner.with_prefix("{language}/", "{language}/"),
                location,
            )
        elif function == "format_suffix_patterns":
            self._read_patterns(call.argument(0, "urlpatterns"), inner, location)
        elif function in ("static", "staticfiles_urlpatterns"):
            self.builder.add_remark(
                location,
                f"{function}(): served files, only while debugging",
            )
        else:
            self._read_router(call, inner, location)

    # ── paths ─────────────────────────────────────────────────────────────────────────────────────

    def _read_path(
        self,
        call: CallResult,
        context: UrlContext,
        *,
        is_regex: bool,
    ) -> None:
        """Add the route of `path()` or `re_path()`, or the patterns that it includes."""
        location = (call.uri, call.line)
        if is_regex:
            route = self._path_text(call.argument(0, "regex"), location)
            inner = context.with_prefix(route, convert_regex(route))
        else:
            route = self._path_text(call.argument(0, "route"), location)
            inner = context.with_prefix(route, convert_path(route))
        view = call.argument(1, "view")
        if _is_include(view):
            self._read_include(view, inner, location)
            return
        name = call.argument(3, "name")
        qualified_name: str | None = None
        if isinstance(name, str):
            qualified_name = context.qualify(name)
        self._add_view(view, qualified_name, inner, location)

    def _path_text(self, route: Value, location: Location) -> str:
        """Return the text of a path; a translated path counts as written, an unknown one as `{?}`."""
        if (
            isinstance(route, CallResult)
            and route.callee.rpartition(".")[2] in _TRANSLATIONS
            and route.args
        ):
            route = route.args[-1]
        if isinstance(route, str):
            return route
        self.builder.add_remark(
            location,
            f"a path that is not known ({_reason(route)})",
        )
        return "{?}"

    def _add_view(
        self,
        view: Value,
        name: str | None,
        context: UrlContext,
        location: Location,
    ) -> None:
        url_view = UrlView(
            view,
            context.uri,
            name,
            location,
            context.pattern,
            context.conditional,
            context.urlconf,
        )
        self.views.add_view(url_view)

    # ── includes ──────────────────────────────────────────────────────────────────────────────────

    def _read_include(
        self,
        view: Value,
        context: UrlContext,
        location: Location,
    ) -> None:
        """Add the routes of included patterns below a prefix."""
        if full_name(view) == _ADMIN_URLS or (
            isinstance(view, BoundMember) and not _is_router(view.owner)
        ):
            self._read_site(view, context, location)
            return
        included = _read_included(view)
        target = included.target
        if isinstance(target, str):
            target = self._load_module(target, location)
        app_name = included.app_name
        if isinstance(target, ModuleValue):
            app_name = app_name or target.names.get("app_name")
        inner = context.deeper().in_namespace(included.namespace or app_name)
        if isinstance(target, ModuleValue):
            self._read_module(target, inner)
        elif isinstance(target, ExternalName):
            self._read_external(target.name, inner, location)
        else:
            self._read_patterns(target, inner, location)

    def _load_module(self, name: str, location: Location) -> Value:
        uri = self.program.interpreter.project.uri_of(name, location[0])
        if uri:
            module = self.program.interpreter.load(uri)
            if module is not None:
                return module
        return ExternalName(name)

    def _read_external(
        self,
        name: str,
        context: UrlContext,
        location: Location,
    ) -> None:
        """Add the patterns of `django.contrib.auth.urls`; add a remark for other packages."""
        if name != _ACCOUNT_URLS:
            text = f"{context.uri or '/'}: the urls of {name}, which the project does not have"
            self.builder.add_remark(location, text)
            return
        for path, route_name, view_name in _ACCOUNT_PATTERNS:
            view = ExternalName(f"django.contrib.auth.views.{view_name}")
            inner = context.with_prefix(path, convert_path(path))
            self._add_view(view, context.qualify(route_name), inner, location)

    def _read_site(self, view: Value, context: UrlContext, location: Location) -> None:
        """Add an admin site as one route, because its patterns depend on the registered models."""
        name = full_name(view)
        if not name.endswith(("admin.site.urls", "AdminSite.urls")):
            self.builder.add_remark(
                location,
                f"{context.uri or '/'}: patterns made by {name}",
            )
            return
        self._add_view(
            ExternalName(name),
            context.qualify("admin", "index"),
            context,
            location,
        )
        text = f"{context.uri}: one route stands for all that the admin has below it"
        self.builder.add_remark(location, text)

    # ── routers ───────────────────────────────────────────────────────────────────────────────────

    def _read_router(
        self,
        router: CallResult,
        context: UrlContext,
        location: Location,
    ) -> None:
        if not _is_router(router):
            self.builder.add_remark(location, f"patterns made by {router.callee}")
            return
        for router_pattern in router_patterns(self.program, router, self.views.models):
            self._add_router_pattern(router_pattern, context)

    def _add_router_pattern(
        self,
        router_pattern: RouterPattern,
        context: UrlContext,
    ) -> None:
        url_view = UrlView(
            router_pattern.view,
            f"{context.uri}{router_pattern.uri}",
            context.qualify(router_pattern.name),
            router_pattern.place,
            f"{context.pattern}{router_pattern.pattern}",
            context.conditional or router_pattern.conditional,
            context.urlconf,
            router_pattern.actions,
        )
        self.views.add_view(url_view)


@dataclass(frozen=True, slots=True)
class _IncludedUrls:
    """The target of an include with its names."""

    target: Value
    app_name: Value = None
    namespace: Value = None


def _read_included(view: Value) -> _IncludedUrls:
    """Return the parts of `include(target, namespace)`, `include((target, app_name))` or a bare tuple."""
    target = view
    namespace: Value = None
    if isinstance(view, CallResult):
        target = view.argument(0, "arg")
        namespace = view.argument(1, "namespace")
    is_pair = (
        isinstance(target, tuple | list)
        and bool(target)
        and not isinstance(target[0], CallResult)
    )
    if not is_pair:
        return _IncludedUrls(target, None, namespace)
    parts = [*target, None, None]
    if not isinstance(view, CallResult):
        namespace = parts[2]
    return _IncludedUrls(parts[0], parts[1], namespace)


def _is_include(view: Value) -> bool:
    if isinstance(view, CallResult) and not view.method:
        return view.callee.rpartition(".")[2] == "include"
    return (
        isinstance(view, tuple | list)
        or full_name(view) == _ADMIN_URLS
        or _is_urls_member(view)
    )


def _is_urls_member(value: Value) -> bool:
    return isinstance(value, BoundMember) and value.name == "urls"


def _is_router(value: Value) -> bool:
    return isinstance(value, CallResult) and not ROUTERS.isdisjoint(value.type_names())


def _reason(value: Value) -> str:
    if isinstance(value, UnknownValue):
        return value.reason
    return full_name(value) or "computed"
