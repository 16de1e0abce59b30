"""How text becomes numbers."""
