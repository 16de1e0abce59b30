"""Where text is: folders and files, which of them count, and the one safe way to open them."""
