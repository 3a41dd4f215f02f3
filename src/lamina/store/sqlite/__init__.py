"""The embedded default: two SQLite files, one precious and one that can be thrown away."""

from lamina.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
