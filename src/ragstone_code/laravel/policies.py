"""Policies of models and abilities of the gate: by registration, by attribute, and by naming convention."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from ragstone.types import Alias, Confidence, Graph, Json, Link, Node
from ragstone_code import program_tree
from ragstone_code.laravel.app import App, AppClass, class_aliases
from ragstone_code.laravel.class_kinds import PROVIDERS
from ragstone_code.laravel.code_bodies import LocatedCall
from ragstone_code.laravel.syntax import (
    SyntaxNode,
    argument_at,
    array_entries,
    array_values,
    called_name,
    class_of,
    receiver,
    returned_values,
    text_of,
)

ATTRIBUTE: Final = "illuminate\\database\\eloquent\\attributes\\usepolicy"
GATES: Final = frozenset(
    (
        "gate",
        "illuminate\\support\\facades\\gate",
        "illuminate\\contracts\\auth\\access\\gate",
        "illuminate\\auth\\access\\gate",
    )
)
REGISTRY_KEY: Final = "registry:policies"
_FILTER_METHODS: Final = frozenset(("before", "after"))
"""Public methods of a policy that are not abilities."""
_RESOURCE_ABILITIES: Final = ("viewAny", "view", "create", "update", "delete")


@dataclass(frozen=True, slots=True)
class PolicyRegistration:
    """The policy of a model, with the place that names it."""

    policy: str
    uri: str
    line: int
    how: str

    @property
    def confidence(self) -> Confidence:
        """Return the confidence of the link from the model to the policy."""
        return "convention" if self.how == "convention" else "declared"


@dataclass
class Policies:
    """The policies of an application's models, looked up in the same order as Laravel's gate."""

    app: App
    registered: dict[str, PolicyRegistration] = field(default_factory=dict)
    """Registered policies by the model's full name in lower case."""
    names: dict[str, str] = field(default_factory=dict)
    """Names of the registered models as they are written, by name in lower case."""
    abilities: dict[str, Node] = field(default_factory=dict)
    """Abilities that are defined without a policy, by name."""
    places: list[str] = field(default_factory=list)
    """Files and lines that register policies."""
    uses_convention: bool = True
    """False if the application guesses policy names with its own function."""

    def find(self, model: str) -> PolicyRegistration | None:
        """Return the policy of a model: registered, by attribute, by name, or registered for a parent class."""
        registration = self.registered.get(model.lower()) or self._find_attribute(model)
        if registration is None and self.uses_convention:
            registration = self._find_by_name(model)
        if registration is None:
            registration = self._find_for_parent(model)
        return registration

    def outside_models(self) -> list[str]:
        """Return the registered classes that the application does not declare, such as framework models."""
        return [name for name in self.names.values() if self.app.find_class(name) is None]

    def _find_attribute(self, model: str) -> PolicyRegistration | None:
        """Return the policy that `#[UsePolicy]` names."""
        model_class = self.app.find_class(model)
        if model_class is None:
            return None
        for attribute in model_class.definition.attributes:
            if (
                not isinstance(attribute, program_tree.New)
                or class_of(attribute).lower() != ATTRIBUTE
            ):
                continue
            policy = class_of(
                argument_at(attribute, 0, "class"),
                model_class.name,
            )
            if policy:
                name = self.app.declared_name(policy)
                return PolicyRegistration(
                    name,
                    model_class.uri,
                    attribute.line,
                    "attribute",
                )
        return None

    def _find_by_name(self, model: str) -> PolicyRegistration | None:
        """Return the first class that has one of the names that the gate tries."""
        for name in policy_names(model):
            policy = self.app.find_class(name)
            if policy:
                return PolicyRegistration(
                    policy.name,
                    policy.uri,
                    policy.definition.line,
                    "convention",
                )
        return None

    def _find_for_parent(self, model: str) -> PolicyRegistration | None:
        parents = list(self.app.lineage(model))[1:]
        for parent in parents:
            registration = self.registered.get(parent.lower())
            if registration:
                return registration
        return None


