"""Adapters: what a framework makes of the files it is given."""
