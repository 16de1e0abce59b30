"""The default vector index: bit planes in memory-mapped files, compared exactly with the rows of the store."""
