"""Question in, hits and context out; every hit says why."""

from lamina.recall.hit import Hit, Recall
from lamina.recall.recall import Question, recall

__all__ = ["Hit", "Question", "Recall", "recall"]
