"""Failures of one request to a service, as opposed to failures of the service."""

from __future__ import annotations

from ragstone.errors import ProviderError


class RequestRefused(ProviderError):
    """The service refused the content of one request; other requests may succeed."""


class BadReply(ProviderError):
    """The service answered with a reply that cannot be used."""
