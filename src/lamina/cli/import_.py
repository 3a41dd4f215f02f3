"""`lamina import`: imports data of other programs, and lets the user confirm its statements interactively."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import command
from lamina.cli.output import Block, Facts, Json, Line, View, brief
from lamina.cli.receipts import DRY
from lamina.cli.session import Session
from lamina.cli.told import atom_data, date, short, words_of
from lamina.cli.write import Private

if TYPE_CHECKING:
    from datetime import datetime

    from lamina.atom.atom import Atom
    from lamina.importers.bring import Imported
    from lamina.memory import Memory

app = typer.Typer()
PANEL = "Write"
LISTED = 20
"""Statements that are printed if the user cannot be asked."""
KEYS = "k keep · d drop · s skip · a keep all others of this source · q quit"


@command(
    app,
    "import",
    panel=PANEL,
    changes=True,
    may_make=True,
    example="lamina import ~/Downloads/chatgpt-export.zip --dry-run  ·  lamina import ~/notes",
)
def import_(
    session: Session,
    path: Annotated[
        Path,
        typer.Argument(help="A ChatGPT or Claude export, a vault, a folder of notes, or a file.", show_default=False),
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Confirm every extracted statement without asking.")] = False,
    private: Private = False,
) -> View:
    """Import an export, notes or a file: words are searchable at once, statements stay pending until you decide."""
    with session.changing() as memory:
        started_at = memory.now()
        imported = _brought(session, memory, path, private)
        learnt = [(outcome.atom, _source_turn(memory, outcome.atom)) for outcome in imported.learnt]
        confirmed = _keep_all(memory, started_at) if yes and not session.dry_run else 0
    session.encode()
    data = _data(session, imported, learnt, confirmed)
    blocks = _summary(session, imported)
    if yes or not _can_ask(session) or not learnt:
        return View(data, (*blocks, *_listed(session, imported, learnt, confirmed)))
    session.output.blocks(blocks)
    return View(data, tuple(_ask(session, memory, imported, learnt)))


def _brought(session: Session, memory: Memory, path: Path, private: bool) -> Imported:
    from lamina.cli.progress import Bar

    try:
        with Bar() as bar:
            return memory.import_(path, private=private, progress=bar)
    except KeyboardInterrupt:
        session.output.note("interrupted; what was imported is safe, and running it again imports the rest")
        raise


def _source_turn(memory: Memory, atom: Atom) -> tuple[str, str]:
    """Return the speaker, date and source of a statement, and its sentence; for a fact, the source it came from."""
    from lamina.atom.passage import passages_of
    from lamina.errors import NotFound

    for evidence in atom.evidence:
        try:
            segment = memory.get(evidence.segment)
        except NotFound:
            continue
        for passage in passages_of(segment):
            if passage.n == evidence.passage:
                origin_parts = [passage.speaker, date(passage.at or segment.observed_at), _named(segment)]
                words = passage.text[evidence.start : evidence.end] or passage.text
                return " · ".join(part for part in origin_parts if part), " ".join(words.split())
    return f"{date(atom.observed_at)} · {atom.source_id or 'no source'}", words_of(atom)


def _named(segment: Atom) -> str:
    title = segment.metadata.get("heading")
    source = segment.source_id or segment.session_id or ""
    return f"{source} “{brief(title, 60)}”" if title and title not in source else source


def _keep_all(memory: Memory, began: datetime) -> int:
    """Confirm the statements of this import, not those pending before; return their number."""
    pending = (atom for atom in memory.review.held() if not atom.is_segment)
    new_atoms = [atom for atom in pending if atom.recorded_at and atom.recorded_at >= began]
    for atom in reversed(new_atoms):
        memory.review.confirm(atom.id, "kept on import")
    return len(new_atoms)


def _data(session: Session, brought: Imported, learnt: list[tuple[Atom, tuple[str, str]]], kept: int) -> Json:
    return {
        "dry_run": session.dry_run,
        "source": brought.source,
        "conversations": brought.conversations,
        "documents": brought.documents,
        "facts": brought.facts,
        "turns": brought.turns,
        "statements": brought.statements,
        "duplicates": brought.duplicates,
        "held": brought.held,
        "kept": kept,
        "skipped": dict(brought.skipped),
        "problems": [{"path": problem.path, "reason": problem.reason} for problem in brought.problems],
        "problem_count": brought.problem_count,
        "redacted": dict(brought.redacted),
        "learnt": [{**atom_data(atom, None), "said_in": place, "quote": quote} for atom, (place, quote) in learnt],
    }


def _summary(session: Session, brought: Imported) -> list[Block]:
    counts = [
        ("conversations", brought.conversations),
        ("documents", brought.documents),
        ("turns and passages", brought.turns),
        ("facts of another memory", brought.facts),
        ("statements", brought.statements),
        ("duplicates", brought.duplicates),
        ("secrets redacted", brought.secrets),
        *((f"skipped: {reason}", number) for reason, number in brought.skipped),
        ("could not be read", brought.problem_count),
    ]
    blocks: list[Block] = [
        Line(f"{brought.source}: {'would be imported' if session.dry_run else 'imported'}", "bold"),
        Facts(tuple((name, f"{number:,}") for name, number in counts if number), indent=2),
    ]
    blocks += [Line(f"  {problem.path}: {problem.reason}", "yellow") for problem in brought.problems[:LISTED]]
    if brought.problem_count > LISTED:
        blocks.append(Line(f"  and {brought.problem_count - LISTED} more; --json lists them", "yellow"))
    return blocks


def _listed(session: Session, brought: Imported, learnt: list[tuple[Atom, tuple[str, str]]], kept: int) -> list[Block]:
    """Return the new statements and the commands that decide about them."""
    if not learnt:
        return [Line(DRY, "yellow")] if session.dry_run else []
    title = "statements that would be added" if session.dry_run else "new statements"
    blocks: list[Block] = [Line(), Line(title if kept else f"{title}, pending your review", "bold")]
    for atom, (place, quote) in learnt[:LISTED]:
        blocks += _statement(atom, place, quote)
    if brought.held > LISTED:
        blocks.append(Line(f"  and {brought.held - LISTED:,} more; `{session.shell('review', 'list')}` shows them"))
    if session.dry_run:
        return [*blocks, Line(DRY, "yellow")]
    if kept:
        return [*blocks, Line(f"kept: {kept:,}", "green")]
    source = learnt[0][0].source_id or ""
    return [
        *blocks,
        Line(f"keep: {session.shell('review', 'confirm', short(learnt[0][0].id))} …", "green"),
        Line(f"drop: {session.shell('review', 'reject', short(learnt[0][0].id))} …", "green"),
        Line(f"all of one source: {session.shell('review', 'confirm', '--source', source)}", "green"),
    ]


def _statement(atom: Atom, place: str, quote: str) -> list[Block]:
    lines: list[Block] = [Line(f"  {short(atom.id)}  {atom.kind}: {brief(words_of(atom), 160)}", "bold")]
    return [*lines, Line(f"    “{brief(quote, 160)}”  {place}", "dim")]


def _can_ask(session: Session) -> bool:
    return not (session.dry_run or session.output.as_json) and sys.stdin.isatty() and sys.stdout.isatty()


def _ask(
    session: Session, memory: Memory, brought: Imported, learnt: list[tuple[Atom, tuple[str, str]]]
) -> list[Block]:
    """Show the statements one by one and confirm, reject or skip each by a key."""
    from lamina.cli.keys import QUIT, single_keys

    kept_count = dropped_count = 0
    whole_sources: set[str | None] = set()
    with single_keys("kdsaq") as pressed:
        session.output.blocks([Line(), Line(f"new statements ({KEYS})", "bold")])
        for n, (atom, (place, quote)) in enumerate(learnt, 1):
            key = "k"
            if atom.source_id not in whole_sources:
                session.output.blocks([Line(f"{n} of {len(learnt)}", "dim"), *_statement(atom, place, quote)])
                key = pressed()
            if key == QUIT:
                break
            if key == "a":
                whole_sources.add(atom.source_id)
            if key in "ka":
                memory.review.confirm(atom.id, "kept on import")
                kept_count += 1
            elif key == "d":
                memory.review.reject(atom.id, "dropped on import")
                dropped_count += 1
    left_count = brought.held - kept_count - dropped_count
    blocks: list[Block] = [Line(f"kept {kept_count}, dropped {dropped_count}, left for later {left_count}", "green")]
    return [*blocks, Line(f"later: {session.shell('review', 'list')}", "green")] if left_count else blocks
