"""Change detection: which earlier statements new text ends, and what follows from that."""
