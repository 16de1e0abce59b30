"""What a file says: bytes become a document whose text holds every character of the file."""
