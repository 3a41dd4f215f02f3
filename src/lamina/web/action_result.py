"""The result of an action on the web page: what changed, and how to undo it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.responses import Response

from lamina.atom.atom import Atom
from lamina.capture.receipt import Receipt
from lamina.documents.receipt import change_document
from lamina.memory import Memory
from lamina.store.base import CommitResult
from lamina.web.page_request import PageRequest


@dataclass(frozen=True, slots=True)
class AtomResultLine:
    """One atom and what happened to it."""

    outcome: str
    atom: Atom
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The result of an action. `commits` undo it, the last first; `error`: why it was not done.

    `atom_id`: the atom whose page shows the result, so that an undo shows that page again.
    """

    title: str
    lines: tuple[AtomResultLine, ...] = ()
    commits: tuple[str, ...] = ()
    error: str = ""
    later: tuple[str, ...] = ()
    atom_id: str = ""


def result_from_receipts(title: str, receipts: Sequence[Receipt]) -> ActionResult:
    """Return the result of decisions."""
    lines = tuple(
        AtomResultLine(outcome.result.value, outcome.atom, outcome.reason)
        for receipt in receipts
        for outcome in receipt.outcomes
    )
    return ActionResult(title, lines, tuple(receipt.commit for receipt in receipts[::-1] if receipt.commit))


def result_from_change(title: str, memory: Memory, before: Atom, after: Atom) -> ActionResult:
    """Return the result of a change to one atom."""
    if after.revision == before.revision:
        return ActionResult("Nothing changed", (AtomResultLine(after.status.value, after),), atom_id=after.id)
    commit = change_document(memory, after).commit
    return ActionResult(
        title, (AtomResultLine(after.status.value, after),), (commit,) if commit else (), atom_id=after.id
    )


def result_from_undo(commits: Sequence[CommitResult], atom_id: str = "") -> ActionResult:
    """Return the result of an undo."""
    lines = tuple(AtomResultLine(atom.status.value, atom) for committed in commits for atom in committed.atoms)
    return ActionResult(
        "Undone", lines, tuple(committed.id for committed in commits[::-1] if committed.id), atom_id=atom_id
    )


def render_result(request: PageRequest, result: ActionResult) -> Response:
    """Render a result on a page, or as a fragment."""
    return request.render("error.html", {"result": result}, fragment="_action_result.html")
