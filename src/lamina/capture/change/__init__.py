"""What changed: which statements a new one replaces, and what follows from it."""
