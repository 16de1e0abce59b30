"""The routes that `Auth::routes()` of laravel/ui registers; the application has their controllers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ragstone_code.evaluate import Arguments, CallSite, Evaluator, Value, first_known
from ragstone_code.laravel.routing.route_records import RouteAttributes, read_mapping

if TYPE_CHECKING:
    from ragstone_code.laravel.routing.router import Router


def register_auth_routes(
    router: Router, arguments: Arguments, site: CallSite, evaluator: Evaluator
) -> Value:
    """Register the routes of `Auth::routes(options)`."""
    options = read_mapping(arguments.at(0, "options"))
    namespace = _controller_namespace(router, evaluator)
    base = (namespace or router.current_group().namespace or "").strip("\\")
    confirms_password = (
        evaluator.lookup.of_class(f"{base}\\Auth\\ConfirmPasswordController") is not None
    )
    defaults = {
        "login": True,
        "logout": True,
        "register": True,
        "reset": True,
        "confirm": confirms_password,
        "verify": False,
    }
    for option, default in defaults.items():
        if first_known(options.get(option, default)) is False:
            continue
        with router.in_group(RouteAttributes(namespace=namespace)):
            for method, uri, action, name in _AUTH_ROUTES[option]:
                handle = router.add_route(
                    (method,),
                    uri,
                    f"Auth\\{action}",
                    site,
                    evaluator,
                )
                if name:
                    handle.on_call("name", Arguments((name,)), site, evaluator)
    return None


def _controller_namespace(router: Router, evaluator: Evaluator) -> str | None:
    """Return the namespace that has to be added; None if the current group already has the controllers."""
    namespace = router.current_group().namespace
    controller = f"{namespace}\\Auth\\LoginController" if namespace else "Auth\\LoginController"
    return None if evaluator.lookup.of_class(controller) else "App\\Http\\Controllers"


_AUTH_ROUTES: Final[dict[str, tuple[tuple[str, str, str, str], ...]]] = {
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
        (
            "GET",
            "password/reset",
            "ForgotPasswordController@showLinkRequestForm",
            "password.request",
        ),
        (
            "POST",
            "password/email",
            "ForgotPasswordController@sendResetLinkEmail",
            "password.email",
        ),
        (
            "GET",
            "password/reset/{token}",
            "ResetPasswordController@showResetForm",
            "password.reset",
        ),
        ("POST", "password/reset", "ResetPasswordController@reset", "password.update"),
    ),
    "confirm": (
        (
            "GET",
            "password/confirm",
            "ConfirmPasswordController@showConfirmForm",
            "password.confirm",
        ),
        ("POST", "password/confirm", "ConfirmPasswordController@confirm", ""),
    ),
    "verify": (
        ("GET", "email/verify", "VerificationController@show", "verification.notice"),
        (
            "GET",
            "email/verify/{id}/{hash}",
            "VerificationController@verify",
            "verification.verify",
        ),
        ("POST", "email/resend", "VerificationController@resend", "verification.resend"),
    ),
}
"""For each option: HTTP method, path, action and name of its routes."""
