"""What people decide about what was remembered."""
