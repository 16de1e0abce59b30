"""The ways to reach an engine: command line, MCP, bus, adapters. Each parses, calls the engine once and presents."""
