"""Summaries of source code: which files a folder has and what they define, small enough to store as atoms."""

from lamina.codebase.keep import capture_codebase
from lamina.codebase.knowledge import CodebaseKnowledge, CodeEntry, codebase

__all__ = ["CodeEntry", "CodebaseKnowledge", "capture_codebase", "codebase"]
