"""Words: one normal form, one analyser, one way to read and write a moment. Pure."""
