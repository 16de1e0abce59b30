"""A folder as a source: the files below it, ignore rules, and git."""
