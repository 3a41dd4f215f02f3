"""What people decide about what was remembered."""

from lamina.review.diagnosis import Diagnosis
from lamina.review.history import History, Transition

__all__ = ["Diagnosis", "History", "Transition"]
