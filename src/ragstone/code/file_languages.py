"""How the name of a file tells its language, and whether the code graph reads the file. Loads no parser."""

from __future__ import annotations

from typing import Final

_SUFFIXES: Final = {
    **dict.fromkeys((".py", ".pyi", ".pyw"), "python"),
    **dict.fromkeys((".php", ".phtml"), "php"),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    ".tsx": "tsx",
    ".swift": "swift",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
    **dict.fromkeys((".kt", ".kts"), "kotlin"),
    **dict.fromkeys((".c", ".h"), "c"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hpp", ".hxx", ".hh", ".ipp"), "cpp"),
    **dict.fromkeys((".cs", ".csx"), "csharp"),
    **dict.fromkeys((".rb", ".rake", ".gemspec"), "ruby"),
    **dict.fromkeys((".scala", ".sbt"), "scala"),
    **dict.fromkeys((".ex", ".exs"), "elixir"),
    ".lua": "lua",
    **dict.fromkeys((".sh", ".bash"), "shell"),
    ".hs": "haskell",
    ".zig": "zig",
}
_FILE_NAMES: Final = dict.fromkeys(("rakefile", "gemfile", "vagrantfile", "podfile"), "ruby")
_RELEVANT_SUFFIXES: Final = (
    ".cfg",
    ".dist",
    ".dump",
    ".env",
    ".example",
    ".gradle",
    ".graphql",
    ".ini",
    ".json",
    ".lock",
    ".mod",
    ".neon",
    ".properties",
    ".sql",
    ".toml",
    ".xml",
    ".yaml",
    ".yml",
    "requirements.txt",
)
"""Endings of files that are no code but that frameworks and resolution read."""


def language_of(uri: str) -> str:
    """Return the language of a file by its name, or an empty text if no grammar is known."""
    name = uri.rpartition("/")[2].lower()
    if name.endswith(".blade.php"):  # a template, not valid PHP
        return ""
    if name in _FILE_NAMES:
        return _FILE_NAMES[name]
    _, dot, suffix = name.rpartition(".")
    return _SUFFIXES.get(dot + suffix, "") if dot else ""


def can_change_graph(uri: str) -> bool:
    """Return whether a file of this name can change the graph."""
    return bool(language_of(uri)) or uri.lower().endswith(_RELEVANT_SUFFIXES)
