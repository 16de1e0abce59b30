"""Parses code files with tree-sitter: their symbols, and the links that written types and imports prove."""
