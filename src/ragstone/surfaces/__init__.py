"""How Ragstone is reached: every door parses, calls the engine once, and presents."""
