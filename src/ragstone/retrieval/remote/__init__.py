"""Remote collections: other retrieval servers that answer searches of one collection."""
