"""Answers about code: the graph and the search as one list."""
