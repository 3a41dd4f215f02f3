"""Renders what a write did: its outcomes, the files it wrote and how to undo it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lamina.atom.atom import Atom
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, FieldList, Json, OutputBlock, TextGrid, TextLine, shorten
from lamina.cli.record_views import atom_data, name_atoms, one_line_text, read_quotes, short_id

if TYPE_CHECKING:
    from lamina.capture.receipt import Outcome, Receipt
    from lamina.memory import Memory
    from lamina.store.base import CommitResult

DRY_RUN_NOTE = "dry run: nothing was changed"


def render_receipt(session: CommandSession, memory: Memory, receipt: Receipt) -> CommandResult:
    """Render every outcome of a capture or a remember."""
    from lamina.documents.receipt import receipt_document

    blocks: list[OutputBlock] = []
    for outcome in receipt.outcomes:
        quotes = read_quotes(memory, outcome.atom)
        blocks += atom_outcome_blocks(memory, outcome.result.value, outcome.atom, outcome.path, outcome.reason, quotes)
    if receipt.redacted:
        blocks.append(TextLine(f"secrets redacted: {', '.join(dict.fromkeys(receipt.redacted))}", "yellow"))
    data = commit_data(session, **receipt_document(receipt).data())
    return CommandResult(data, (*blocks, *undo_blocks(session, receipt.commit)))


def render_outcome_counts(session: CommandSession, receipt: Receipt) -> CommandResult:
    """Render the number of outcomes of each type, if they are too many to list."""
    counts = Counter(outcome.result.value for outcome in receipt.outcomes)
    lines = [f"{count:,} {result}" for result, count in counts.items()] or ["nothing has changed"]
    lines += [f"{stage}: {stage_result}" for stage, stage_result in receipt.stages]
    data = commit_data(session, receipt.commit, outcomes=dict(counts), stages=dict(receipt.stages))
    return CommandResult(data, (*map(TextLine, lines), *undo_blocks(session, receipt.commit)))


def render_change(session: CommandSession, memory: Memory, before: Atom, after: Atom, reason: str) -> CommandResult:
    """Render an atom after a change; it may be unchanged."""
    is_changed = after.revision != before.revision
    result = after.status.value if after.status != before.status else "changed" if is_changed else "unchanged"
    return render_atom(session, memory, after, result, reason, is_changed=is_changed)


def render_atom(
    session: CommandSession, memory: Memory, atom: Atom, result: str, reason: str, *, is_changed: bool = True
) -> CommandResult:
    """Render an atom and, if it was changed, the commit that changed it."""
    from lamina.documents.receipt import change_document

    data = change_document(memory, atom).data()
    commit = data["commit"] if is_changed else None
    outcome = atom_outcome_blocks(memory, result, atom, data["atom"]["path"], reason)
    return CommandResult(commit_data(session, **{**data, "commit": commit}), (*outcome, *undo_blocks(session, commit)))


def render_undo(session: CommandSession, memory: Memory, undone: Sequence[CommitResult]) -> CommandResult:
    """Render the commits that an undo wrote, and the restored atoms."""
    from lamina.documents.receipt import undo_document

    blocks: list[OutputBlock] = []
    for atom in (atom for committed in undone for atom in committed.atoms):
        blocks += atom_outcome_blocks(memory, atom.status.value, atom, memory.path_of(atom.id), "undone")
    last = undone[-1].id
    data = commit_data(session, last, **undo_document(memory, undone).data())
    return CommandResult(data, (*blocks, *undo_blocks(session, last)))


def render_feedback(
    session: CommandSession,
    memory: Memory,
    recall_id: str,
    verdict: str,
    atom_ids: Sequence[str],
    *,
    has_citations: bool,
) -> CommandResult:
    """Render the quality and use count of each atom after a feedback."""
    atoms = [(memory.get(atom_id), memory.signals(atom_id)) for atom_id in atom_ids]
    data = {
        "dry_run": session.dry_run,
        "recall_id": recall_id,
        "verdict": verdict,
        "learnt": [
            {"id": atom.id, "quality": signals.quality_score, "uses": signals.recall_count} for atom, signals in atoms
        ],
    }
    rows = tuple(
        (short_id(atom.id), f"{signals.quality_score:g}", str(signals.recall_count), shorten(one_line_text(atom)))
        for atom, signals in atoms
    )
    empty_note = (
        "feedback on this recall was given before" if has_citations else "nothing was cited, so nothing changes"
    )
    blocks: list[OutputBlock] = [
        TextGrid(("id", "quality", "uses", "what it says"), rows) if rows else TextLine(empty_note)
    ]
    return CommandResult(data, (*blocks, *([TextLine(DRY_RUN_NOTE, "yellow")] if session.dry_run else [])))


def atom_outcome_blocks(
    memory: Memory, result: str, atom: Atom, path: str | None, reason: str, quotes: Sequence[tuple[str, str]] = ()
) -> list[OutputBlock]:
    """Return an atom with what happened to it, as blocks."""
    pairs = [("why", name_atoms(reason, memory)), ("file", path or "none"), *(("said in", link) for link, _ in quotes)]
    return [
        TextLine(f"{result}: {atom.kind} {short_id(atom.id)}  {shorten(one_line_text(atom))}", "bold"),
        FieldList(tuple(pairs), indent=2),
    ]


def undo_blocks(session: CommandSession, commit: str | None) -> list[OutputBlock]:
    """Return how to undo a commit, or that nothing changed."""
    if session.dry_run:
        return [TextLine(DRY_RUN_NOTE, "yellow")]
    if commit is None:
        return [TextLine("nothing had to be changed", "dim")]
    return [TextLine(f"undo: {session.format_command('undo', commit)}", "green")]


def commit_data(session: CommandSession, commit: str | None, **more: Json) -> dict[str, Json]:
    """Return a commit as JSON data, with the command that undoes it; a dry run has no commit."""
    undoable = None if session.dry_run else commit
    undo = session.format_command("undo", undoable) if undoable else None
    return {"dry_run": session.dry_run, "commit": undoable, "undo": undo, **more}


def outcome_data(outcome: Outcome) -> Json:
    """Return what happened to one atom as JSON data."""
    return {"result": outcome.result.value, "reason": outcome.reason, "atom": atom_data(outcome.atom, outcome.path)}
