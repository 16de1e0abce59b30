"""The store: documents, words, vectors, the code graph and state in one SQLite file."""
