"""Ranking: the order of the results."""
