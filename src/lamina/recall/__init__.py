"""The read path: a question in, hits and context out. Every hit explains its score."""

from lamina.recall.hit import Hit, Recall
from lamina.recall.recall import recall
from lamina.recall.recall_query import RecallRequest
from lamina.recall.starting_context import PlanContext

__all__ = ["Hit", "PlanContext", "Recall", "RecallRequest", "recall"]
