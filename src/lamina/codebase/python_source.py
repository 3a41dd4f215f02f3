"""Python read by its own parser: classes, functions and the first line of each docstring. Nothing is ever run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence

from lamina.codebase.signature import Signature, Source, declared, first_line

READER = "ast-1"
_DEEPEST = 2
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def python_source(text: str) -> Source | None:
    """What a module offers; None where this Python cannot parse it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(text)
        return Source("Python", first_line(ast.get_docstring(module)), tuple(_inside(module.body, 0)), READER)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _inside(body: Sequence[ast.stmt], depth: int) -> Iterator[Signature]:
    for each in body:
        if isinstance(each, _Function):
            yield Signature(each.name, _function(each), depth, first_line(ast.get_docstring(each)))
        elif isinstance(each, ast.ClassDef):
            yield Signature(each.name, _class(each), depth, first_line(ast.get_docstring(each)))
            if depth < _DEEPEST:
                yield from _inside(each.body, depth + 1)
        elif isinstance(each, ast.If | ast.Try):
            yield from _inside([*each.body, *each.orelse], depth)


def _function(node: _Function) -> str:
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    gives = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return declared(f"{word} {node.name}({ast.unparse(node.args)}){gives}")


def _class(node: ast.ClassDef) -> str:
    above = ", ".join(ast.unparse(each) for each in (*node.bases, *node.keywords))
    return declared(f"class {node.name}({above})" if above else f"class {node.name}")
