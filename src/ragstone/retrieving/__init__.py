"""Pieces for a question: the graph is asked before the index is searched, and both are told as one list."""
