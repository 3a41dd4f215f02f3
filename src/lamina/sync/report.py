"""The result of a synchronisation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields

Progress = Callable[[str, int, int], None]
"""Called with the current activity, how much of it is done, and the total."""


@dataclass(slots=True)
class SyncReport:
    """The paths of files a person edited, added, moved or deleted, those held or unreadable, and files written."""

    edited: list[str] = field(default_factory=list)
    adopted: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    written: int = 0

    def for_paths(self, path_filter: Callable[[str], bool]) -> SyncReport:
        """Return the part of the report about some paths."""
        lists = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "written"}
        matching = {name: [path for path in paths if path_filter(path)] for name, paths in lists.items()}
        return SyncReport(**matching, written=self.written)

    @property
    def has_changes(self) -> bool:
        """Return whether any file was edited, added, moved, deleted, held or unreadable."""
        return bool(self.edited or self.adopted or self.moved or self.deleted or self.held or self.unreadable)
