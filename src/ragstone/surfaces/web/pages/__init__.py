"""The pages by subject. Each function is: read the request, one call of the engine, a template."""
