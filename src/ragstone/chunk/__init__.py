"""How a document is cut: each chunker returns exact slices that together cover all of its text."""
