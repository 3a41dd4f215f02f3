"""The journal and the index behind one small Protocol, and the SQLite backend that implements it."""
