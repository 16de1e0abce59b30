"""A client of a Ragstone server, with the verbs of `Engine`."""
