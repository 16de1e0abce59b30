"""Models in a folder of this machine, in the layout of sentence-transformers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ragstone.config import Settings, is_path
from ragstone.embed.models import ModelFacts, facts_about
from ragstone.errors import ConfigError

_ONNX_FILES: Final = ("model.onnx", "onnx/model.onnx", "model_optimized.onnx")
_CONTENT: Final = (
    "*.json",
    "*.txt",
    "*.safetensors",
    "*.bin",
    "*.onnx",
    "*/*.json",
    "*/*.onnx",
)
_SAMPLES: Final = 16
_SAMPLE_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder with the files of one model."""

    path: Path

    def facts(self) -> ModelFacts:
        """Return the dimension and the limit that its files state, and the prefixes of its family."""
        family = facts_about(self.path.as_posix())
        dimension = self.number("config.json", "hidden_size") or family.dimension
        max_tokens = self.number("sentence_bert_config.json", "max_seq_length")
        return ModelFacts(
            dimension,
            max_tokens or family.max_tokens,
            family.query_prefix,
            family.document_prefix,
        )

    def number(self, file: str, name: str) -> int:
        """Return a number in one of its JSON files, or 0."""
        value = self._entries(file).get(name)
        return value if isinstance(value, int) else 0

    def uses_first_token(self) -> bool:
        """Return whether the vector of a text is that of its first token, not the mean."""
        return self._entries("1_Pooling/config.json").get("pooling_mode_cls_token") is True

    def onnx_file(self) -> str | None:
        """Return the path of its ONNX graph inside the folder, or None."""
        return next((name for name in _ONNX_FILES if (self.path / name).is_file()), None)

    def version(self) -> str:
        """Return a version that changes with the files of the model; of large files samples are read."""
        digest = hashlib.sha256()
        for pattern in _CONTENT:
            for path in sorted(self.path.glob(pattern)):
                digest.update(f"{path.relative_to(self.path).as_posix()}\n".encode())
                for sample in _samples(path):
                    digest.update(sample)
        return f"1-{digest.hexdigest()[:12]}"

    def _entries(self, file: str) -> dict[str, object]:
        """Return the content of one of its JSON files; empty if there is none."""
        try:
            content = json.loads((self.path / file).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}


def find_model_folder(model: str, settings: Settings, name: str) -> ModelFolder | None:
    """Return the folder that a setting names, or None if it names a model to download.

    A path begins with a dot, a slash, a `~` or a drive. `ConfigError` if there is no such folder, or if a folder has
    the name of a model: packages would take the folder, which may have come with a clone.
    """
    folder = settings.root / Path(model).expanduser()
    if is_path(model):
        if not (folder / "config.json").is_file():
            raise ConfigError(
                f"{model!r} is no folder with a model: it has no config.json.",
                hint=f"check {name}; a model to download is named like sentence-transformers/all-MiniLM-L6-v2",
            )
        return ModelFolder(folder)
    if Path(model).exists():
        raise ConfigError(
            f"{model!r} is the name of a model, and of a file or folder here.",
            hint=f"set {name} to './{model}' for the folder, or start in another folder",
        )
    return None


def _samples(path: Path) -> Iterator[bytes]:
    """Yield the size of a file and its content, or evenly spaced parts of a large one."""
    size = path.stat().st_size
    yield str(size).encode()
    step = max(_SAMPLE_BYTES, (size - _SAMPLE_BYTES) // (_SAMPLES - 1))
    with path.open("rb") as file:
        for start in range(0, size, step):
            file.seek(start)
            yield file.read(_SAMPLE_BYTES)
