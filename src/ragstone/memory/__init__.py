"""What a conversation leaves behind: turns, when they were said, and which of them still hold."""
