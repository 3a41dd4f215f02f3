"""`lamina tour`: a walk through every feature on a temporary vault, with every result checked."""
