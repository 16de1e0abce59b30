"""Contexts: cited text for a prompt, inside a token budget."""
