"""What the supported frameworks have in common: the list of their adapters, and the kinds of their files."""
