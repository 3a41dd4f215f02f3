"""The embedded default backend: two SQLite files, one that must be kept and one that can be rebuilt."""

from lamina.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
