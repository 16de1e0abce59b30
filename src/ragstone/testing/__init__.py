"""Contract tests that are part of the package: every implementation of a protocol must pass them."""
