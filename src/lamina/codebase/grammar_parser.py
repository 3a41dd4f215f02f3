"""Parse JavaScript, TypeScript, Go, Rust and Java with their grammars, if the extra `code` is installed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Protocol

from lamina.codebase.line_parser import COMMENT_START
from lamina.codebase.signatures import ParsedSource, Signature, first_doc_line, one_line_declaration

PARSER_ID = "tree-sitter-1"
_MAX_DEPTH = 2
_MAX_NODES = 100_000
_MAX_NESTED_CONTAINERS = 50
_MAX_PARSE_SECONDS = 2.0
"""Processor time; the largest file that is read takes a tenth of a second."""
_BLOCK_BYTES = 1024

_GRAMMAR_MODULES: dict[str, tuple[str, str]] = {
    "JavaScript": ("tree_sitter_javascript", "language"),
    "TypeScript": ("tree_sitter_typescript", "language_typescript"),
    "TSX": ("tree_sitter_typescript", "language_tsx"),
    "Go": ("tree_sitter_go", "language"),
    "Rust": ("tree_sitter_rust", "language"),
    "Java": ("tree_sitter_java", "language"),
}
GRAMMAR_LANGUAGES = frozenset(_GRAMMAR_MODULES)
"""The languages that have a grammar."""
_DEFINITION_NODES = """
    function_declaration generator_function_declaration function_signature class_declaration abstract_class_declaration
    method_definition method_signature abstract_method_signature interface_declaration type_alias_declaration
    enum_declaration internal_module module method_declaration type_spec type_alias method_elem function_item
    function_signature_item struct_item enum_item union_item trait_item impl_item mod_item type_item macro_definition
    record_declaration constructor_declaration annotation_type_declaration variable_declarator
"""
_DEFINITIONS = frozenset(_DEFINITION_NODES.split())
_CONTAINER_NODES = """
    export_statement ambient_declaration lexical_declaration variable_declaration type_declaration expression_statement
    declaration_list class_body interface_body enum_body enum_body_declarations statement_block object_type
    interface_type struct_type
