"""Decisions of people about memories: confirm, reject, edit, undo, roll back, quarantine and erase."""

from lamina.review.history import History, Transition
from lamina.review.pairs import Pair
from lamina.review.pending_items import Item
from lamina.review.proposals import Group, Proposed
from lamina.review.review import Review
from lamina.review.vault_health import Diagnosis

__all__ = ["Diagnosis", "Group", "History", "Item", "Pair", "Proposed", "Review", "Transition"]
