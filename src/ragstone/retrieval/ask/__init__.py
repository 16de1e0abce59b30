"""Answers of a language model, with quotations that are checked."""
