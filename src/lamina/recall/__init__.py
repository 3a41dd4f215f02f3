"""The read path: a question in, hits and context out. Every hit explains its score."""

from lamina.recall.hit import Hit, Recall
from lamina.recall.plan_context import PlanContext
from lamina.recall.recall import recall
from lamina.recall.recall_request import RecallRequest

__all__ = ["Hit", "PlanContext", "Recall", "RecallRequest", "recall"]
