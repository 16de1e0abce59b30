"""What code means: symbols, relations by what is written, and what frameworks make of it. Nothing is executed."""
