"""The HTTP API: the verbs of `Memory` as endpoints, behind one security middleware that checks every request first."""
