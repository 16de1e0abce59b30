"""The sections of the settings for a server: access, plans, the server itself, and other MCP servers.

A project file cannot set them, except for `[mcp]`, which the user must trust.
"""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.config.sections import setting


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """`[access]`: keys and plans of a server. A project file cannot set it."""

    plans: bool = setting(
        False,
        "Whether every project has a plan with limits; off for a local user.",
        personal=True,
    )
    pepper: str | None = setting(
        None,
        "Secret that is mixed into stored keys; unset: a random file in the home.",
        secret=True,
    )


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """`[plans]`: limits (`collections=N`, `chunks=N` of each, `turns=N` of a session) and options of a search."""

    free: tuple[str, ...] = setting(
        ("collections=0", "chunks=0", "turns=50"), "The plan `free`.", personal=True
    )
    starter: tuple[str, ...] = setting(
        ("collections=1", "chunks=100", "turns=500", "hybrid"),
        "The plan `starter`; also that of projects without a known plan.",
        personal=True,
    )
    pro: tuple[str, ...] = setting(
        ("collections=10", "chunks=10000", "hybrid", "mmr"), "The plan `pro`.", personal=True
    )
    enterprise: tuple[str, ...] = setting(
        ("hybrid", "mmr", "compress"), "The plan `enterprise`.", personal=True
    )


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """`[server]`: the server of `ragstone serve`. A project file cannot set it."""

    host: str = setting(
        "127.0.0.1",
        "Address to listen on; another one than loopback needs keys.",
        personal=True,
    )
    port: int = setting(
        8377, "Port to listen on; 0: any free one.", low=0, high=65_535, personal=True
    )
    workers: int = setting(
        1,
        "Processes that answer requests on the port; each takes an equal share of `active`, `waiting` and `streams`.",
        low=1,
        high=64,
        personal=True,
    )
    hosts: tuple[str, ...] = setting(
        (), "Names in the `Host` header that are served, besides loopback.", personal=True
    )
    origins: tuple[str, ...] = setting(
        (), "Web origins, such as `https://tools.example`, whose pages may call.", personal=True
    )
    models: tuple[str, ...] = setting(
        (),
        "Embedders and rerankers that a key without `admin` may choose, besides the configured embedder.",
        personal=True,
    )
    max_body_mb: int = setting(
        20,
        "Largest body of a request; uploads may have five times as much.",
        low=1,
        high=10_000,
        personal=True,
    )
    upload_mb: int = setting(
        500,
        "Uploaded files that may wait on disk for their job; more are refused with 429.",
        low=1,
        high=1_000_000,
        personal=True,
    )
    body_seconds: int = setting(
        30,
        "How long the body of a request may take to arrive.",
        low=1,
        high=3600,
        personal=True,
    )
    seconds: int = setting(
        30,
        "How long a request may take; longer work runs as a job.",
        low=1,
        high=3600,
        personal=True,
    )
    active: int = setting(
        8, "Requests that are worked on at once.", low=1, high=1000, personal=True
    )
    waiting: int = setting(
        32,
        "Requests that may wait for their turn; more are refused with 429.",
        low=0,
        high=100_000,
        personal=True,
    )
    jobs: int = setting(
        2,
        "Jobs that the server runs at once; 0 leaves those of a shared database to `ragstone worker`.",
        low=0,
        high=64,
        personal=True,
    )
    streams: int = setting(
        100, "Open event streams at most.", low=0, high=100_000, personal=True
    )


@dataclass(frozen=True, slots=True)
class McpSettings:
    """`[mcp]`: other MCP servers, whose tools `rag_find_tools` finds too."""

    servers: tuple[str, ...] = setting(
        (),
        "Other MCP servers, each as `NAME=COMMAND` or `NAME=URL`; they are asked for their tools only.",
        guard="switch",
    )


def server_name(entry: str) -> str:
    """Return the name of an MCP server in its setting."""
    return entry.partition("=")[0].strip()
