"""Read a source file with the best available parser: `ast`, a grammar, or line by line."""

from __future__ import annotations

from lamina.capture.pieces.form import CODE_NAMES
from lamina.codebase.grammar import GRAMMARS, grammar_source
from lamina.codebase.python_source import python_source
from lamina.codebase.signature import Source
from lamina.codebase.source_lines import lines_source

_LANGUAGES: dict[str, str] = {
    **dict.fromkeys(("py", "pyi"), "Python"),
    **dict.fromkeys(("js", "mjs", "cjs", "jsx"), "JavaScript"),
    "ts": "TypeScript",
    "tsx": "TSX",
    "go": "Go",
    "rs": "Rust",
    "java": "Java",
    "kt": "Kotlin",
    "kts": "Kotlin",
    "rb": "Ruby",
    "php": "PHP",
    "cs": "C#",
    "swift": "Swift",
    "scala": "Scala",
    "c": "C",
    "h": "C",
    "sql": "SQL",
    **dict.fromkeys(("cc", "cpp", "cxx", "hpp", "hh"), "C++"),
    **dict.fromkeys(("sh", "bash", "zsh"), "shell"),
}
_NO_DEFINITIONS = frozenset({"css", "scss", "sass", "less"})
SOURCES = CODE_NAMES - _NO_DEFINITIONS
"""Suffixes of files that contain definitions."""


def suffix_of(path: str) -> str:
    """Return the suffix of a file name, without the dot."""
    return path.rpartition("/")[2].rpartition(".")[2].lower()


def read_source(path: str, text: str) -> Source:
    """Return what a source file defines."""
    suffix = suffix_of(path)
    language = _LANGUAGES.get(suffix, suffix)
    if language == "Python" and (parsed := python_source(text)) is not None:
        return parsed
    if language in GRAMMARS and (parsed := grammar_source(text, language)) is not None:
        return parsed
    return lines_source(text, language)
