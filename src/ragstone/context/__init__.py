"""What the model is shown: hits become cited text inside a token budget."""