"""
_CONTAINERS = frozenset(_CONTAINER_NODES.split())
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
_LEAF_DEFINITIONS = frozenset({"function_declaration", "method_definition", "method_declaration", "function_item"})
_COMMENTS = frozenset({"comment", "line_comment", "block_comment"})


class SyntaxNode(Protocol):
    """A node of a syntax tree, with the attributes that are read here."""

    @property
    def type(self) -> str: ...
    @property
    def start_byte(self) -> int: ...
    @property
    def end_byte(self) -> int: ...
    @property
    def named_children(self) -> Sequence[SyntaxNode]: ...
    @property
    def prev_named_sibling(self) -> SyntaxNode | None: ...
    @property
    def parent(self) -> SyntaxNode | None: ...
    def child_by_field_name(self, name: str, /) -> SyntaxNode | None: ...


def parse_with_grammar(text: str, language: str) -> ParsedSource | None:
    """Return what a source file defines; None if its grammar is not installed or it is not worth parsing with it."""
    parse = _load_parser(language)
    data = text.encode()
    root = parse(data) if parse is not None else None
    if root is None:
        return None
    about = next((_comment_line(child, data) for child in root.named_children[:1] if child.type in _COMMENTS), "")
    return ParsedSource(language, about, tuple(_DefinitionReader(data).signatures_in(root, 0)), PARSER_ID)


@lru_cache(maxsize=len(_GRAMMAR_MODULES))
def _load_parser(language: str) -> Callable[[bytes], SyntaxNode | None] | None:
    package, name = _GRAMMAR_MODULES[language]
    try:
        engine, grammar = import_module("tree_sitter"), import_module(package)
    except ImportError:
        return None
    parser_language = engine.Language(getattr(grammar, name)())

    def parse(data: bytes) -> SyntaxNode | None:
        blocks = _TimedBlocks(data, time.thread_time() + _MAX_PARSE_SECONDS)
        root: SyntaxNode = engine.Parser(parser_language).parse(blocks.read).root_node
        return None if blocks.is_late else root

    return parse


@dataclass(slots=True)
class _TimedBlocks:
    """The bytes of a file for a parser; they end early once it has used its time, as it does on text that is no code:
    recovering from errors takes it quadratic time."""

    data: bytes
    deadline: float
    is_late: bool = False

    def read(self, offset: int, point: object) -> bytes:
        self.is_late = self.is_late or time.thread_time() > self.deadline
        return b"" if self.is_late else self.data[offset : offset + _BLOCK_BYTES]


class _DefinitionReader:
    """Reads the definitions of one file, outermost first."""

    def __init__(self, data: bytes) -> None:
        self._data, self._nodes_left = data, _MAX_NODES

    def signatures_in(self, node: SyntaxNode, depth: int, containers: int = 0) -> Iterator[Signature]:
        for child in node.named_children:
            self._nodes_left -= 1
            if self._nodes_left < 0:
                return
            if child.type in _DEFINITIONS:
                yield from self._definition(child, depth)
            elif child.type in _CONTAINERS and containers < _MAX_NESTED_CONTAINERS:
                yield from self.signatures_in(child, depth, containers + 1)

    def _definition(self, node: SyntaxNode, depth: int) -> Iterator[Signature]:
        body = _body(node)
        if node.type == "variable_declarator" and body is None:
            return
        outer = _enclosing_statement(node)
        ends = self._data.find(b"{", body.start_byte) if body and body.type == "interface_type" else None
        until = (body.start_byte if body else node.end_byte) if ends is None else ends
        text = self._text(outer.start_byte, until).rstrip(" \t\n{;").removesuffix("=>").rstrip(" =")
        yield Signature(self._name(node), one_line_declaration(text), depth, self._doc(outer))
        if body is not None and depth < _MAX_DEPTH and node.type not in _LEAF_DEFINITIONS and not _is_function(node):
            yield from self.signatures_in(body, depth + 1)

    def _name(self, node: SyntaxNode) -> str:
        named = node.child_by_field_name("name") or node.child_by_field_name("type")
        return self._text(named.start_byte, named.end_byte) if named else ""

    def _doc(self, node: SyntaxNode) -> str:
        """Return the first line of the comment directly above a definition; after a blank line it
        belongs to the file.
        """
        comment_lines: list[str] = []
        below, above = node, node.prev_named_sibling
        while above is not None and above.type in (*_COMMENTS, "attribute_item", "decorator"):
            between = self._data[above.end_byte - 1 : below.start_byte]
            text = self._text(above.start_byte, above.end_byte)
            if between.count(b"\n") > 1 or text.startswith("//!"):
                break
            if above.type in _COMMENTS:
                comment_lines.insert(0, _comment_line(above, self._data))
            if text.startswith("/*"):
                break
            below, above = above, above.prev_named_sibling
        return first_doc_line("\n".join(comment_lines))

    def _text(self, start: int, end: int) -> str:
        return self._data[start:end].decode(errors="replace")


def _body(node: SyntaxNode) -> SyntaxNode | None:
    """Return the body of a definition, which is not part of its declaration; None if it has none."""
    if node.type == "variable_declarator":
        value = node.child_by_field_name("value")
        return value.child_by_field_name("body") if value is not None and value.type in _FUNCTIONS else None
    body = node.child_by_field_name("body")
    type_node = node.child_by_field_name("type") if node.type == "type_spec" else None
    if body is None and type_node is not None and type_node.type in ("struct_type", "interface_type"):
        fields = [child for child in type_node.named_children if child.type == "field_declaration_list"]
        return fields[0] if fields else type_node if type_node.type == "interface_type" else None
    return body


def _is_function(node: SyntaxNode) -> bool:
    return node.type in ("variable_declarator", "constructor_declaration")


def _enclosing_statement(node: SyntaxNode) -> SyntaxNode:
    """Return the whole statement of a definition, including `export`, `const` or `type` before it."""
    above = node.parent
    while above is not None and above.type.endswith(("export_statement", "lexical_declaration", "type_declaration")):
        if above.named_children[-1:] and len(above.named_children) > 1 and above.type != "export_statement":
            break
        node, above = above, above.parent
    return node


def _comment_line(comment: SyntaxNode, data: bytes) -> str:
    lines = data[comment.start_byte : comment.end_byte].decode(errors="replace").splitlines()
    bare = (COMMENT_START.sub("", line.strip()).removesuffix("*/").strip() for line in lines)
    return first_doc_line("\n".join(bare))
