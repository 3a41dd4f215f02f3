"""Two-way synchronisation: edits of files become commits, and commits become files."""

from lamina.sync.field_edits import StatusDecision
from lamina.sync.report import Progress, SyncReport
from lamina.sync.sync import VaultSync

__all__ = ["Progress", "StatusDecision", "SyncReport", "VaultSync"]
