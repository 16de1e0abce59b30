"""How a question is answered."""
