"""`python -m ragstone` is the `ragstone` command."""

from __future__ import annotations

from ragstone.surfaces.cli import main

if __name__ == "__main__":
    main()
