"""Parse Python with `ast`: classes, functions and the first line of each docstring. No code is executed."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence

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
