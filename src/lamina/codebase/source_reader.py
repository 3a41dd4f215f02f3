"""Read a source file with the best available parser: `ast`, a grammar, or line by line."""

from __future__ import annotations

from lamina.capture.pieces.text_format import CODE_SUFFIXES
from lamina.codebase.grammar_parser import GRAMMAR_LANGUAGES, parse_with_grammar
from lamina.codebase.line_parser import parse_lines
from lamina.codebase.python_parser import parse_python
from lamina.codebase.signatures import ParsedSource

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
_SUFFIXES_WITHOUT_DEFINITIONS = frozenset({"css", "scss", "sass", "less"})
SOURCE_SUFFIXES = CODE_SUFFIXES - _SUFFIXES_WITHOUT_DEFINITIONS
"""Suffixes of files that contain definitions."""


def suffix_of(path: str) -> str:
    """Return the suffix of a file name, without the dot."""
    return path.rpartition("/")[2].rpartition(".")[2].lower()


def read_source(path: str, text: str) -> ParsedSource:
    """Return what a source file defines."""
    suffix = suffix_of(path)
    language = _LANGUAGES.get(suffix, suffix)
    if language == "Python" and (parsed := parse_python(text)) is not None:
        return parsed
    if language in GRAMMAR_LANGUAGES and (parsed := parse_with_grammar(text, language)) is not None:
        return parsed
    return parse_lines(text, language)
