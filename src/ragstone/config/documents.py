"""`documents.yaml`: the settings of a person's document base under the names that its design gave them."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from ragstone.config import validation as check
from ragstone.config.files import MAX_YAML_BYTES, file_bytes, file_text
from ragstone.config.settings import Key, keys
from ragstone.errors import ConfigError

FILE_NAME: Final = "documents.yaml"
NAMES: Final[Mapping[str, str]] = {
    "collection": "rag.vector_store.collection_name",
    "chroma_path": "rag.vector_store.path",
    "embed_model": "rag.embedding_provider",
    "chunk_size": "rag.chunk_size",
    "chunk_overlap": "rag.chunk_overlap",
    "n_results": "search.top_k",
    "description": "documents.description",
    "param_query": "documents.param_query",
}
"""What the file calls a setting → what we call it."""
_MODELS: Final = {"all-minilm-l6-v2": "minilm", "sentence-transformers/all-minilm-l6-v2": "minilm"}
_OURS: Final = rf"^(?:\{{\s*)?[\"']?(?:{'|'.join(sorted(set(NAMES) - {'description'}))})[\"']?[ \t]*:".encode()
"""Many a project has a file of this name that is about something else: ours has one of our keys at the left edge."""


def said(folder: Path, whose: str) -> Iterator[tuple[Key, object, str]]:
    """Yield (setting, value, origin) for what the file in a folder says; nothing where it is no file of ours."""
    path = folder / FILE_NAME
    held = file_bytes(path, MAX_YAML_BYTES) if path.is_file() else None
    if held is None or not re.search(_OURS, held.removeprefix(BOM_UTF8), re.M):
        return
    from ragstone.config.yaml_file import parsed  # few folders have such a file

    origin = f"{whose} {path}"
    tree = parsed(file_text(path, MAX_YAML_BYTES) or "", origin)
    if not isinstance(tree.value, Mapping):
        raise ConfigError(f"The {origin} must map names to values.", hint="for example `collection: papers`")
    for name, entry in tree.value.items():
        if name not in NAMES:
            hint = check.nearest(name, NAMES) or f"known are {', '.join(NAMES)}"
            raise ConfigError(f"Unknown setting {name!r} in {origin}, line {entry.line}.", hint=hint)
        key, place = keys()[NAMES[name]], f"{origin}, {name}"
        if entry.value is not None:
            yield key, check.typed(key, _ours(name, entry.plain), origin=f"{place} (line {entry.line})"), place


def _ours(name: str, value: object) -> object:
    """Return a value as we write it: the built-in model goes by a name of its own."""
    return _MODELS.get(value.lower(), value) if name == "embed_model" and isinstance(value, str) else value
