"""Answers in words: a language model is shown the context, and what it says is held against the sources."""
