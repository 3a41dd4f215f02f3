"""What sentences assert about slots, and what that changes: comparison, ranking and replacement."""
