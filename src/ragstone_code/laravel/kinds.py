"""What a class is by what it descends from: the framework's own bases, as data."""

from __future__ import annotations

from typing import Final

from ragstone.types import Graph, Node
from ragstone_code.laravel.app import App, AppClass, class_aliases


def _low(*names: str) -> frozenset[str]:
    """Return names in lower case, as lineages are compared."""
    return frozenset(name.lower() for name in names)


FORM_REQUESTS: Final = _low(
    r"Illuminate\Foundation\Http\FormRequest",
    r"Illuminate\Foundation\Auth\EmailVerificationRequest",
    r"Laravel\Fortify\Http\Requests\LoginRequest",
    r"Laravel\Fortify\Http\Requests\TwoFactorLoginRequest",
)
RESOURCES: Final = _low(
    r"Illuminate\Http\Resources\Json\JsonResource",
    r"Illuminate\Http\Resources\Json\Resource",
    r"Illuminate\Http\Resources\Json\ResourceCollection",
    r"Illuminate\Http\Resources\Json\AnonymousResourceCollection",
    r"Illuminate\Http\Resources\JsonApi\JsonApiResource",
    r"Illuminate\Http\Resources\JsonApi\AnonymousResourceCollection",
)
NOTIFICATIONS: Final = _low(
    r"Illuminate\Notifications\Notification",
    r"Illuminate\Auth\Notifications\ResetPassword",
    r"Illuminate\Auth\Notifications\VerifyEmail",
)
MAILABLES: Final = _low(r"Illuminate\Mail\Mailable", r"Illuminate\Contracts\Mail\Mailable")
COMMANDS: Final = _low(
    r"Illuminate\Console\Command",
    r"Illuminate\Console\GeneratorCommand",
    r"Illuminate\Console\MigrationGeneratorCommand",
)
EVENT_PROVIDERS: Final = _low(r"Illuminate\Foundation\Support\Providers\EventServiceProvider")
AUTH_PROVIDERS: Final = _low(r"Illuminate\Foundation\Support\Providers\AuthServiceProvider")
PROVIDERS: Final = (
    _low(
        r"Illuminate\Support\ServiceProvider",
        r"Illuminate\Support\AggregateServiceProvider",
        r"Illuminate\Foundation\Support\Providers\RouteServiceProvider",
    )
    | EVENT_PROVIDERS
    | AUTH_PROVIDERS
)
RULES: Final = _low(
    r"Illuminate\Contracts\Validation\Rule",
    r"Illuminate\Contracts\Validation\ValidationRule",
    r"Illuminate\Contracts\Validation\InvokableRule",
    r"Illuminate\Contracts\Validation\ImplicitRule",
)
EVENTS: Final = _low(
    r"Illuminate\Foundation\Events\Dispatchable",
    r"Illuminate\Contracts\Broadcasting\ShouldBroadcast",
    r"Illuminate\Contracts\Broadcasting\ShouldBroadcastNow",
    r"Illuminate\Contracts\Events\ShouldDispatchAfterCommit",
    r"Illuminate\Broadcasting\InteractsWithSockets",
)
JOBS: Final = _low(
    r"Illuminate\Foundation\Bus\Dispatchable",
    r"Illuminate\Foundation\Queue\Queueable",
    r"Illuminate\Bus\Queueable",
    r"Illuminate\Bus\Batchable",
    r"Illuminate\Queue\InteractsWithQueue",
    r"Illuminate\Contracts\Queue\ShouldQueue",
    r"Lorisleiva\Actions\Concerns\AsAction",
    r"Lorisleiva\Actions\Concerns\AsJob",
)
COMPONENTS: Final = _low(r"Livewire\Component", r"Illuminate\View\Component", r"Livewire\Volt\Component")
CONTROLLERS: Final = _low(r"Illuminate\Routing\Controller")
MODELS: Final = _low(
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

_IN_ORDER: Final = (
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
"""The first that fits counts: a queued notification is a notification, a queued listener is named by what it hears."""

BY_PLACE: Final = (("Events", "event"), ("Jobs", "job"), ("Policies", "policy"))
"""What a class without a telling base is by the folder it is in."""
ELSEWHERE: Final = frozenset(("Http", "Models", "Listeners", "Console", "Livewire", "Filament", "Observers", "Tests"))
"""Folders whose own folders say nothing of that kind."""


def kind_of(app: App, name: str) -> str:
    """Return what a class is by its lineage: request, resource, event, job, …; nothing where no base says so."""
    lineage = {one.lower() for one in app.lineage(name)}
    parts = name.split("\\")[:-1]
    for kind, bases in _IN_ORDER:
        if lineage & bases:
            return "listener" if kind == "job" and "Listeners" in parts else kind
    return "" if ELSEWHERE.intersection(parts) else next((kind for part, kind in BY_PLACE if part in parts), "")


def is_model(app: App, name: str) -> bool:
    """Return whether a class is a model."""
    return app.is_a(name, MODELS)


def typed_classes(app: App, *, taken: frozenset[str] = frozenset()) -> Graph:
    """Return a node for every class that is something of the framework's, those whose keys are taken left out."""
    nodes = tuple(_node(app, known) for known in app.classes.values() if known.definition.kind == "class")
    own = tuple(node for node in nodes if node and node.key not in taken)
    return Graph(nodes=own, aliases=class_aliases(own))


def _node(app: App, known: AppClass) -> Node | None:
    """Return the node of a class, None for one that is nothing in particular."""
    kind = kind_of(app, known.name)
    return app.own_class_node(known, kind) if kind else None
