"""What a passage asserts, and what that changes."""
