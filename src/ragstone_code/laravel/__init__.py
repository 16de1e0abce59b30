"""Laravel: routes, tables, models and what hangs on them, as the framework itself would put them together."""
