"""Who may do what: policies of models by registration, attribute and naming, and abilities of the gate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from ragstone.code import tree
from ragstone.types import Alias, Confidence, Graph, Json, Link, Node
from ragstone_code.laravel.app import App, AppClass, class_aliases
from ragstone_code.laravel.code_bodies import LocatedCall
from ragstone_code.laravel.kinds import PROVIDERS
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
)  # fmt: skip

ATTRIBUTE: Final = "illuminate\\database\\eloquent\\attributes\\usepolicy"
GATES: Final = frozenset(
    ("gate", "illuminate\\support\\facades\\gate", "illuminate\\contracts\\auth\\access\\gate",
     "illuminate\\auth\\access\\gate")
)  # fmt: skip
PLACE: Final = "registry:policies"
NO_ABILITY: Final = frozenset(("before", "after"))
"""Public methods of a policy that are no abilities."""


@dataclass(frozen=True, slots=True)
class Guard:
    """The policy of a model, and what says so."""

    policy: str
    uri: str
    line: int
    how: str

    @property
    def confidence(self) -> Confidence:
        """Return how it is known."""
        return "convention" if self.how == "convention" else "declared"


@dataclass
class Policies:
    """The policies of an application's models, as its gate would find them."""

    app: App
    registered: dict[str, Guard] = field(default_factory=dict)
    """By the model's name in lower case."""
    abilities: dict[str, Node] = field(default_factory=dict)
    places: list[str] = field(default_factory=list)
    guessed: bool = True
    """Whether the framework's own naming counts."""

    def of(self, model: str) -> Guard | None:
        """Return the policy of a model: registered, by attribute, by name, or registered for what it descends from."""
        own = self.registered.get(model.lower()) or self._attribute(model)
        if own is None and self.guessed:
            own = self._named(model)
        if own is None:
            above = (self.registered.get(one.lower()) for one in list(self.app.lineage(model))[1:])
            own = next((guard for guard in above if guard), None)
        return own

    def _attribute(self, model: str) -> Guard | None:
        """Return what `#[UsePolicy]` says."""
        known = self.app.find_class(model)
        for one in known.definition.attributes if known else ():
            if known and isinstance(one, tree.New) and class_of(one).lower() == ATTRIBUTE:
                policy = class_of(argument_at(one, 0, "class"), known.name)
                if policy:
                    return Guard(self.app.declared_name(policy), known.uri, one.line, "attribute")
        return None

    def _named(self, model: str) -> Guard | None:
        """Return the first of the names the gate would try that is a class."""
        for name in policy_names(model):
            known = self.app.find_class(name)
            if known:
                return Guard(known.name, known.uri, known.definition.line, "convention")
        return None


def policy_names(model: str) -> tuple[str, ...]:
    """Return the names a gate tries for the policy of a model, in its order."""
    folder, _, short = model.rpartition("\\")
    parts = folder.split("\\")
    tried = ["\\".join((*parts[: count + 1], "Policies", f"{short}Policy")) for count in range(len(parts))]
    if "\\Models\\" in folder:
        tried.append(folder.replace("\\Models\\", "\\Policies\\") + f"\\{short}Policy")
        tried.append(folder.replace("\\Models\\", "\\Models\\Policies\\") + f"\\{short}Policy")
    return tuple(reversed(tried))


def find_policies(app: App, sites: Iterable[LocatedCall]) -> Policies:
    """Return what providers and the gate were told."""
    found = Policies(app)
    for known in app.classes.values():
        if known.definition.kind == "class" and app.is_a(known.name, PROVIDERS):
            _provider(found, known)
    for site in sites:
        if _is_gate(site):
            _gate(found, site)
    return found


def build_policy_graph(found: Policies, models: Iterable[AppClass]) -> Graph:
    """Return the policies of models, their abilities and where each is said; models without one have no link."""
    app = found.app
    links: list[Link] = []
    nodes: dict[str, Node] = {}
    for model in models:
        guard = found.of(model.name)
        if guard is None:
            continue
        policy = app.class_node(guard.policy, "policy", _abilities(app, guard.policy))
        nodes.setdefault(policy.key, policy)
        links.append(
            Link("PROTECTED_BY", f"class:{model.name}", policy.key, guard.uri, guard.line, guard.confidence,
                 attributes={"how": guard.how})
        )  # fmt: skip
    for known in app.classes.values():
        key = f"class:{known.name}"
        if known.definition.kind == "class" and "Policies" in known.name.split("\\")[:-1] and key not in nodes:
            nodes[key] = app.own_class_node(known, "policy", _abilities(app, known.name))
    registry = _registry(found)
    own = tuple(nodes.values())
    links += _answered(found)
    gates = tuple(Alias(node.name, node.key, "ability", node.uri) for node in found.abilities.values())
    return Graph(
        nodes=(*own, *found.abilities.values(), registry), links=tuple(links), aliases=class_aliases(own) + gates
    )


