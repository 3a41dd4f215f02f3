"""`lamina import`: imports data of other programs, and lets the user confirm its statements interactively."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import command
from lamina.cli.command_options import PrivateOption
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, FieldList, Json, OutputBlock, TextLine, shorten
from lamina.cli.receipts import DRY_RUN_NOTE
from lamina.cli.record_views import atom_data, format_day, one_line_text, short_id

if TYPE_CHECKING:
    from datetime import datetime

    from lamina.atom.atom import Atom
    from lamina.importers.import_writer import ImportReport
    from lamina.memory import Memory

app = typer.Typer(rich_help_panel="Write")
MAX_LISTED = 20
"""Statements that are printed if the user cannot be asked."""
_RESULT_LABELS = {
    "held": "held, pending your review",
    "superseded": "kept as history: it was superseded there",
    "invalidated": "kept out of recall: it was wrong there",
    "taken back": "kept out of recall: it was taken back there",
    "merged": "kept as history: it was merged there",
    "challenged": "disputed: it contradicts a statement",
}
"""What became of imported statements, and why."""
KEY_HELP = "k keep · d drop · s skip · a keep all others of this source · q quit"


@command(
    app,
    "import",
    has_dry_run=True,
    may_create=True,
    example="lamina import ~/Downloads/chatgpt-export.zip --dry-run  ·  lamina import ~/notes",
)
def import_(
    session: CommandSession,
    path: Annotated[
        Path,
        typer.Argument(
            help="An export, a vault, a memory of engram, a folder of notes, or a file.", show_default=False
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Confirm every extracted statement without asking.")] = False,
    private: PrivateOption = False,
) -> CommandResult:
    """Import an export, notes or a file: words are searchable at once, statements stay pending until you decide."""
    with session.open_for_change() as memory:
        started_at = memory.now()
        imported = _run_import(session, memory, path, private)
        learnt = [(outcome.atom, _find_source_turn(memory, outcome.atom)) for outcome in imported.top_held]
        confirmed = _confirm_all(memory, started_at) if yes and not session.dry_run else 0
    session.embed_pending()
    data = _import_data(session, imported, learnt, confirmed)
    blocks = _summary_blocks(session, imported)
    if yes or not _can_ask(session) or not learnt:
        return CommandResult(data, (*blocks, *_statement_list_blocks(session, imported, learnt, confirmed)))
    session.output.print_blocks(blocks)
    return CommandResult(data, tuple(_review_interactively(session, memory, imported, learnt)))


def _run_import(session: CommandSession, memory: Memory, path: Path, private: bool) -> ImportReport:
    from lamina.cli.progress import ProgressBar

    try:
        with ProgressBar() as bar:
            return memory.import_(path, private=private, progress=bar)
    except KeyboardInterrupt:
        session.output.print_note("interrupted; what was imported is safe, and running it again imports the rest")
        raise


def _find_source_turn(memory: Memory, atom: Atom) -> tuple[str, str]:
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
                origin_parts = [passage.speaker, format_day(passage.at or segment.observed_at), _source_name(segment)]
                words = passage.text[evidence.start : evidence.end] or passage.text
                return " · ".join(part for part in origin_parts if part), " ".join(words.split())
    return f"{format_day(atom.observed_at)} · {atom.source_id or 'no source'}", one_line_text(atom)


def _source_name(segment: Atom) -> str:
    title = segment.metadata_text("heading")
    source = segment.source_id or segment.session_id or ""
    return f"{source} “{shorten(title, 60)}”" if title and title not in source else source


def _confirm_all(memory: Memory, started_at: datetime) -> int:
    """Confirm the statements of this import, not those pending before or in the other memory; return their number."""
    pending = (atom for atom in memory.review.held() if not atom.is_segment and not _was_pending(atom))
    new_atoms = [atom for atom in pending if atom.recorded_at and atom.recorded_at >= started_at]
    for atom in reversed(new_atoms):
        memory.review.confirm(atom.id, "kept on import")
    return len(new_atoms)


def _was_pending(atom: Atom) -> bool:
    from lamina.importers.skylattice_export import IMPORTED_STATUS

    return atom.metadata.get(IMPORTED_STATUS) == atom.status


def _import_data(
    session: CommandSession, imported: ImportReport, learnt: list[tuple[Atom, tuple[str, str]]], confirmed: int
) -> Json:
    return {
        "dry_run": session.dry_run,
        "source": imported.source,
        "conversations": imported.conversations,
        "documents": imported.documents,
        "facts": imported.facts,
        "turns": imported.turns,
        "statements": imported.statements,
        "duplicates": imported.duplicates,
        "held": imported.held_count,
        "kept": confirmed,
        "boxes": imported.boxes,
        "links": imported.links,
        "results": dict(imported.results),
        "left_out": dict(imported.left_out),
        "skipped": dict(imported.skipped),
        "problems": [{"path": problem.path, "reason": problem.reason} for problem in imported.problems],
        "problem_count": imported.problem_count,
        "redacted": dict(imported.redacted),
        "learnt": [{**atom_data(atom, None), "said_in": place, "quote": quote} for atom, (place, quote) in learnt],
    }


def _summary_blocks(session: CommandSession, imported: ImportReport) -> list[OutputBlock]:
    counts = [
        ("conversations", imported.conversations),
        ("documents", imported.documents),
        ("turns and passages", imported.turns),
        ("facts of another memory", imported.facts),
        ("boxes", imported.boxes),
        ("links between memories", imported.links),
        ("statements", imported.statements),
        *((f"  {_RESULT_LABELS[result]}", number) for result, number in imported.results if result in _RESULT_LABELS),
        ("duplicates", imported.duplicates),
        ("secrets redacted", imported.secret_count),
        *((f"skipped: {reason}", number) for reason, number in imported.skipped),
        *((f"left out: {name}", number) for name, number in imported.left_out),
        ("could not be read", imported.problem_count),
    ]
    blocks: list[OutputBlock] = [
        TextLine(f"{imported.source}: {'would be imported' if session.dry_run else 'imported'}", "bold"),
        FieldList(tuple((name, f"{number:,}") for name, number in counts if number), indent=2),
    ]
    blocks += [TextLine(f"  {problem.path}: {problem.reason}", "yellow") for problem in imported.problems[:MAX_LISTED]]
    if imported.problem_count > MAX_LISTED:
        blocks.append(TextLine(f"  and {imported.problem_count - MAX_LISTED} more; --json lists them", "yellow"))
    return blocks


def _statement_list_blocks(
    session: CommandSession, imported: ImportReport, learnt: list[tuple[Atom, tuple[str, str]]], confirmed: int
) -> list[OutputBlock]:
    """Return the new statements and the commands that decide about them."""
    if not learnt:
        return [TextLine(DRY_RUN_NOTE, "yellow")] if session.dry_run else []
    title = "statements that would be added" if session.dry_run else "new statements"
    blocks: list[OutputBlock] = [TextLine(), TextLine(title if confirmed else f"{title}, pending your review", "bold")]
    for atom, (place, quote) in learnt[:MAX_LISTED]:
        blocks += _statement_blocks(atom, place, quote)
    if imported.held_count > MAX_LISTED:
        blocks.append(
            TextLine(
                f"  and {imported.held_count - MAX_LISTED:,} more; "
                f"`{session.format_command('review', 'list')}` shows them"
            )
        )
    if session.dry_run:
        return [*blocks, TextLine(DRY_RUN_NOTE, "yellow")]
    if confirmed:
        return [*blocks, TextLine(f"kept: {confirmed:,}", "green")]
    from lamina.importers.import_items import IMPORTED_FROM

    first = learnt[0][0]
    source = first.metadata_text(IMPORTED_FROM).partition(":")[0] or first.source_id or ""
    return [
        *blocks,
        TextLine(f"keep: {session.format_command('review', 'confirm', short_id(first.id))} …", "green"),
        TextLine(f"drop: {session.format_command('review', 'reject', short_id(first.id))} …", "green"),
        TextLine(f"all of one source: {session.format_command('review', 'confirm', '--source', source)}", "green"),
    ]


def _statement_blocks(atom: Atom, place: str, quote: str) -> list[OutputBlock]:
    lines: list[OutputBlock] = [
        TextLine(f"  {short_id(atom.id)}  {atom.kind}: {shorten(one_line_text(atom), 160)}", "bold")
    ]
    return [*lines, TextLine(f"    “{shorten(quote, 160)}”  {place}", "dim")]


def _can_ask(session: CommandSession) -> bool:
    return not (session.dry_run or session.output.as_json) and sys.stdin.isatty() and sys.stdout.isatty()


def _review_interactively(
    session: CommandSession, memory: Memory, imported: ImportReport, learnt: list[tuple[Atom, tuple[str, str]]]
) -> list[OutputBlock]:
    """Show the statements one by one and confirm, reject or skip each by a key."""
    from lamina.cli.key_input import QUIT_KEY, read_single_keys

    kept_count = dropped_count = 0
    whole_sources: set[str | None] = set()
    with read_single_keys("kdsaq") as pressed:
        session.output.print_blocks([TextLine(), TextLine(f"new statements ({KEY_HELP})", "bold")])
        for n, (atom, (place, quote)) in enumerate(learnt, 1):
            key = "k"
            if atom.source_id not in whole_sources:
                session.output.print_blocks(
                    [TextLine(f"{n} of {len(learnt)}", "dim"), *_statement_blocks(atom, place, quote)]
                )
                key = pressed()
            if key == QUIT_KEY:
                break
            if key == "a":
                whole_sources.add(atom.source_id)
            if key in "ka":
                memory.review.confirm(atom.id, "kept on import")
                kept_count += 1
            elif key == "d":
                memory.review.reject(atom.id, "dropped on import")
                dropped_count += 1
    left_count = imported.held_count - kept_count - dropped_count
    blocks: list[OutputBlock] = [
        TextLine(f"kept {kept_count}, dropped {dropped_count}, left for later {left_count}", "green")
    ]
    return [*blocks, TextLine(f"later: {session.format_command('review', 'list')}", "green")] if left_count else blocks
