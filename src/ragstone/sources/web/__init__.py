"""Web pages as a source: addresses that may be reached, fetching, and robots.txt."""
