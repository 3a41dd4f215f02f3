"""Parse Python with `ast`: classes, functions and the first line of each docstring. No code is executed."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence

from lamina.codebase.signature import Signature, Source, declared, first_line

READER = "ast-1"
_DEEPEST = 2
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def python_source(text: str) -> Source | None:
    """Return what a module defines; None if this Python version cannot parse it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(text)
        return Source("Python", first_line(ast.get_docstring(module)), tuple(_inside(module.body, 0)), READER)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _inside(body: Sequence[ast.stmt], depth: int) -> Iterator[Signature]:
    for node in body:
        if isinstance(node, _Function):
            yield Signature(node.name, _function(node), depth, first_line(ast.get_docstring(node)))
        elif isinstance(node, ast.ClassDef):
            yield Signature(node.name, _class(node), depth, first_line(ast.get_docstring(node)))
            if depth < _DEEPEST:
                yield from _inside(node.body, depth + 1)
        elif isinstance(node, ast.If | ast.Try):
            yield from _inside([*node.body, *node.orelse], depth)


def _function(node: _Function) -> str:
    keyword = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return declared(f"{keyword} {node.name}({ast.unparse(node.args)}){returns}")


def _class(node: ast.ClassDef) -> str:
    bases = ", ".join(ast.unparse(base) for base in (*node.bases, *node.keywords))
    return declared(f"class {node.name}({bases})" if bases else f"class {node.name}")
