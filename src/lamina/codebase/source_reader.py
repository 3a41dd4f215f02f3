"""Read a source file with the best available parser: `ast`, a grammar, or line by line."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence

from lamina.capture.pieces.text_format import CODE_SUFFIXES
from lamina.codebase.grammar_parser import GRAMMAR_LANGUAGES, parse_with_grammar
from lamina.codebase.line_parser import parse_lines
from lamina.codebase.signatures import ParsedSource, Signature, first_doc_line, one_line_declaration

PARSER_ID = "ast-1"
_MAX_DEPTH = 2
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def parse_python(text: str) -> ParsedSource | None:
    """Return what a module defines; None if this Python version cannot parse it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(text)
        return ParsedSource(
            "Python", first_doc_line(ast.get_docstring(module)), tuple(_signatures_in(module.body, 0)), PARSER_ID
        )
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _signatures_in(body: Sequence[ast.stmt], depth: int) -> Iterator[Signature]:
    for node in body:
        if isinstance(node, _Function):
            yield Signature(node.name, _function_declaration(node), depth, first_doc_line(ast.get_docstring(node)))
        elif isinstance(node, ast.ClassDef):
            yield Signature(node.name, _class_declaration(node), depth, first_doc_line(ast.get_docstring(node)))
            if depth < _MAX_DEPTH:
                yield from _signatures_in(node.body, depth + 1)
        elif isinstance(node, ast.If | ast.Try):
            yield from _signatures_in([*node.body, *node.orelse], depth)


def _function_declaration(node: _Function) -> str:
    keyword = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return one_line_declaration(f"{keyword} {node.name}({ast.unparse(node.args)}){returns}")


def _class_declaration(node: ast.ClassDef) -> str:
    bases = ", ".join(ast.unparse(base) for base in (*node.bases, *node.keywords))
    return one_line_declaration(f"class {node.name}({bases})" if bases else f"class {node.name}")


_SUFFIXES_BY_LANGUAGE = """
    Python: py pyi; JavaScript: js mjs cjs jsx; TypeScript: ts; TSX: tsx; Go: go; Rust: rs; Java: java; Kotlin: kt kts;
    Ruby: rb; PHP: php; C#: cs; Swift: swift; Scala: scala; C: c h; SQL: sql; C++: cc cpp cxx hpp hh; shell: sh bash zsh
"""
_LANGUAGES = {
    suffix: language.strip()
    for language, _, suffixes in (entry.partition(":") for entry in _SUFFIXES_BY_LANGUAGE.split(";"))
    for suffix in suffixes.split()
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
