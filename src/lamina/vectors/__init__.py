"""Numbers: vectors as exact integers, their search, and late interaction between token states."""
