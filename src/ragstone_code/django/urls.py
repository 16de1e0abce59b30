"""Django's urls: patterns below what includes them, names behind their namespaces."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from ragstone_code.django.patterns import simplified, written
from ragstone_code.django.routers import ROUTERS, Registered, registered
from ragstone_code.django.views import View, Views
from ragstone_code.graph_builder import GraphBuilder, Location
from ragstone_code.program import Program
from ragstone_code.python.values import (
    BoundMember,
    CallResult,
    ExternalName,
    ModuleValue,
    UnknownValue,
    Value,
    full_name,
)

PATHS: Final = frozenset(("path", "re_path", "url"))
ADMIN: Final = "django.contrib.admin.site.urls"
ACCOUNTS: Final = (
    ("login/", "login", "LoginView"), ("logout/", "logout", "LogoutView"),
    ("password_change/", "password_change", "PasswordChangeView"),
    ("password_change/done/", "password_change_done", "PasswordChangeDoneView"),
    ("password_reset/", "password_reset", "PasswordResetView"),
    ("password_reset/done/", "password_reset_done", "PasswordResetDoneView"),
    ("reset/<uidb64>/<token>/", "password_reset_confirm", "PasswordResetConfirmView"),
    ("reset/done/", "password_reset_complete", "PasswordResetCompleteView"),
)  # fmt: skip
"""What `django.contrib.auth.urls` has."""
DEEPEST: Final = 16


@dataclass(frozen=True, slots=True)
class Under:
    """What patterns stand below: the path before them, as written and as one, and their namespaces."""

    pattern: str = ""
    uri: str = ""
    names: tuple[str, ...] = ()
    conditional: bool = False
    wrapped: tuple[Value, ...] = ()
    urlconf: str = ""
    depth: int = 0


@dataclass
class Urls:
    """The urls of a project."""

    program: Program
    builder: GraphBuilder
    views: Views
    _entered: set[str] = field(default_factory=set)

    def read(self) -> None:
        """Keep the routes below every root that settings name; without settings, of modules nobody includes."""
        roots = self.views.models.settings.roots()
        for name, settings in roots:
            uri = self.program.interpreter.project.uri_of(name, settings.uri)
            module = self.program.interpreter.loaded.get(uri) if uri else None
            if module is None:
                self.builder.add_remark((settings.uri, 0), f"the root of urls, {name}, is no file of the project")
            else:
                self.module(module, Under(urlconf=name))
        for module in self._unincluded():
            if not roots:
                self.module(module, Under(urlconf=module.name))
            elif module.uri not in self._entered:
                self.builder.add_remark((module.uri, 1), "urlpatterns that no root of the settings reaches")

    def _unincluded(self) -> list[ModuleValue]:
        every = [one for one in self.program.modules() if isinstance(one.names.get("urlpatterns"), list)]
        taken = {one.args[0] for one in self.program.objects_of("django.urls.include", "django.conf.urls.include")
                 if one.args and isinstance(one.args[0], str)}  # fmt: skip
        return [one for one in every if not any(one.name == name or one.name.endswith(f".{name}") for name in taken)]

    def module(self, module: ModuleValue, under: Under) -> None:
        """Keep the patterns of a module."""
        self._entered.add(module.uri)
        patterns = module.names.get("urlpatterns")
        if patterns is None:
            self.builder.add_remark((module.uri, 0), "no urlpatterns")
        self.patterns(patterns, under, (module.uri, 1))

    def patterns(self, given: Value, under: Under, place: Location) -> None:
        """Keep patterns: a list of them, one, or what makes some."""
        if under.depth > DEEPEST:
            return
        if isinstance(given, list | tuple):
            for one in given:
                self.patterns(one, replace(under, depth=under.depth + 1), place)
        elif isinstance(given, CallResult):
            self._made(given, under)
        elif isinstance(given, BoundMember) and given.name == "urls" and isinstance(given.owner, CallResult):
            self._router(given.owner, under, place)
        elif given is not None:
            self.builder.add_remark(place, f"patterns that are not known ({_reason(given)})")

    def _made(self, one: CallResult, under: Under) -> None:
        short = one.callee.rpartition(".")[2]
        at = replace(under, conditional=under.conditional or one.conditional)
        if short in PATHS:
            self._path(one, at, regex=short != "path")
        elif short == "i18n_patterns":
            below = replace(at, pattern=f"{at.pattern}{{language}}/", uri=f"{at.uri}{{language}}/")
            self.patterns(one.args, below, (one.uri, one.line))
        elif short == "format_suffix_patterns":
            self.patterns(one.argument(0, "urlpatterns"), at, (one.uri, one.line))
        elif short in ("static", "staticfiles_urlpatterns"):
            self.builder.add_remark((one.uri, one.line), f"{short}(): served files, only while debugging")
        elif ROUTERS & set(one.type_names()):
            self._router(one, at, (one.uri, one.line))
        else:
            self.builder.add_remark((one.uri, one.line), f"patterns made by {one.callee}")

    def _path(self, one: CallResult, under: Under, *, regex: bool) -> None:
        place = (one.uri, one.line)
        route = one.argument(0, "regex" if regex else "route")
        if isinstance(route, CallResult) and route.callee.rpartition(".")[2] in (
            "gettext_lazy",
            "_",
            "pgettext_lazy",
            "gettext",
        ):
            route = route.args[-1] if route.args else route
        if not isinstance(route, str):
            self.builder.add_remark(place, f"a path that is not known ({_reason(route)})")
            route = "{?}"
        pattern = f"{under.pattern}{route}"
        below = replace(under, pattern=pattern, uri=f"{under.uri}{simplified(route) if regex else written(route)}")
        view = one.argument(1, "view")
        if self._including(view):
            self._include(view, below, place)
            return
        name = one.argument(3, "name")
        named = ":".join((*under.names, name)) if isinstance(name, str) else None
        self.views.route(View(view, below.uri, named, place, pattern, under.conditional, under.wrapped, under.urlconf))

    def _including(self, view: Value) -> bool:
        if isinstance(view, CallResult) and not view.method:
            return view.callee.rpartition(".")[2] == "include"
        return (
            isinstance(view, tuple | list)
            or full_name(view) == ADMIN
            or (isinstance(view, BoundMember) and view.name == "urls")
        )

    def _include(self, view: Value, under: Under, place: Location) -> None:
        if full_name(view) == ADMIN or (isinstance(view, BoundMember) and not self._is_router(view)):
            if full_name(view).endswith(("admin.site.urls", "AdminSite.urls")):
                self._admin(view, under, place)
            else:
                self.builder.add_remark(place, f"{under.uri or '/'}: patterns made by {full_name(view)}")
            return
        given = view.argument(0, "arg") if isinstance(view, CallResult) else view
        namespace = view.argument(1, "namespace") if isinstance(view, CallResult) else None
        app = None
        if isinstance(given, tuple | list) and given and not isinstance(given[0], CallResult):
            parts = [*given, None, None]
            given, app = parts[0], parts[1]
            namespace = namespace or (parts[2] if not isinstance(view, CallResult) else None)
        if isinstance(given, str):
            given = self._named(given, place)
        if isinstance(given, ModuleValue):
            app = app or given.names.get("app_name")
        inner = namespace or app
        names = (*under.names, inner) if isinstance(inner, str) else under.names
        self._below(given, replace(under, names=names, depth=under.depth + 1), place)

    def _below(self, given: Value, under: Under, place: Location) -> None:
        if isinstance(given, ModuleValue):
            self.module(given, under)
        elif isinstance(given, ExternalName):
            self._outside(given.name, under, place)
        else:
            self.patterns(given, under, place)

    def _named(self, name: str, place: Location) -> Value:
        uri = self.program.interpreter.project.uri_of(name, place[0])
        loaded = self.program.interpreter.load(uri) if uri else None
        return loaded if loaded is not None else ExternalName(name)

    def _outside(self, name: str, under: Under, place: Location) -> None:
        """Keep the urls of a package: Django's own for accounts are known, others are said not to be."""
        if name != "django.contrib.auth.urls":
            self.builder.add_remark(place, f"{under.uri or '/'}: the urls of {name}, which the project does not have")
            return
        for path, short, view in ACCOUNTS:
            made = View(
                ExternalName(f"django.contrib.auth.views.{view}"), f"{under.uri}{written(path)}",
                ":".join((*under.names, short)), place, f"{under.pattern}{path}", under.conditional, (), under.urlconf,
            )  # fmt: skip
            self.views.route(made)

    def _admin(self, view: Value, under: Under, place: Location) -> None:
        """Keep the admin as one route: what is below it depends on what is registered."""
        names = ":".join((*under.names, "admin", "index"))
        handler = ExternalName(full_name(view) or ADMIN)
        self.views.route(View(handler, under.uri, names, place, under.pattern, under.conditional, (), under.urlconf))
        self.builder.add_remark(place, f"{under.uri}: one route stands for all that the admin has below it")

    def _is_router(self, view: BoundMember) -> bool:
        return isinstance(view.owner, CallResult) and bool(ROUTERS & set(view.owner.type_names()))

    def _router(self, router: CallResult, under: Under, place: Location) -> None:
        if not ROUTERS & set(router.type_names()):
            self.builder.add_remark(place, f"patterns made by {router.callee}")
            return
        for one in registered(self.program, router, self.views.models):
            self._registered(one, under)

    def _registered(self, one: Registered, under: Under) -> None:
        pattern = f"{under.pattern}{one.pattern}"
        name = ":".join((*under.names, one.name))
        conditional = under.conditional or one.conditional
        made = View(
            one.view, f"{under.uri}{one.uri}", name, one.place, pattern, conditional, (), under.urlconf, one.actions
        )
        self.views.route(made)


def _reason(value: Value) -> str:
    return value.reason if isinstance(value, UnknownValue) else full_name(value) or "computed"
