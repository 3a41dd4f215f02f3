"""Question in, hits and context out; every hit says why."""

from lamina.recall.hit import Hit, Recall
from lamina.recall.plan import PlanContext
from lamina.recall.recall import Question, recall

__all__ = ["Hit", "PlanContext", "Question", "Recall", "recall"]
