"""All settings of a folder, and the list of all settings."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar, get_type_hints

from ragstone.config.sections import (
    AskSettings,
    ChunkSettings,
    CodeSettings,
    DocumentToolSettings,
    EmbedSettings,
    EventSettings,
    RagSettings,
    ReadSettings,
    RerankSettings,
    SearchSettings,
    SettingRules,
    SourceSettings,
    StorageSettings,
    WebSettings,
)
from ragstone.config.server_sections import (
    AccessSettings,
    McpSettings,
    PlanSettings,
    ServerSettings,
)
from ragstone.config.validation import ValueType, suggest
from ragstone.errors import ConfigError, MissingExtra
from ragstone.types import OcrLimits

HOME_IN_CACHE: Final = "user cache folder, because the project can only be read"
"""The origin of the place of an index beside a project that can only be read."""
T = TypeVar("T")
LIST_ALL: Final = "`ragstone config` lists them all"
DEFAULT = "default"
_HIDDEN = "***"


@cache
def is_ocr_installed() -> bool:
    """Return whether the package that recognises text is installed; it is not imported."""
    return find_spec("rapidocr") is not None


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of one folder; `origin` returns where each value came from."""

    rag: RagSettings = field(default_factory=RagSettings)
    chunk: ChunkSettings = field(default_factory=ChunkSettings)
    sources: SourceSettings = field(default_factory=SourceSettings)
    read: ReadSettings = field(default_factory=ReadSettings)
    embed: EmbedSettings = field(default_factory=EmbedSettings)
    rerank: RerankSettings = field(default_factory=RerankSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    code: CodeSettings = field(default_factory=CodeSettings)
    store: StorageSettings = field(default_factory=StorageSettings)
    web: WebSettings = field(default_factory=WebSettings)
    ask: AskSettings = field(default_factory=AskSettings)
    documents: DocumentToolSettings = field(default_factory=DocumentToolSettings)
    events: EventSettings = field(default_factory=EventSettings)
    access: AccessSettings = field(default_factory=AccessSettings)
    plans: PlanSettings = field(default_factory=PlanSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    mcp: McpSettings = field(default_factory=McpSettings)
    root: Path = field(default_factory=Path)
    origins: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def home(self) -> Path:
        """Return the folder that holds the index."""
        return self._resolve("store.path")

    @property
    def home_named(self) -> bool:
        """Return whether the user named that folder, not a file or a link that may have come with a clone."""
        return self._layer("store.path") in ("argument", "environment", "user")

    @property
    def is_home_in_cache(self) -> bool:
        """Return whether the index is in the user's cache folder, because the project can only be read."""
        return self.origin("store.path") == HOME_IN_CACHE

    @property
    def base(self) -> Path:
        """Return the folder that sources are below."""
        return self._resolve("sources.base")

    @property
    def ocr(self) -> OcrLimits | None:
        """Return the limits for text in pictures; None if it is not recognised.

        Raises `MissingExtra` if `read.ocr` is on and the package is not installed.
        """
        mode = self.read.ocr
        if mode == "off" or (mode == "auto" and not is_ocr_installed()):
            return None
        if not is_ocr_installed():
            raise MissingExtra(
                'read.ocr is "on", and the package rapidocr is not installed.',
                hint="pip install 'ragstone[ocr]'",
            )
        return OcrLimits(self.read.ocr_pages, self.read.ocr_seconds)

    def value(self, key: str) -> object:
        """Return the value of a dotted key; raise `ConfigError` if there is no such setting."""
        if key not in setting_keys():
            raise ConfigError(f"There is no setting {key!r}.", hint=suggest_setting(key))
        value: object = self
        for part in key.split("."):
            value = getattr(value, part)
        return value

    def origin(self, key: str) -> str:
        """Return in words where the value of a dotted key came from."""
        self.value(key)
        return self.origins.get(key, DEFAULT)

    def is_overridden(self, key: str) -> bool:
        """Return whether an argument or the environment sets a key."""
        return self._layer(key) in ("argument", "environment")

    def arguments(self) -> dict[str, object]:
        """Return the values that the caller gave, by dotted key."""
        return {key: self.value(key) for key in self.origins if self._layer(key) == "argument"}

    def comes_from_project(self, key: str) -> bool:
        """Return whether a project file sets a key: it may have come with a clone."""
        return self._layer(key) == "project"

    def with_values(self, values: Mapping[str, tuple[object, str]]) -> Settings:
        """Return these settings with other values; each comes with its origin."""
        changed = self
        origins = dict(self.origins)
        for key, (value, origin) in values.items():
            changed = _replace_value(changed, key.split("."), value)
            origins[key] = origin
            other = setting_keys()[key].rules.instead_of
            if other and value is not None:
                changed = _replace_value(changed, other.split("."), None)
                origins.pop(other, None)
        return replace(changed, origins=MappingProxyType(origins))

    def listing(self) -> list[tuple[str, object, str]]:
        """Return (key, value, origin) for every setting; secrets are hidden."""
        rows = []
        for name, key in setting_keys().items():
            value = self.value(name)
            if key.rules.secret and value is not None:
                value = _HIDDEN
            elif key.rules.address and value is not None:
                value = _hide_password(str(value))
            rows.append((name, value, self.origin(name)))
        return rows

    def _layer(self, key: str) -> str:
        """Return the first word of an origin: argument, environment, project, user or default."""
        return self.origin(key).partition(" ")[0]

    def _resolve(self, key: str) -> Path:
        path = str(self.value(key))
        try:
            return self.root / Path(path).expanduser()
        except RuntimeError as error:
            raise ConfigError(
                f"{key} names a home folder that is not known: {path!r} ({self.origin(key)})."
            ) from error


@dataclass(frozen=True, slots=True)
class SettingKey:
    """One setting: its dotted name, type, default and rules."""

    name: str
    value_type: ValueType
    default: object
    rules: SettingRules

    @property
    def variable(self) -> str:
        """Return the name of its environment variable."""
        return "RAGSTONE_" + self.name.upper().replace(".", "_")

    @property
    def variables(self) -> tuple[str, ...]:
        """Return all its environment variables, the full name first."""
        aliases = [f"RAGSTONE_{alias}" for alias in self.rules.aliases]
        return (self.variable, *aliases)


@cache
def setting_keys() -> Mapping[str, SettingKey]:
    """Return every setting by its dotted name, in the order of the sections."""
    keys = _keys_of(Settings, "")
    return MappingProxyType({key.name: key for key in keys})


def section_names() -> set[str]:
    """Return the names of all sections, such as `rag` and `rag.vector_store`."""
    names = set()
    for name in setting_keys():
        section = name.rpartition(".")[0]
        names |= {section, section.partition(".")[0]}
    return names


def suggest_setting(name: str) -> str:
    """Return a hint with the setting of the same last part, else with the nearest name."""
    last = name.rpartition(".")[2]
    for setting_name in setting_keys():
        if setting_name.rpartition(".")[2] == last:
            return f"did you mean {setting_name}?"
    return suggest(name, [*setting_keys(), *section_names()]) or LIST_ALL


def build_settings(
    values: Mapping[str, object], *, root: Path, origins: Mapping[str, str]
) -> Settings:
    """Return settings with these dotted values and defaults for the rest."""
    settings = _build_section(Settings, "", values)
    return replace(settings, root=root, origins=MappingProxyType(dict(origins)))


def _hide_password(address: str) -> str:
    """Return an address with stars in place of its password; all of it is hidden if it is not an address."""
    scheme, separator, rest = address.partition("://")
    if not separator or "?" in rest:
        return _HIDDEN
    login, at, place = rest.rpartition("@")
    user, colon, _ = login.partition(":")
    return f"{scheme}://{user}{colon and f':{_HIDDEN}'}{at}{place}"


def _keys_of(section: type, prefix: str) -> list[SettingKey]:
    hints = get_type_hints(section)
    keys: list[SettingKey] = []
    for item in dataclasses.fields(section):
        hint = hints[item.name]
        rules = item.metadata.get("rules")
        if rules is not None:
            value_type = ValueType.from_hint(hint, rules.low, rules.high)
            keys.append(SettingKey(prefix + item.name, value_type, item.default, rules))
        elif isinstance(hint, type) and dataclasses.is_dataclass(hint):
            keys += _keys_of(hint, f"{prefix}{item.name}.")
    return keys


def _build_section(section: type[T], prefix: str, values: Mapping[str, object]) -> T:
    hints = get_type_hints(section)
    arguments: dict[str, object] = {}
    for item in dataclasses.fields(section):  # type: ignore[arg-type]
        name = prefix + item.name
        if name in values:
            arguments[item.name] = values[name]
        elif dataclasses.is_dataclass(hints[item.name]):
            arguments[item.name] = _build_section(hints[item.name], f"{name}.", values)
    return section(**arguments)


def _replace_value(section: T, path: list[str], value: object) -> T:
    """Return a section of the settings with one value replaced."""
    name, *inner_path = path
    if inner_path:
        inner_section = getattr(section, name)
        value = _replace_value(inner_section, inner_path, value)
    changes = {name: value}
    return replace(section, **changes)  # type: ignore[type-var]  # every section is a dataclass
