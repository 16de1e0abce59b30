"""Long work of servers and workers: uploads and syncs."""
