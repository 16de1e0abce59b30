"""How text gets into the index and stays current."""
