"""Two-way reconcile: what people do to files becomes commits, what commits do becomes files."""

from lamina.sync.edit import Decision
from lamina.sync.report import Progress, SyncReport
from lamina.sync.sync import Sync

__all__ = ["Decision", "Progress", "Sync", "SyncReport"]
