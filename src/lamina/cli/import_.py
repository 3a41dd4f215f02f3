"""`lamina import`: bring in what somebody has elsewhere, and decide on the spot what of it counts."""

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
"""So many of the statements are shown where nobody can be asked."""
KEYS = "k keep · d drop · s skip · a keep all the rest from this source · q quit"


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
    yes: Annotated[bool, typer.Option("--yes", help="Keep every statement that was found, without asking.")] = False,
    private: Private = False,
) -> View:
    """Bring in what you have elsewhere: words are found at once, statements wait until you keep or drop them."""
    with session.changing() as memory:
        began = memory.now()
        brought = _brought(session, memory, path, private)
        learnt = [(outcome.atom, _source_turn(memory, outcome.atom)) for outcome in brought.learnt]
        kept = _keep_all(memory, began) if yes and not session.dry_run else 0
    session.encode()
    data = _data(session, brought, learnt, kept)
    blocks = _summary(session, brought)
    if yes or not _can_ask(session) or not learnt:
        return View(data, (*blocks, *_listed(session, brought, learnt, kept)))
    session.output.blocks(blocks)
    return View(data, tuple(_ask(session, memory, brought, learnt)))


def _brought(session: Session, memory: Memory, path: Path, private: bool) -> Imported:
    from lamina.cli.progress import Bar

    try:
        with Bar() as bar:
            return memory.import_(path, private=private, progress=bar)
    except KeyboardInterrupt:
        session.output.note("broken off; what came in is safe, and starting again brings the rest")
        raise


def _source_turn(memory: Memory, atom: Atom) -> tuple[str, str]:
    """Who said it where and when, and the sentence itself; of a fact from another memory, where that had it."""
    from lamina.atom.passage import passages_of
    from lamina.errors import NotFound

    for each in atom.evidence:
        try:
            segment = memory.get(each.segment)
        except NotFound:
            continue
        for passage in passages_of(segment):
            if passage.n == each.passage:
                place = [passage.speaker, date(passage.at or segment.observed_at), _named(segment)]
                words = passage.text[each.start : each.end] or passage.text
                return " · ".join(part for part in place if part), " ".join(words.split())
    return f"{date(atom.observed_at)} · {atom.source_id or 'no source'}", words_of(atom)


def _named(segment: Atom) -> str:
    title = segment.metadata.get("heading")
    source = segment.source_id or segment.session_id or ""
    return f"{source} “{brief(title, 60)}”" if title and title not in source else source


def _keep_all(memory: Memory, began: datetime) -> int:
    """Keep what this import brought and nothing that waited before."""
    held = (atom for atom in memory.review.held() if not atom.is_segment)
    fresh = [atom for atom in held if atom.recorded_at and atom.recorded_at >= began]
    for atom in reversed(fresh):
        memory.review.confirm(atom.id, "kept on import")
    return len(fresh)


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
        ("turns and pieces", brought.turns),
        ("facts of another memory", brought.facts),
        ("statements", brought.statements),
        ("known already", brought.duplicates),
        ("secrets taken out", brought.secrets),
        *((f"skipped: {reason}", number) for reason, number in brought.skipped),
        ("could not be read", brought.problem_count),
    ]
    blocks: list[Block] = [
        Line(f"{brought.source}: {'what would come in' if session.dry_run else 'imported'}", "bold"),
        Facts(tuple((name, f"{number:,}") for name, number in counts if number), indent=2),
    ]
    blocks += [Line(f"  {problem.path}: {problem.reason}", "yellow") for problem in brought.problems[:LISTED]]
    if brought.problem_count > LISTED:
        blocks.append(Line(f"  and {brought.problem_count - LISTED} more; --json lists them", "yellow"))
    return blocks


def _listed(session: Session, brought: Imported, learnt: list[tuple[Atom, tuple[str, str]]], kept: int) -> list[Block]:
    """What was learnt, for who cannot be asked, and how to decide later."""
    if not learnt:
        return [Line(DRY, "yellow")] if session.dry_run else []
    title = "things I would know then" if session.dry_run else "things I now know"
    blocks: list[Block] = [Line(), Line(title if kept else f"{title}, once you say so", "bold")]
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
    told: list[Block] = [Line(f"  {short(atom.id)}  {atom.kind}: {brief(words_of(atom), 160)}", "bold")]
    return [*told, Line(f"    “{brief(quote, 160)}”  {place}", "dim")]


def _can_ask(session: Session) -> bool:
    return not (session.dry_run or session.output.as_json) and sys.stdin.isatty() and sys.stdout.isatty()


def _ask(
    session: Session, memory: Memory, brought: Imported, learnt: list[tuple[Atom, tuple[str, str]]]
) -> list[Block]:
    """Show one statement after the other and do what the key says."""
    from lamina.cli.keys import QUIT, single_keys

    kept = dropped = 0
    whole: set[str | None] = set()
    with single_keys("kdsaq") as pressed:
        session.output.blocks([Line(), Line(f"things I now know ({KEYS})", "bold")])
        for n, (atom, (place, quote)) in enumerate(learnt, 1):
            key = "k"
            if atom.source_id not in whole:
                session.output.blocks([Line(f"{n} of {len(learnt)}", "dim"), *_statement(atom, place, quote)])
                key = pressed()
            if key == QUIT:
                break
            if key == "a":
                whole.add(atom.source_id)
            if key in "ka":
                memory.review.confirm(atom.id, "kept on import")
                kept += 1
            elif key == "d":
                memory.review.reject(atom.id, "dropped on import")
                dropped += 1
    left = brought.held - kept - dropped
    told: list[Block] = [Line(f"kept {kept}, dropped {dropped}, left for later {left}", "green")]
    return [*told, Line(f"later: {session.shell('review', 'list')}", "green")] if left else told
