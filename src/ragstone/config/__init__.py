"""Settings: the only reader of settings files and of the environment.

`load(folder)` returns frozen `Settings`; `Settings.origin` returns where a value came from.
"""

from __future__ import annotations

from typing import NamedTuple

from ragstone.config.environment import (
    check_key,
    child_environment,
    cores,
    is_automated,
    provider_key,
    search_path,
    silence_onnxruntime,
    user_config_folder,
    user_ids,
)
from ragstone.config.load import load, project_file, user_file
from ragstone.config.restrictions import is_path
from ragstone.config.sections import WebSettings
from ragstone.config.settings import Settings, is_ocr_installed, setting_keys

__all__ = [
    "SettingDescription",
    "Settings",
    "WebSettings",
    "check_key",
    "child_environment",
    "cores",
    "describe",
    "is_automated",
    "is_ocr_installed",
    "is_path",
    "load",
    "project_file",
    "provider_key",
    "search_path",
    "silence_onnxruntime",
    "user_config_folder",
    "user_file",
    "user_ids",
]


class SettingDescription(NamedTuple):
    """One setting for a reference page."""

    key: str
    default: object
    doc: str
    variables: tuple[str, ...]


def describe() -> list[SettingDescription]:
    """Return every setting with its default, its documentation and its environment variables, the full name first."""
    return [
        SettingDescription(key.name, key.default, key.rules.doc, key.variables)
        for key in setting_keys().values()
    ]
