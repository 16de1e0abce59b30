"""Laravel's router as far as files tell: groups, registrars, resources, middleware, and what mounts route files."""
