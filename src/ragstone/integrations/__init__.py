"""Adapters for agent libraries; each needs its library, and none is imported by Ragstone itself."""
