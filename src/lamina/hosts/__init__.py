"""Programs that host an agent: what they are told of a memory, and what they tell it."""
