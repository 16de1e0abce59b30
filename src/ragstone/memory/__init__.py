"""Conversations: turns, their times, and the facts that newer turns supersede."""
