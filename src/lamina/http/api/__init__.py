"""The operations, one file a family."""
