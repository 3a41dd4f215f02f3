"""What people decide about memories: confirm, reject, edit, undo, roll back, quarantine and erase."""

from lamina.review.diagnosis import Diagnosis
from lamina.review.groups import Group, Proposed
from lamina.review.history import History, Transition
from lamina.review.pairs import Pair
from lamina.review.review import Review
from lamina.review.waiting import Item

__all__ = ["Diagnosis", "Group", "History", "Item", "Pair", "Proposed", "Review", "Transition"]
