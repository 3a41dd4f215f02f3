"""What a look at the files brought."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields

Progress = Callable[[str, int, int], None]
"""Told what is being done, how far it is, and how much there is."""


@dataclass(slots=True)
class SyncReport:
    """The paths of files a person edited, added, moved or deleted, those held back or unreadable, and files written."""

    edited: list[str] = field(default_factory=list)
    adopted: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    written: int = 0

    def of(self, is_theirs: Callable[[str], bool]) -> SyncReport:
        """What of it concerns some paths only."""
        lists = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "written"}
        own = {name: [path for path in paths if is_theirs(path)] for name, paths in lists.items()}
        return SyncReport(**own, written=self.written)

    @property
    def anything(self) -> bool:
        return bool(self.edited or self.adopted or self.moved or self.deleted or self.held or self.unreadable)
