"""Define signatures: what a source file defines, in one line each."""

from __future__ import annotations

from dataclasses import dataclass

from lamina.text.normal_form import one_line

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
    line = one_line(text)
    return line if len(line) <= MAX_DECLARATION_LENGTH else f"{line[: MAX_DECLARATION_LENGTH - 1].rstrip()}…"


def first_doc_line(doc: str | None) -> str:
    """Return the first line that is not empty, cut if it is long."""
    line = next((stripped for text in (doc or "").splitlines() if (stripped := one_line(text))), "")
    return line if len(line) <= _MAX_DOC_LENGTH else f"{line[: _MAX_DOC_LENGTH - 1].rstrip()}…"
