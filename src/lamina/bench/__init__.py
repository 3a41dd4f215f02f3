"""`lamina bench`: the shipped pipeline, measured."""
