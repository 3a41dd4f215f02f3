"""The commands that maintain a vault."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import command
from lamina.cli.command_options import LayersOption, StatusesOption
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, FieldList, OutputBlock, TextGrid, TextLine
from lamina.cli.progress import ProgressBar
from lamina.cli.receipts import DRY_RUN_NOTE

if TYPE_CHECKING:
    from lamina.engine.backups import BackupReport
    from lamina.review import Diagnosis
    from lamina.sync import SyncReport

app = typer.Typer(rich_help_panel="Upkeep")


@command(app, "sync", has_dry_run=True, example="lamina sync --accept-deletions")
def sync(
    session: CommandSession,
    accept_deletions: Annotated[
        bool, typer.Option("--accept-deletions", help="Also forget atoms whose files were deleted in large numbers.")
    ] = False,
) -> CommandResult:
    """Read every file and commit the edits in it. Every command does this first, without --accept-deletions."""
    memory = session.memory
    report = memory.upkeep.opening_report
    if accept_deletions and not session.dry_run:
        with ProgressBar() as bar:
            accepted = memory.upkeep.sync(accept_deletions=True, progress=bar)
        report.deleted += accepted.deleted
        report.held = accepted.held
        report.written += accepted.written
    session.embed_pending()
    blocks: list[OutputBlock] = (
        [report_fields(report)] if report.has_changes or report.written else [TextLine("nothing to do")]
    )
    if session.dry_run:
        dry_run_note = (
            "with --accept-deletions the atoms of the held files above would be forgotten"
            if report.held
            else DRY_RUN_NOTE
        )
        blocks.append(TextLine(dry_run_note, "yellow"))
    return CommandResult({**asdict(report), "dry_run": session.dry_run}, tuple(blocks))


@command(app, "rebuild", example="lamina rebuild")
def rebuild(session: CommandSession) -> CommandResult:
    """Rebuild the index from the journal; nothing is lost."""
    memory = session.memory
    with _show_spinner("rebuilding the index"):
        atoms = memory.upkeep.rebuild()
    session.embed_pending()
    return CommandResult({"atoms": atoms}, (TextLine(f"the index contains {atoms} atoms"),))


@command(app, "reread", has_dry_run=True, example="lamina reread --apply")
def reread(
    session: CommandSession,
    apply: Annotated[bool, typer.Option("--apply", help="Change the statements, in one commit.")] = False,
) -> CommandResult:
    """Replace statements that were written by rules of earlier versions with their sentences; needs --apply.

    Statements that a person edited and all captured words stay unchanged.
    """
    result = session.memory.upkeep.reread(apply=apply and not session.dry_run)
    rows = [("original words", atom) for atom in result.revised] + [("dropped", atom) for atom in result.dropped]
    grid = TextGrid(("what", "id", "content"), tuple((what, atom.id, atom.content) for what, atom in rows))
    summary = f"{len(result.revised)} statements in their original words, {len(result.dropped)} dropped"
    commit = result.receipt.commit if result.receipt else None
    hint = f"; `lamina undo {commit}` reverts it" if commit else "; nothing is changed yet, use --apply"
    data = {
        "revised": [{"id": atom.id, "content": atom.content} for atom in result.revised],
        "dropped": [{"id": atom.id, "content": atom.content} for atom in result.dropped],
        "commit": commit,
    }
    return CommandResult(data, ((grid,) if rows else ()) + (TextLine(summary + (hint if rows else "")),))


@command(app, "jobs", example="lamina jobs --now")
def jobs(
    session: CommandSession,
    now: Annotated[
        bool, typer.Option("--now", help="First finish the pending work: extract statements, compute vectors.")
    ] = False,
) -> CommandResult:
    """Show background jobs with their holder, progress and errors."""
    if now:
        with _show_spinner("extracting statements"):
            session.memory.read_waiting()
        session.embed_pending()
    job_list, waiting = session.memory.upkeep.jobs(), session.memory.waiting()
    rows = tuple((job.name, job.holder or "none", f"{job.done} of {job.total}", job.error) for job in job_list)
    table = TextGrid(("job", "holder", "done", "error"), rows)
    queue_note = TextLine(f"{waiting} passages are queued for extraction") if waiting else None
    blocks = (table if rows else TextLine("there are no background jobs"), *([queue_note] if queue_note else []))
    return CommandResult({"jobs": [asdict(job) for job in job_list], "waiting": waiting}, blocks)


@command(app, "doctor", example="lamina doctor --deep")
def doctor(
    session: CommandSession,
    deep: Annotated[
        bool, typer.Option("--deep", help="Also verify the journal's hash chain and compare the index.")
    ] = False,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="First repair a damaged journal or marker; no other process may use the vault."),
    ] = False,
) -> CommandResult:
    """Check the vault and say how to fix problems; the exit code is 1 if there are any."""
    from lamina.clock import SystemClock
    from lamina.engine.backups import repair_vault

    repaired: list[str] = []
    if repair:
        with _show_spinner("repairing the vault"):
            repaired = repair_vault(session.choice.require_folder(), SystemClock())
    with _show_spinner("checking the vault"):
        if repair and not repaired:
            session.memory.engine.store.admin.problems.clear(".", ["repaired"])
        diagnosis = session.memory.upkeep.doctor(deep=deep)
    data = {"healthy": diagnosis.healthy, **asdict(diagnosis), "repaired": repaired}
    lines = tuple(TextLine(line, "yellow") for line in repaired)
    return CommandResult(data, lines + tuple(_diagnosis_blocks(diagnosis)), 0 if diagnosis.healthy else 1)


@command(app, "backup", example="lamina backup /mnt/disk/memory-2026-11-19")
def backup(
    session: CommandSession, path: Annotated[Path, typer.Argument(help="A new folder outside of the vault.")]
) -> CommandResult:
    """Write a consistent copy of the vault while others write; `lamina restore` reads it back."""
    with _show_spinner("writing the backup"):
        report = session.memory.upkeep.backup(path)
    return CommandResult(asdict(report), (FieldList(_backup_fields(report)),))


@command(app, "restore", example="lamina restore /mnt/disk/memory-2026-11-19 --to ~/lamina")
def restore(
    session: CommandSession,
    source: Annotated[Path, typer.Argument(help="A folder that `lamina backup` wrote.")],
    to: Annotated[
        Path | None, typer.Option("--to", metavar="PATH", help="The vault to restore; default: the chosen vault.")
    ] = None,
) -> CommandResult:
    """Restore a backup and check it: hash chain, counts and the hash of every file. Stop other processes first.

    A vault at that place is moved aside, not deleted.
    """
    from lamina.engine.backups import restore_backup

    target = (to or session.choice.folder).expanduser().absolute()
    with _show_spinner("restoring the backup"):
        report, old = restore_backup(source.expanduser().absolute(), target)
    notes = (TextLine(f"the vault that was there is now {old}", "yellow"),) if old else ()
    data = {**asdict(report), "path": str(target), "replaced": str(old) if old else None}
    return CommandResult(
        data, (TextLine(f"restored to {target} and checked"), FieldList(_backup_fields(report)), *notes)
    )


@command(app, "stats", example="lamina stats --json  ·  lamina stats --plot memory.svg")
def stats(
    session: CommandSession,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Also draw retention and counts into an .svg or .png file."),
    ] = None,
    topics: Annotated[bool, typer.Option("--topics", help="Also count topics.")] = False,
) -> CommandResult:
    """Show counts and sizes."""
    counts = session.memory.upkeep.stats()
    if topics:
        counts["topics"] = {topic.name: topic.count for topic in session.memory.topics()}
    if plot is not None:
        session.memory.upkeep.plot(plot)
        counts["plot"] = str(plot)
    groups = {name: value for name, value in counts.items() if isinstance(value, dict)}
    blocks: list[OutputBlock] = [
        FieldList(tuple((name, str(value)) for name, value in counts.items() if name not in groups)),
        FieldList(tuple((name, _format_counts(value)) for name, value in groups.items())),
    ]
    return CommandResult(counts, tuple(blocks))


@command(app, "export", has_dry_run=True, example="lamina export backup.json  ·  lamina export notes --format okf")
def export(
    session: CommandSession,
    path: Annotated[
        Path | None, typer.Argument(help="A new file or folder. Default: in .lamina/exports/.", show_default=False)
    ] = None,
    format: Annotated[str, typer.Option(help="json, markdown, okf (a bundle for other programs) or csv.")] = "json",
    history: Annotated[bool, typer.Option(help="Include earlier versions (JSON only).")] = True,
    layer: LayersOption = None,
    status: StatusesOption = None,
) -> CommandResult:
    """Export everything to a file or folder that other programs can read; `lamina import` reads it back."""
    memory = session.memory
    if session.dry_run:
        counts = (len(memory.list(status=status, layer=layer, kind=kind, limit=None)) for kind in (None, "box"))
        count = sum(counts)
        data = {"path": str(path) if path else None, "format": format, "dry_run": True, "atoms": count}
        return CommandResult(
            data,
            (
                TextLine(f"{count} atoms would be written to {path or '.lamina/exports/'}"),
                TextLine(DRY_RUN_NOTE, "yellow"),
            ),
        )
    with _show_spinner("writing the export"):
        place = memory.export(path, format=format, history=history, layer=layer, status=status)
    return CommandResult({"path": str(place), "format": format, "dry_run": False}, (TextLine(f"written to {place}"),))


def _backup_fields(report: BackupReport) -> tuple[tuple[str, str], ...]:
    return tuple((name, str(value)) for name, value in asdict(report).items() if name != "path")


@contextmanager
def _show_spinner(text: str) -> Iterator[None]:
    """Show a spinner on the terminal during work of unknown length."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(text):
        yield


def _format_counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def report_fields(report: SyncReport) -> FieldList:
    """Return a sync report as fields, with the first few paths of each."""
    pairs = [
        (name, str(len(value)), value) for name, value in asdict(report).items() if isinstance(value, list) and value
    ]
    fields = [
        (name, count + ": " + ", ".join(paths[:3]) + (" …" if len(paths) > 3 else "")) for name, count, paths in pairs
    ]
    return FieldList((*fields, *((("written", str(report.written)),) if report.written else ())))


def _diagnosis_blocks(diagnosis: Diagnosis) -> Iterator[OutputBlock]:
    if diagnosis.healthy:
        yield TextLine("no problems found", "green")
    if diagnosis.problems:
        yield TextLine("problems you can fix:", "bold")
        rows = tuple(
            (problem.kind, f"{problem.path}:{problem.line}" if problem.line else problem.path, problem.message)
            for problem in diagnosis.problems
        )
        yield TextGrid(("kind", "where", "what to do"), rows)
    for fault in diagnosis.faults:
        yield TextLine(f"fault: {fault}", "red")
    for note in diagnosis.notes:
        yield TextLine(f"note: {note}", "dim")
