"""Laravel's router, evaluated from files: groups, registrars, resources, middleware and mounted route files."""
