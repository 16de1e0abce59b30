"""Django's migrations: found in their apps, put in the order of their dependencies, replayed to final tables."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragstone.types import Json, Node
from ragstone_code.django.replay import Replay
from ragstone_code.django.settings import Settings
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.program import Program
from ragstone_code.python.values import CallResult, ClassValue, ModuleValue, Value
from ragstone_code.tables import DatabaseSchema

Key = tuple[str, str]


@dataclass
class Migration:
    """One migration file."""

    app: str
    name: str
    module: ModuleValue
    made: ClassValue
    needs: list[Key] = field(default_factory=list)
    replaces: list[Key] = field(default_factory=list)

    @property
    def key(self) -> Key:
        """Return the app and the name it is known by."""
        return self.app, self.name


def migrations(program: Program, builder: GraphBuilder, settings: Settings, tables: DatabaseSchema) -> None:
    """Make the tables what migrations leave, and keep a node for each migration."""
    found = {one.key: one for one in _found(program, settings)}
    replaced = {key: one.key for one in found.values() for key in one.replaces if key in found}
    for one in found.values():
        _node(builder, one, replaced.get(one.key))
    replay = Replay(tables, builder, settings)
    for one in ordered(found, replaced):
        operations = one.made.attributes.get("operations")
        replay.begin(one.app, f"{one.app}.{one.name}")
        for operation in operations if isinstance(operations, list | tuple) else ():
            if isinstance(operation, CallResult):
                replay.one(operation)
            else:
                builder.add_remark((one.module.uri, one.made.line), "an operation that is not known")


def _found(program: Program, settings: Settings) -> list[Migration]:
    found = []
    for module in program.modules():
        made = module.names.get("Migration")
        package, _, name = module.name.rpartition(".")
        if not isinstance(made, ClassValue) or made.uri != module.uri or not package.endswith("migrations"):
            continue
        if "operations" not in made.attributes and "dependencies" not in made.attributes:
            continue
        app = settings.label_of(package.rpartition(".")[0] or package)
        one = Migration(app, name, module, made)
        one.needs = [key for value in _list(made, "dependencies") if (key := _key(value, settings))]
        one.replaces = [key for value in _list(made, "replaces") if (key := _key(value, settings))]
        found.append(one)
    return found


def _list(made: ClassValue, name: str) -> list[Value]:
    value = made.attributes.get(name)
    return list(value) if isinstance(value, list | tuple) else []


def _key(value: Value, settings: Settings) -> Key | None:
    if isinstance(value, tuple | list) and len(value) == 2 and all(isinstance(one, str) for one in value):
        return value[0], value[1]
    if isinstance(value, CallResult) and value.callee.endswith("swappable_dependency"):
        return settings.user.partition(".")[0], "__first__"
    return None


def ordered(found: dict[Key, Migration], replaced: dict[Key, Key]) -> list[Migration]:
    """Return the migrations that run, each after what it depends on; a squashed one stands for those it replaces."""
    running = {key: one for key, one in found.items() if key not in replaced}
    first: dict[str, Key] = {}
    last: dict[str, Key] = {}
    for app, name in sorted(running):
        first.setdefault(app, (app, name))
        last[app] = (app, name)

    def needs(one: Migration) -> list[Key]:
        inner = [need for key in one.replaces if key in found for need in found[key].needs]
        named = [*one.needs, *inner]
        keys = [{"__first__": first, "__latest__": last}.get(key[1], {}).get(key[0], key) for key in named]
        return [way for key in keys if (way := _standing(key, replaced)) in running and way != one.key]

    done: dict[Key, Migration] = {}
    entered: set[Key] = set()
    for start in sorted(running):
        waiting = [start]
        while waiting:
            key = waiting[-1]
            below = [one for one in needs(running[key]) if one not in done and one not in entered]
            entered.add(key)
            if below:
                waiting.extend(reversed(below))
                continue
            done.setdefault(key, running[waiting.pop()])
    return list(done.values())


def _standing(key: Key, replaced: dict[Key, Key]) -> Key:
    for _ in range(20):
        if key not in replaced:
            return key
        key = replaced[key]
    return key


def _node(builder: GraphBuilder, one: Migration, by: Key | None) -> None:
    key = f"migration:{one.app}.{one.name}"
    needs: list[Json] = [".".join(need) for need in one.needs]
    attributes: dict[str, Json] = {"app": one.app, "dependencies": needs}
    if by is not None:
        attributes["replaced_by"] = ".".join(by)
    place = (one.module.uri, one.made.line, one.made.definition.line_end)
    builder.add_node(Node(key, "migration", f"{one.app}.{one.name}", *place, "", "", "python", "django", attributes))
    for name in (f"{one.app}.{one.name}", one.name):
        builder.add_alias(name, key, "migration", one.module.uri)
