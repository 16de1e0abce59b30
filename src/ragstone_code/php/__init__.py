"""PHP files as program trees: `lower(text, uri) -> Module`. Every text gives a module; no text raises an error."""

from __future__ import annotations

from ragstone_code.php.tree_builder import lower

__all__ = ["lower"]
