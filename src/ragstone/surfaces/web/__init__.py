"""The dashboard: pages for a browser, made on the server, with scripts and styles of this package only."""
