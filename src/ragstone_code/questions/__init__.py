"""Questions about code, answered from the graph without a language model."""
