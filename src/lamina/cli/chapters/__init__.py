"""The chapters of the tour's story, each about one thing lamina does."""
