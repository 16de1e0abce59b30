"""The word index: FTS5 in the database, and a faster derived index for large stores."""
