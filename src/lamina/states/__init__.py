"""Assertions of sentences about slots, and what they change: comparison, ranking and replacement."""
