"""The dream: the consolidation cycle, one module for each step. It adds, moves and asks; it deletes nothing."""
