"""Store vectors as exact integers, search them, and compare token states by late interaction."""
