"""Define signatures: what a source file defines, in one line each."""

from __future__ import annotations

from dataclasses import dataclass

from lamina.text.normal_form import shorten_line

MAX_DECLARATION_LENGTH = 240
_MAX_DOC_LENGTH = 160


@dataclass(frozen=True, slots=True)
class Signature:
    """One definition: its name, its declaration, its nesting depth, and the first line of its documentation."""

    name: str
    text: str
    depth: int = 0
    doc: str = ""

    @property
    def is_private(self) -> bool:
        return self.name.startswith(("_", "#"))

    def __str__(self) -> str:
        declaration = f"{'  ' * self.depth}{self.text}"
        return f"{declaration}: {self.doc}" if self.doc else declaration


@dataclass(frozen=True, slots=True)
class ParsedSource:
    """A parsed source file: its language, its documentation, its definitions, and which parser read it."""

    language: str
    doc: str
    signatures: tuple[Signature, ...]
    parser_id: str


def one_line_declaration(text: str) -> str:
    """Return a declaration on one line, cut if it is long."""
    return shorten_line(text, MAX_DECLARATION_LENGTH)


def first_doc_line(doc: str | None) -> str:
    """Return the first line that is not empty, cut if it is long."""
    return shorten_line(next(filter(str.strip, (doc or "").splitlines()), ""), _MAX_DOC_LENGTH)
