"""The routes by subject. Each is: read the request, one call of the engine, its JSON form."""
