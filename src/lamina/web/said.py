"""The result of an action on the web page: what changed, and how to undo it."""

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

    outcome: str
    atom: Atom
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """The result of an action. `commits` undo it, the last first; `error`: why it was not done.

    `atom_id`: the atom whose page shows the result, so that an undo shows that page again.
    """

    title: str
    lines: tuple[Line, ...] = ()
    commits: tuple[str, ...] = ()
    error: str = ""
    later: tuple[str, ...] = ()
    atom_id: str = ""


def said_receipts(title: str, receipts: Sequence[Receipt]) -> Said:
    """Return the result of decisions."""
    lines = tuple(
        Line(outcome.result.value, outcome.atom, outcome.reason) for receipt in receipts for outcome in receipt.outcomes
    )
    return Said(title, lines, tuple(receipt.commit for receipt in receipts[::-1] if receipt.commit))


def said_change(title: str, memory: Memory, before: Atom, after: Atom) -> Said:
    """Return the result of a change to one atom."""
    if after.revision == before.revision:
        return Said("Nothing changed", (Line(after.status.value, after),), atom_id=after.id)
    commit = change_document(memory, after).commit
    return Said(title, (Line(after.status.value, after),), (commit,) if commit else (), atom_id=after.id)


def said_undone(done: Sequence[Committed], on: str = "") -> Said:
    """Return the result of an undo."""
    lines = tuple(Line(atom.status.value, atom) for committed in done for atom in committed.atoms)
    return Said("Undone", lines, tuple(committed.id for committed in done[::-1] if committed.id), atom_id=on)
