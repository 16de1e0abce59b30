"""The code graph of a collection: built from its documents and kept up to date with them."""
