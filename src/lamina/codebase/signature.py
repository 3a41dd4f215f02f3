"""What a source file offers to others, in a line each."""

from __future__ import annotations

from dataclasses import dataclass

from lamina.text.normal import one_line

LONGEST = 240
_LONGEST_DOC = 160


@dataclass(frozen=True, slots=True)
class Signature:
    """One definition as it is declared, its name, how deep it lies, and the first line that is said of it."""

    name: str
    text: str
    depth: int = 0
    doc: str = ""

    @property
    def is_private(self) -> bool:
        return self.name.startswith(("_", "#"))

    def __str__(self) -> str:
        told = f"{'  ' * self.depth}{self.text}"
        return f"{told}: {self.doc}" if self.doc else told


@dataclass(frozen=True, slots=True)
class Source:
    """A source file read: its language, what it says of itself, what it defines, and who read it."""

    language: str
    doc: str
    signatures: tuple[Signature, ...]
    read_by: str


def declared(text: str) -> str:
    """A declaration on one line, cut where it is long."""
    line = one_line(text)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1].rstrip()}…"


def first_line(doc: str | None) -> str:
    """The first line that says something."""
    line = next((one for each in (doc or "").splitlines() if (one := one_line(each))), "")
    return line if len(line) <= _LONGEST_DOC else f"{line[: _LONGEST_DOC - 1].rstrip()}…"
