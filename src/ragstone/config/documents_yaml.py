"""`documents.yaml`: settings of a document base under the names of its design."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ragstone.config.files import MAX_YAML_BYTES, PROJECT_LAYER, read_bytes, read_settings_file
from ragstone.config.settings import SettingKey, setting_keys
from ragstone.config.validation import check_known, check_value
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.config.yaml_file import YamlEntry

FILE_NAME: Final = "documents.yaml"
_SETTINGS: Final[Mapping[str, str]] = {
    "collection": "rag.vector_store.collection_name",
    "chroma_path": "rag.vector_store.path",
    "embed_model": "rag.embedding_provider",
    "chunk_size": "rag.chunk_size",
    "chunk_overlap": "rag.chunk_overlap",
    "n_results": "search.top_k",
    "description": "documents.description",
    "param_query": "documents.param_query",
}
"""The name in the file → our name."""
_MODELS: Final = {
    "all-minilm-l6-v2": "minilm",
    "sentence-transformers/all-minilm-l6-v2": "minilm",
    "nomic-embed-text": "ollama:nomic-embed-text",
}
_SPECIFIC_NAMES: Final = "|".join(sorted(set(_SETTINGS) - {"description"}))
_OUR_KEY: Final = re.compile(
    rf"^(?:\{{\s*)?[\"']?(?:{_SPECIFIC_NAMES})[\"']?[ \t]*:".encode(), re.MULTILINE
)
"""Many projects have another file of this name; ours has one of these keys at the left edge."""


def read_documents_file(folder: Path, layer: str) -> Iterator[tuple[SettingKey, object, str]]:
    """Yield (setting, value, origin) for the file in a folder or in its folder `config`."""
    allow_link = layer != PROJECT_LAYER
    for path in (folder / "config" / FILE_NAME, folder / FILE_NAME):
        if path.is_file() and (allow_link or not path.is_symlink()):
            yield from _read_file(path, f"{layer} {path}", allow_link=allow_link)


def _read_file(
    path: Path, origin: str, *, allow_link: bool
) -> Iterator[tuple[SettingKey, object, str]]:
    """Yield the values of one file; nothing if it is about something else."""
    data = read_bytes(path, MAX_YAML_BYTES)
    if data is None or not _OUR_KEY.search(data.removeprefix(BOM_UTF8)):
        return
    from ragstone.config.yaml_file import parse_yaml  # few folders have such a file

    tree = parse_yaml(
        read_settings_file(path, MAX_YAML_BYTES, allow_link=allow_link) or "", origin
    )
    if not isinstance(tree.value, Mapping):
        raise ConfigError(
            f"The {origin} must map names to values.", hint="for example `collection: papers`"
        )
    for name, entry in tree.value.items():
        check_known(
            name, _SETTINGS, f"Unknown setting {name!r} in {origin}, line {entry.line}."
        )
        if entry.value in (None, ""):
            continue
        place = f"{origin}, {name}"
        yield _read_entry(name, entry, place)
        if name == "chroma_path":
            yield setting_keys()["rag.vector_store.provider"], "chroma", place


def _read_entry(name: str, entry: YamlEntry, place: str) -> tuple[SettingKey, object, str]:
    """Return the setting of one entry with its value and origin."""
    key = setting_keys()[_SETTINGS[name]]
    value = entry.plain
    if name == "embed_model" and isinstance(value, str):
        value = _MODELS.get(value.lower(), value)
    value_origin = f"{place} (line {entry.line})"
    return key, check_value(key.name, value, key.value_type, origin=value_origin), place
