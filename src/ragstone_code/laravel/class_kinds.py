"""The kind of a class, by the framework classes it descends from."""

from __future__ import annotations

from typing import Final

from ragstone.types import Graph, Node
from ragstone_code.laravel.app import App, class_aliases


def _lower_names(*names: str) -> frozenset[str]:
    """Return names in lower case, because ancestors are compared in lower case."""
    return frozenset(name.lower() for name in names)


FORM_REQUESTS: Final = _lower_names(
    r"Illuminate\Foundation\Http\FormRequest",
    r"Illuminate\Foundation\Auth\EmailVerificationRequest",
    r"Laravel\Fortify\Http\Requests\LoginRequest",
    r"Laravel\Fortify\Http\Requests\TwoFactorLoginRequest",
)
RESOURCES: Final = _lower_names(
    r"Illuminate\Http\Resources\Json\JsonResource",
    r"Illuminate\Http\Resources\Json\Resource",
    r"Illuminate\Http\Resources\Json\ResourceCollection",
    r"Illuminate\Http\Resources\Json\AnonymousResourceCollection",
    r"Illuminate\Http\Resources\JsonApi\JsonApiResource",
    r"Illuminate\Http\Resources\JsonApi\AnonymousResourceCollection",
)
NOTIFICATIONS: Final = _lower_names(
    r"Illuminate\Notifications\Notification",
    r"Illuminate\Auth\Notifications\ResetPassword",
    r"Illuminate\Auth\Notifications\VerifyEmail",
)
MAILABLES: Final = _lower_names(
    r"Illuminate\Mail\Mailable", r"Illuminate\Contracts\Mail\Mailable"
)
COMMANDS: Final = _lower_names(
    r"Illuminate\Console\Command",
    r"Illuminate\Console\GeneratorCommand",
    r"Illuminate\Console\MigrationGeneratorCommand",
)
EVENT_PROVIDERS: Final = _lower_names(
    r"Illuminate\Foundation\Support\Providers\EventServiceProvider"
)
AUTH_PROVIDERS: Final = _lower_names(
    r"Illuminate\Foundation\Support\Providers\AuthServiceProvider"
)
PROVIDERS: Final = (
    _lower_names(
        r"Illuminate\Support\ServiceProvider",
        r"Illuminate\Support\AggregateServiceProvider",
        r"Illuminate\Foundation\Support\Providers\RouteServiceProvider",
    )
    | EVENT_PROVIDERS
    | AUTH_PROVIDERS
)
RULES: Final = _lower_names(
    r"Illuminate\Contracts\Validation\Rule",
    r"Illuminate\Contracts\Validation\ValidationRule",
    r"Illuminate\Contracts\Validation\InvokableRule",
    r"Illuminate\Contracts\Validation\ImplicitRule",
)
EVENTS: Final = _lower_names(
    r"Illuminate\Foundation\Events\Dispatchable",
    r"Illuminate\Contracts\Broadcasting\ShouldBroadcast",
    r"Illuminate\Contracts\Broadcasting\ShouldBroadcastNow",
    r"Illuminate\Contracts\Events\ShouldDispatchAfterCommit",
    r"Illuminate\Broadcasting\InteractsWithSockets",
)
JOBS: Final = _lower_names(
    r"Illuminate\Foundation\Bus\Dispatchable",
    r"Illuminate\Foundation\Queue\Queueable",
    r"Illuminate\Bus\Queueable",
    r"Illuminate\Bus\Batchable",
    r"Illuminate\Queue\InteractsWithQueue",
    r"Illuminate\Contracts\Queue\ShouldQueue",
    r"Lorisleiva\Actions\Concerns\AsAction",
    r"Lorisleiva\Actions\Concerns\AsJob",
)
COMPONENTS: Final = _lower_names(
    r"Livewire\Component", r"Illuminate\View\Component", r"Livewire\Volt\Component"
)
CONTROLLERS: Final = _lower_names(r"Illuminate\Routing\Controller")
MODELS: Final = _lower_names(
    r"Illuminate\Database\Eloquent\Model",
    r"Illuminate\Foundation\Auth\User",
    r"Illuminate\Database\Eloquent\Relations\Pivot",
    r"Illuminate\Database\Eloquent\Relations\MorphPivot",
    r"Illuminate\Notifications\DatabaseNotification",
    r"Laravel\Sanctum\PersonalAccessToken",
    r"Laravel\Jetstream\Team",
    r"Laravel\Jetstream\Membership",
    r"Laravel\Jetstream\TeamInvitation",
    r"Spatie\Permission\Models\Role",
    r"Spatie\Permission\Models\Permission",
)

_BASES_BY_KIND: Final = (
    ("request", FORM_REQUESTS),
    ("resource", RESOURCES),
    ("notification", NOTIFICATIONS),
    ("mail", MAILABLES),
    ("command", COMMANDS),
    ("provider", PROVIDERS),
    ("rule", RULES),
    ("component", COMPONENTS),
    ("event", EVENTS),
    ("job", JOBS),
    ("controller", CONTROLLERS),
)
"""The first match wins: a queued notification is a notification."""

FOLDER_KINDS: Final = (("Events", "event"), ("Jobs", "job"), ("Policies", "policy"))
"""The kind of a class without a known base, by a part of its namespace."""
OTHER_FOLDERS: Final = frozenset(
    ("Http", "Models", "Listeners", "Console", "Livewire", "Filament", "Observers", "Tests")
)
"""Namespaces in which a subfolder such as `Events` says nothing about the kind."""


def kind_of(app: App, name: str) -> str:
    """Return the kind of a class (request, resource, event, job, …), or '' if its ancestors do not tell."""
    ancestors = {ancestor.lower() for ancestor in app.lineage(name)}
    namespace = name.split("\\")[:-1]
    for kind, bases in _BASES_BY_KIND:
        if ancestors & bases:
            is_listener = kind == "job" and "Listeners" in namespace
            return "listener" if is_listener else kind
    if OTHER_FOLDERS.intersection(namespace):
        return ""
    return next((kind for folder, kind in FOLDER_KINDS if folder in namespace), "")


def is_model(app: App, name: str) -> bool:
    """Return whether a class is a model."""
    return app.is_a(name, MODELS)


def read_typed_classes(app: App, *, skipped_keys: frozenset[str] = frozenset()) -> Graph:
    """Return a node for every class whose kind is known, except the classes with a skipped key."""
    nodes: list[Node] = []
    for app_class in app.classes.values():
        if app_class.definition.kind != "class":
            continue
        kind = kind_of(app, app_class.name)
        if kind and f"class:{app_class.name}" not in skipped_keys:
            nodes.append(app.own_class_node(app_class, kind))
    return Graph(nodes=tuple(nodes), aliases=class_aliases(nodes))
