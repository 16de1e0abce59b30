"""Rerankers: models that read a query and a text together and say how well they fit."""
