"""The subcommands of `ragstone`, one module each; `cli/app.py` lists them."""
