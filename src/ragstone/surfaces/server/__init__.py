"""`ragstone serve`: the REST app and the MCP server in one process."""
