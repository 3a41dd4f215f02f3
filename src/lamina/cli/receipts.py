"""Renders what a write did: its outcomes, the files it wrote and how to undo it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lamina.atom.atom import Atom
from lamina.cli.output import Block, Facts, Grid, Json, Line, View, brief
from lamina.cli.session import Session
from lamina.cli.told import atom_data, quotes_of, short, words_of

if TYPE_CHECKING:
    from lamina.capture.receipt import Receipt
    from lamina.memory import Memory
    from lamina.store.base import Committed

DRY = "dry run: nothing was changed"


def receipt_view(session: Session, memory: Memory, receipt: Receipt) -> View:
    """Render every outcome of a capture or a remember."""
    outcomes = [
        {"result": outcome.result.value, "reason": outcome.reason, "atom": atom_data(outcome.atom, outcome.path)}
        for outcome in receipt.outcomes
    ]
    blocks: list[Block] = []
    for outcome in receipt.outcomes:
        blocks += told_atom(
            outcome.result.value, outcome.atom, outcome.path, outcome.reason, quotes_of(memory, outcome.atom)
        )
    if receipt.redacted:
        blocks.append(Line(f"secrets redacted: {', '.join(dict.fromkeys(receipt.redacted))}", "yellow"))
    data = {
        **_ending(session, receipt.commit),
        "repeated": receipt.repeated,
        "stages": dict(receipt.stages),
        "redacted": list(receipt.redacted),
        "outcomes": outcomes,
    }
    return View(data, (*blocks, *ending_blocks(session, receipt.commit)))


def counted_view(session: Session, receipt: Receipt) -> View:
    """Render the number of outcomes of each type, if they are too many to list."""
    counts = Counter(outcome.result.value for outcome in receipt.outcomes)
    lines = [f"{count:,} {result}" for result, count in counts.items()] or ["nothing has changed"]
    lines += [f"{stage}: {stage_result}" for stage, stage_result in receipt.stages]
    data = {**_ending(session, receipt.commit), "outcomes": dict(counts), "stages": dict(receipt.stages)}
    return View(data, (*map(Line, lines), *ending_blocks(session, receipt.commit)))


def change_view(session: Session, memory: Memory, before: Atom, after: Atom, reason: str) -> View:
    """Render an atom after a change; it may be unchanged."""
    path = memory.path_of(after.id)
    is_changed = after.revision != before.revision
    versions = memory.history(after.id).versions if is_changed else ()
    commit = next((version.commit for version in versions if version.revision == after.revision), None)
    result = after.status.value if after.status != before.status else "changed" if is_changed else "unchanged"
    data = {**_ending(session, commit), "atom": atom_data(after, path)}
    return View(data, (*told_atom(result, after, path, reason), *ending_blocks(session, commit)))


def undone_view(session: Session, memory: Memory, done: Sequence[Committed]) -> View:
    """Render the commits that an undo wrote, and the restored atoms."""
    commits: list[Json] = []
    blocks: list[Block] = []
    for committed in done:
        paths = {atom.id: memory.path_of(atom.id) for atom in committed.atoms}
        commits.append(
            {
                "commit": committed.id,
                "seq": committed.seq,
                "atoms": [atom_data(a, paths[a.id]) for a in committed.atoms],
            }
        )
        for atom in committed.atoms:
            blocks += told_atom(atom.status.value, atom, paths[atom.id], "undone")
    last = done[-1].id
    return View({**_ending(session, last), "commits": commits}, (*blocks, *ending_blocks(session, last)))


def learnt_view(
    session: Session, memory: Memory, recall_id: str, verdict: str, learnt: Sequence[str], *, cited: bool
) -> View:
    """Render the quality and use count of each atom after a feedback."""
    atoms = [(memory.get(atom_id), memory.signals(atom_id)) for atom_id in learnt]
    data = {
        "dry_run": session.dry_run,
        "recall_id": recall_id,
        "verdict": verdict,
        "learnt": [
            {"id": atom.id, "quality": signals.quality_score, "uses": signals.recall_count} for atom, signals in atoms
        ],
    }
    rows = tuple(
        (short(atom.id), f"{signals.quality_score:g}", str(signals.recall_count), brief(words_of(atom)))
        for atom, signals in atoms
    )
    empty_note = "feedback on this recall was given before" if cited else "nothing was cited, so nothing changes"
    blocks: list[Block] = [Grid(("id", "quality", "uses", "what it says"), rows) if rows else Line(empty_note)]
    return View(data, (*blocks, *([Line(DRY, "yellow")] if session.dry_run else [])))


def told_atom(
    word: str, atom: Atom, path: str | None, reason: str, quotes: Sequence[tuple[str, str]] = ()
) -> list[Block]:
    """Return an atom with what happened to it, as blocks."""
    pairs = [("why", reason), ("file", path or "none"), *(("said in", link) for link, _ in quotes)]
    return [
        Line(f"{word}: {atom.kind} {short(atom.id)}  {brief(words_of(atom))}", "bold"),
        Facts(tuple(pairs), indent=2),
    ]


def ending_blocks(session: Session, commit: str | None) -> list[Block]:
    """Return how to undo a commit, or that nothing changed."""
    if session.dry_run:
        return [Line(DRY, "yellow")]
    if commit is None:
        return [Line("nothing had to be changed", "dim")]
    return [Line(f"undo: {session.shell('undo', commit)}", "green")]


def _ending(session: Session, commit: str | None) -> dict[str, Json]:
    undoable = commit if not session.dry_run else None
    return {
        "dry_run": session.dry_run,
        "commit": undoable,
        "undo": session.shell("undo", undoable) if undoable else None,
    }