def policy_names(model: str) -> tuple[str, ...]:
    """Return the class names that Laravel's gate tries for the policy of a model, in its order."""
    namespace, _, short_name = model.rpartition("\\")
    policy = f"{short_name}Policy"
    parts = namespace.split("\\")
    names: list[str] = []
    for count in range(len(parts)):
        outer_parts = parts[: count + 1]
        names.append("\\".join((*outer_parts, "Policies", policy)))
    if "\\Models\\" in namespace:
        for folder in ("\\Policies\\", "\\Models\\Policies\\"):
            policy_namespace = namespace.replace("\\Models\\", folder)
            names.append(f"{policy_namespace}\\{policy}")
    return tuple(reversed(names))


# ── registration ─────────────────────────────────────────────────────────────────────────────


def find_policies(app: App, calls: Iterable[LocatedCall]) -> Policies:
    """Return the policies and abilities that service providers and calls of the gate register."""
    policies = Policies(app)
    for app_class in app.classes.values():
        if app_class.definition.kind == "class" and app.is_a(app_class.name, PROVIDERS):
            _read_provider(policies, app_class)
    for located in calls:
        if _is_gate_call(located):
            _read_gate_call(policies, located)
    return policies


def _read_provider(policies: Policies, provider: AppClass) -> None:
    """Add the policies in the property `$policies` and the method `policies()` of a service provider."""
    arrays: list[tuple[SyntaxNode, int]] = []
    for declaration in provider.definition.properties:
        if declaration.name.lstrip("$") == "policies":
            arrays.append((declaration.default, declaration.line))
    method = provider.definition.method("policies")
    if method is not None:
        arrays += [(value, method.line) for value in returned_values(method)]
    for array, line in arrays:
        entries = array_entries(array)
        first_line = (
            getattr(
                entries[0].key,
                "line",
                line,
            )
            if entries
            else line
        )
        policies.places.append(f"{provider.uri}:{first_line}")
        for entry in entries:
            model = class_of(entry.key, provider.name)
            policy = class_of(entry.value, provider.name)
            entry_line = getattr(entry.key, "line", line)
            _register(policies, model, policy, provider.uri, entry_line)


def _register(
    policies: Policies,
    model: str,
    policy: str,
    uri: str,
    line: int,
) -> None:
    """Register a policy for a model, if both are known."""
    if model and policy:
        name = policies.app.declared_name(policy)
        policies.names[model.lower()] = model
        policies.registered[model.lower()] = PolicyRegistration(
            name,
            uri,
            line,
            "registered",
        )


def _is_gate_call(located: LocatedCall) -> bool:
    """Return whether a call goes to the gate: its facade, or a variable with a gate's type."""
    called_on = receiver(located.call)
    if isinstance(called_on, program_tree.ClassName):
        return called_on.name.lower() in GATES
    if isinstance(called_on, program_tree.Variable):
        types = located.body.variable_types.get(called_on.name.lstrip("$"), ())
        return any(name.lower() in GATES for name in types)
    return False


def _read_gate_call(policies: Policies, located: LocatedCall) -> None:
    """Add the effect of one call of the gate."""
    name = called_name(located.call)
    owner = located.body.owner
    place = f"{located.uri}:{located.line}"
    if name == "policy":
        policies.places.append(place)
        model = class_of(argument_at(located.call, 0), owner)
        policy = class_of(argument_at(located.call, 1), owner)
        _register(policies, model, policy, located.uri, located.line)
    elif name == "guessPolicyNamesUsing":
        policies.uses_convention = False
        policies.app.remarks.append(
            f"{place}: names of policies are made by the application's own function"
        )
    elif name in ("define", "resource"):
        _define_abilities(policies, located, is_resource=name == "resource")


def _define_abilities(
    policies: Policies,
    located: LocatedCall,
    *,
    is_resource: bool,
) -> None:
    """Add the ability that `Gate::define` defines, or the five abilities of `Gate::resource`."""
    owner = located.body.owner
    name = text_of(argument_at(located.call, 0), owner)
    if not name:
        return
    handler_parts = [
        text_of(value, owner) for value in array_values(argument_at(located.call, 1))
    ]
    handler = "@".join(part for part in handler_parts if part)
    abilities = [name]
    if is_resource:
        abilities = [f"{name}.{ability}" for ability in _RESOURCE_ABILITIES]
    for ability in abilities:
        policies.abilities[ability] = Node(
            f"ability:{ability}",
            "ability",
            ability,
            located.uri,
            located.line,
            framework="laravel",
            attributes={"by": handler or "Closure"},
        )


# ── the graph ────────────────────────────────────────────────────────────────────────────────


