"""The help text of command-line programs as a source."""
