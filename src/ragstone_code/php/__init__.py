"""PHP files as the common program shape: `lower(text, uri) -> Module`; any text gives a module, none raises."""

from __future__ import annotations

from ragstone_code.php.lowering import lower

__all__ = ["lower"]
