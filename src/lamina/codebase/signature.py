"""Define signatures: what a source file defines, in one line each."""

from __future__ import annotations

from dataclasses import dataclass

from lamina.text.normal import one_line

LONGEST = 240
_LONGEST_DOC = 160


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
class Source:
    """A parsed source file: its language, its documentation, its definitions, and which parser read it."""

    language: str
    doc: str
    signatures: tuple[Signature, ...]
    read_by: str


def declared(text: str) -> str:
    """Return a declaration on one line, cut if it is long."""
    line = one_line(text)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1].rstrip()}…"


def first_line(doc: str | None) -> str:
    """Return the first line that is not empty, cut if it is long."""
    line = next((stripped for text in (doc or "").splitlines() if (stripped := one_line(text))), "")
    return line if len(line) <= _LONGEST_DOC else f"{line[: _LONGEST_DOC - 1].rstrip()}…"
