"""Set-up of agents: an entry for the MCP server in an agent's settings, and a short instruction file."""
