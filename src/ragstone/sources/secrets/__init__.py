"""Secrets in text: how they are found and redacted."""
