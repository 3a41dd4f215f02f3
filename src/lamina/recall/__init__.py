"""The read path: a question in, hits and context out. Every hit explains its score."""

from lamina.recall.hit import Hit, Recall
from lamina.recall.plan_context import PlanContext
from lamina.recall.recall import RecallRequest, recall

__all__ = ["Hit", "PlanContext", "Recall", "RecallRequest", "recall"]
