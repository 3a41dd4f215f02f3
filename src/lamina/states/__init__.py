"""What passages assert, and what that changes."""
