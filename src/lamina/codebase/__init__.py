"""Summaries of source code: which files a folder has and what they define, small enough to store as atoms."""

from lamina.codebase.code_atoms import capture_codebase
from lamina.codebase.code_summary import CodebaseSummary, CodeEntry, summarize_codebase

__all__ = ["CodeEntry", "CodebaseSummary", "capture_codebase", "summarize_codebase"]
