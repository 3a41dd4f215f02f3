"""Read, write, name and watch the markdown files that a person owns."""
