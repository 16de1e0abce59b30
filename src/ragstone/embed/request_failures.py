"""Failures of one request to a service, as opposed to failures of the service."""

from __future__ import annotations

from ragstone.errors import ProviderError


class RequestRefused(ProviderError):
    """The service refused the content of one request; other requests may succeed."""

    is_too_long: bool = False
    """Whether a text has more tokens than the model reads."""


class BadReply(ProviderError):
    """The service answered with a reply that cannot be used."""
