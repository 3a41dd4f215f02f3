"""Two-way synchronisation: edits of files become commits, and commits become files."""

from lamina.sync.edit import Decision
from lamina.sync.report import Progress, SyncReport
from lamina.sync.sync import Sync

__all__ = ["Decision", "Progress", "Sync", "SyncReport"]
