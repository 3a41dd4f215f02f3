"""The journal and the index behind one small Protocol."""
