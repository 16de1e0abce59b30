"""Quality and speed of search on the user's own folder, measured in a temporary index."""
