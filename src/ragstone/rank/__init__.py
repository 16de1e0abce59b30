"""What comes first."""
