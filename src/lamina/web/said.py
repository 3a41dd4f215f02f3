"""What a page answers to something a person did: what became of it, and how to undo it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lamina.atom.atom import Atom
from lamina.capture.receipt import Receipt
from lamina.documents import change_document
from lamina.memory import Memory
from lamina.store.base import Committed


@dataclass(frozen=True, slots=True)
class Line:
    """One atom and what happened to it."""

    word: str
    atom: Atom
    why: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """What was done. `commits` undo it, the last first; `trouble`: it was not done, and why.

    `on`: the atom whose page tells it, so that an undo shows that page anew.
    """

    title: str
    lines: tuple[Line, ...] = ()
    commits: tuple[str, ...] = ()
    trouble: str = ""
    later: tuple[str, ...] = ()
    on: str = ""


def said_receipts(title: str, receipts: Sequence[Receipt]) -> Said:
    """What decisions did."""
    lines = tuple(
        Line(outcome.result.value, outcome.atom, outcome.reason) for one in receipts for outcome in one.outcomes
    )
    return Said(title, lines, tuple(one.commit for one in receipts[::-1] if one.commit))


def said_change(title: str, memory: Memory, before: Atom, after: Atom) -> Said:
    """What a change of one atom did."""
    if after.revision == before.revision:
        return Said("Nothing had to change", (Line(after.status.value, after),), on=after.id)
    commit = change_document(memory, after).commit
    return Said(title, (Line(after.status.value, after),), (commit,) if commit else (), on=after.id)


def said_undone(done: Sequence[Committed], on: str = "") -> Said:
    """What an undo did."""
    lines = tuple(Line(atom.status.value, atom) for committed in done for atom in committed.atoms)
    return Said("Undone", lines, tuple(committed.id for committed in done[::-1] if committed.id), on=on)
