"""Local-first long-term memory for AI agents and the people who work with them."""
