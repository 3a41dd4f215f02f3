"""Two-way reconcile: what people do to files becomes commits, what commits do becomes files."""

from lamina.sync.report import Progress, SyncReport
from lamina.sync.sync import Sync

__all__ = ["Progress", "Sync", "SyncReport"]