def build_policy_graph(policies: Policies, models: Iterable[AppClass]) -> Graph:
    """Return the policies of models with their abilities; a model without a policy has no link."""
    app = policies.app
    nodes: dict[str, Node] = {}
    for name in policies.outside_models():
        node = app.outside_class_node(name, "model")
        nodes[node.key] = node
    names = [*(model.name for model in models), *policies.outside_models()]
    links = list(_protection_links(policies, names))
    for link in links:
        policy = link.target.removeprefix("class:")
        node = app.class_node(policy, "policy", _policy_abilities(app, policy))
        nodes.setdefault(node.key, node)
    for app_class in app.classes.values():
        key = f"class:{app_class.name}"
        if _is_policy_class(app_class) and key not in nodes:
            nodes[key] = app.own_class_node(
                app_class,
                "policy",
                _policy_abilities(app, app_class.name),
            )
    links += _ability_links(policies)
    policy_nodes = tuple(nodes.values())
    abilities = tuple(policies.abilities.values())
    ability_aliases = tuple(
        Alias(
            node.name,
            node.key,
            "ability",
            node.uri,
        )
        for node in abilities
    )
    return Graph(
        nodes=(*policy_nodes, *abilities, _registry_node(policies)),
        links=tuple(links),
        aliases=class_aliases(policy_nodes) + ability_aliases,
    )


def _protection_links(policies: Policies, models: Iterable[str]) -> Iterator[Link]:
    """Yield a link from each model with a policy to its policy."""
    for model in models:
        registration = policies.find(model)
        if registration is None:
            continue
        yield Link(
            "PROTECTED_BY",
            f"class:{model}",
            f"class:{registration.policy}",
            registration.uri,
            registration.line,
            registration.confidence,
            attributes={"how": registration.how},
        )


def _is_policy_class(app_class: AppClass) -> bool:
    """Return whether a class is in a namespace `Policies`."""
    namespace = app_class.name.split("\\")[:-1]
    return app_class.definition.kind == "class" and "Policies" in namespace


def _ability_links(policies: Policies) -> Iterator[Link]:
    """Yield links from abilities to the methods that decide them; a closure has no node."""
    for node in policies.abilities.values():
        class_name, _, method_name = str(node.attributes["by"]).partition("@")
        method = policies.app.find_method(class_name, method_name or "__invoke")
        if method:
            declaring_class, function = method
            target = f"method:{declaring_class.name}::{function.name}"
            yield Link("HANDLED_BY", node.key, target, node.uri, node.line)


def _policy_abilities(app: App, policy: str) -> dict[str, Json]:
    """Return the abilities of a policy with their lines, inherited abilities included."""
    lines: dict[str, Json] = {}
    places: dict[str, Json] = {}
    for name in app.lineage(policy):
        declaring_class = app.find_class(name)
        if declaring_class is None or declaring_class.definition.kind not in ("class", "trait"):
            continue
        for method in declaring_class.definition.methods:
            if _is_ability(method):
                lines.setdefault(method.name, method.line)
                places.setdefault(method.name, f"{declaring_class.uri}:{method.line}")
    return {
        "abilities": list(lines),
        "ability_lines": lines,
        "ability_places": list(places.values()),
    }


def _is_ability(method: program_tree.Function) -> bool:
    """Return whether a method of a policy is an ability: public, not static, not magic, not a filter."""
    if method.visibility != "public" or method.static:
        return False
    return not method.name.startswith("__") and method.name not in _FILTER_METHODS


def _registry_node(policies: Policies) -> Node:
    """Return a node with the places that register policies, so that the answer "none" can name them."""
    places = list(dict.fromkeys(policies.places))
    first_place = places[0] if places else ""
    uri, _, line = first_place.rpartition(":")
    folders: set[str] = set()
    for app_class in policies.app.classes.values():
        if "/Policies/" in app_class.uri:
            folders.add(app_class.uri.rpartition("/")[0])
    attributes: dict[str, Json] = {
        "places": list(places),
        "folders": [*sorted(folders)],
        "convention": policies.uses_convention,
        "models": [*sorted(policies.registered)],
    }
    return Node(
        REGISTRY_KEY,
        "registry",
        "policies",
        uri,
        int(line or 0),
        framework="laravel",
        attributes=attributes,
    )