def _answered(found: Policies) -> Iterator[Link]:
    """Yield the methods that answer for abilities of their own; closures are where the abilities are."""
    for node in found.abilities.values():
        name, _, method = str(node.attributes["by"]).partition("@")
        written = found.app.find_method(name, method or "__invoke")
        if written:
            target = f"method:{written[0].name}::{written[1].name}"
            yield Link("HANDLED_BY", node.key, target, node.uri, node.line)


def _provider(found: Policies, known: AppClass) -> None:
    """Take in `$policies` of a provider, and what its `policies()` returns."""
    method = known.definition.method("policies")
    arrays: list[tuple[SyntaxNode, int]] = [
        (one.default, one.line) for one in known.definition.properties if one.name.lstrip("$") == "policies"
    ]
    arrays += [(value, method.line) for value in returned_values(method)] if method else []
    for array, line in arrays:
        first = next(iter(array_entries(array)), None)
        found.places.append(f"{known.uri}:{getattr(first.key, 'line', line) if first else line}")
        for entry in array_entries(array):
            model, policy = class_of(entry.key, known.name), class_of(entry.value, known.name)
            if model and policy:
                said = Guard(found.app.declared_name(policy), known.uri, getattr(entry.key, "line", line), "registered")
                found.registered[model.lower()] = said


def _is_gate(site: LocatedCall) -> bool:
    """Return whether a call is one of the gate's: the facade, or a variable that is typed so."""
    at = receiver(site.call)
    if isinstance(at, tree.ClassName):
        return at.name.lower() in GATES
    if isinstance(at, tree.Variable):
        return any(name.lower() in GATES for name in site.body.variable_types.get(at.name.lstrip("$"), ()))
    return False


def _gate(found: Policies, site: LocatedCall) -> None:
    """Take in one call of the gate."""
    name, owner = called_name(site.call), site.body.owner
    if name == "policy":
        model, policy = class_of(argument_at(site.call, 0), owner), class_of(argument_at(site.call, 1), owner)
        found.places.append(f"{site.uri}:{site.line}")
        if model and policy:
            said = Guard(found.app.declared_name(policy), site.uri, site.line, "registered")
            found.registered[model.lower()] = said
    elif name == "guessPolicyNamesUsing":
        found.guessed = False
        found.app.remarks.append(
            f"{site.uri}:{site.line}: names of policies are made by the application's own function"
        )
    elif name in ("define", "resource"):
        _define(found, site, resource=name == "resource")


def _define(found: Policies, site: LocatedCall, *, resource: bool) -> None:
    """Take in an ability that is defined by itself, or a row of them."""
    text = text_of(argument_at(site.call, 0), site.body.owner)
    if not text:
        return
    by = argument_at(site.call, 1)
    written = "@".join(filter(None, (text_of(one, site.body.owner) for one in array_values(by))))
    for ability in (
        [f"{text}.{one}" for one in ("viewAny", "view", "create", "update", "delete")] if resource else [text]
    ):
        attributes: dict[str, Json] = {"by": written or "Closure"}
        found.abilities[ability] = Node(
            f"ability:{ability}", "ability", ability, site.uri, site.line, framework="laravel", attributes=attributes
        )


def _abilities(app: App, policy: str) -> dict[str, Json]:
    """Return the abilities of a policy with their lines: its public methods, inherited ones of the application too."""
    lines: dict[str, Json] = {}
    for method in _public(app, policy):
        lines.setdefault(method.name, method.line)
    return {"abilities": list(lines), "ability_lines": lines}


def _public(app: App, policy: str) -> Iterator[tree.Function]:
    """Yield the public methods that may be abilities."""
    for name in app.lineage(policy):
        known = app.find_class(name)
        for method in known.definition.methods if known and known.definition.kind in ("class", "trait") else ():
            plain = not method.static and not method.name.startswith("__") and method.name not in NO_ABILITY
            if method.visibility == "public" and plain:
                yield method


def _registry(found: Policies) -> Node:
    """Return where policies are registered and looked for, so that "none" can be said with its reason."""
    places = list(dict.fromkeys(found.places))
    uri, _, line = next(iter(places), "").rpartition(":")
    folders = sorted(
        {known.uri.rpartition("/")[0] for known in found.app.classes.values() if "/Policies/" in known.uri}
    )
    attributes: dict[str, Json] = {
        "places": list(places), "folders": list(folders), "convention": found.guessed,
        "models": [*sorted(found.registered)],
    }  # fmt: skip
    return Node(PLACE, "registry", "policies", uri, int(line or 0), framework="laravel", attributes=attributes)
