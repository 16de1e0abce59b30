"""The routes of `Auth::routes()` (laravel/ui), which the app has controllers for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ragstone_code.evaluate import Arguments, CallSite, Evaluator, Value, first_known
from ragstone_code.laravel.routing.records import RouteAttributes, mapped

if TYPE_CHECKING:
    from ragstone_code.laravel.routing.router import Router


def auth_routes(router: Router, given: Arguments, site: CallSite, machine: Evaluator) -> Value:
    """Register what `Auth::routes()` does."""
    options = mapped(given.at(0, "options"))
    group = router.state.stack[-1] if router.state.stack else RouteAttributes()
    inside = f"{group.namespace}\\Auth\\LoginController" if group.namespace else "Auth\\LoginController"
    namespace = None if machine.lookup.of_class(inside) else "App\\Http\\Controllers"
    base = (namespace or group.namespace or "").strip("\\")
    confirm = machine.lookup.of_class(f"{base}\\Auth\\ConfirmPasswordController") is not None
    wanted = {"login": True, "logout": True, "register": True, "reset": True, "confirm": confirm, "verify": False}
    for option, standard in wanted.items():
        told = first_known(options.get(option, standard))
        if told is False:
            continue
        outer = RouteAttributes(namespace=namespace)
        router.state.stack.append(router.state.stack[-1].merged(outer) if router.state.stack else outer)
        for verb, uri, uses, name in _AUTH[option]:
            handle = router.route((verb,), uri, f"Auth\\{uses}", site, machine)
            if name:
                handle.on_call("name", Arguments((name,)), site, machine)
        router.state.stack.pop()
    return None


_AUTH: Final[dict[str, tuple[tuple[str, str, str, str], ...]]] = {
    "login": (
        ("GET", "login", "LoginController@showLoginForm", "login"),
        ("POST", "login", "LoginController@login", ""),
    ),
    "logout": (("POST", "logout", "LoginController@logout", "logout"),),
    "register": (
        ("GET", "register", "RegisterController@showRegistrationForm", "register"),
        ("POST", "register", "RegisterController@register", ""),
    ),
    "reset": (
        ("GET", "password/reset", "ForgotPasswordController@showLinkRequestForm", "password.request"),
        ("POST", "password/email", "ForgotPasswordController@sendResetLinkEmail", "password.email"),
        ("GET", "password/reset/{token}", "ResetPasswordController@showResetForm", "password.reset"),
        ("POST", "password/reset", "ResetPasswordController@reset", "password.update"),
    ),
    "confirm": (
        ("GET", "password/confirm", "ConfirmPasswordController@showConfirmForm", "password.confirm"),
        ("POST", "password/confirm", "ConfirmPasswordController@confirm", ""),
    ),
    "verify": (
        ("GET", "email/verify", "VerificationController@show", "verification.notice"),
        ("GET", "email/verify/{id}/{hash}", "VerificationController@verify", "verification.verify"),
        ("POST", "email/resend", "VerificationController@resend", "verification.resend"),
    ),
}
