"""Shipped tests: what every implementation of a protocol must pass."""
