"""Code as knowledge: what files a folder has and what they offer, small enough to be remembered, known by its hash."""

from lamina.codebase.keep import capture_codebase
from lamina.codebase.knowledge import CodebaseKnowledge, CodeEntry, codebase

__all__ = ["CodeEntry", "CodebaseKnowledge", "capture_codebase", "codebase"]
