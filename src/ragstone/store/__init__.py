"""Where everything stays: one SQLite file, its lock, its schema, its filters."""
