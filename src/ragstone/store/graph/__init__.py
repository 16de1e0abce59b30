"""The graph of the code: nodes, aliases, links and unresolved references."""
