"""The HTTP API: the same verbs as in Python, behind one gate that every request passes first."""
