"""The read path: a question in, hits and context out. Every hit explains its score."""

from lamina.recall.recall import recall
from lamina.recall.recall_result import Hit, Recall
from lamina.recall.request_and_question import RecallRequest
from lamina.recall.starting_context import PlanContext

__all__ = ["Hit", "PlanContext", "Recall", "RecallRequest", "recall"]
