"""The commands that look after a vault."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import command
from lamina.cli.output import Block, Facts, Grid, Json, Line, View
from lamina.cli.progress import Bar
from lamina.cli.receipts import DRY
from lamina.cli.session import Session
from lamina.text.times import format_time

if TYPE_CHECKING:
    from lamina.review import Diagnosis
    from lamina.sync import SyncReport

app = typer.Typer()
PANEL = "Upkeep"


@command(app, "sync", panel=PANEL, changes=True, example="lamina sync --accept-deletions")
def sync(
    session: Session,
    accept_deletions: Annotated[
        bool, typer.Option("--accept-deletions", help="Files that went missing in great number are to be forgotten.")
    ] = False,
) -> View:
    """Look at every file and take in what people did; every command does so first, without --accept-deletions."""
    memory = session.memory
    report = memory.opened
    if accept_deletions and not session.dry_run:
        with Bar() as bar:
            accepted = memory.sync(accept_deletions=True, progress=bar)
        report.deleted += accepted.deleted
        report.held = accepted.held
        report.written += accepted.written
    session.encode()
    blocks: list[Block] = [report_facts(report)] if report.anything or report.written else [Line("nothing to do")]
    if session.dry_run:
        told = "with --accept-deletions the files held above would be forgotten" if report.held else DRY
        blocks.append(Line(told, "yellow"))
    return View({**report_data(report), "dry_run": session.dry_run}, tuple(blocks))


@command(app, "rebuild", panel=PANEL, example="lamina rebuild")
def rebuild(session: Session) -> View:
    """Make the index anew from the journal; nothing is lost by it."""
    memory = session.memory
    with _busy("making the index anew"):
        atoms = memory.rebuild()
    session.encode()
    return View({"atoms": atoms}, (Line(f"the index holds {atoms} atoms"),))


@command(app, "reread", panel=PANEL, changes=True, example="lamina reread --apply")
def reread(
    session: Session,
    apply: Annotated[bool, typer.Option("--apply", help="Change the statements, in one commit.")] = False,
) -> View:
    """Replace statements that former versions' rules made by the sentences they were made of; --apply does it.

    Statements that a person touched stay as they are, and so do all words.
    """
    done = session.memory.reread(apply=apply and not session.dry_run)
    rows = [("as it was said", atom) for atom in done.revised] + [("dropped", each) for each in done.dropped]
    grid = Grid(("what", "id", "content"), tuple((what, each.id, each.content) for what, each in rows))
    told = f"{len(done.revised)} statements as they were said, {len(done.dropped)} dropped"
    commit = done.receipt.commit if done.receipt else None
    hint = f"; `lamina undo {commit}` reverts it" if commit else "; nothing is changed yet, --apply does it"
    data = {
        "revised": [{"id": atom.id, "content": atom.content} for atom in done.revised],
        "dropped": [{"id": each.id, "content": each.content} for each in done.dropped],
        "commit": commit,
    }
    return View(data, ((grid,) if rows else ()) + (Line(told + (hint if rows else "")),))


@command(app, "jobs", panel=PANEL, example="lamina jobs --now")
def jobs(
    session: Session,
    now: Annotated[bool, typer.Option("--now", help="First do whatever waits: read captured words, encode.")] = False,
) -> View:
    """Show background work: who is at it, how far it is, and how it ended."""
    if now:
        with _busy("reading what waits"):
            session.memory.read_waiting()
        session.encode()
    found, waiting = session.memory.jobs(), session.memory.waiting()
    data = [
        {
            "name": each.name,
            "holder": each.holder,
            "done": each.done,
            "total": each.total,
            "error": each.error,
            "until": format_time(each.until) if each.until else None,
            "started_at": format_time(each.started_at) if each.started_at else None,
            "finished_at": format_time(each.finished_at) if each.finished_at else None,
        }
        for each in found
    ]
    rows = tuple((each.name, each.holder or "nobody", f"{each.done} of {each.total}", each.error) for each in found)
    table = Grid(("work", "at it", "done", "what went wrong"), rows)
    told = Line(f"{waiting} passages wait to be read for statements") if waiting else None
    blocks = (table if rows else Line("there has been no background work"), *([told] if told else []))
    return View({"jobs": data, "waiting": waiting}, blocks)


@command(app, "doctor", panel=PANEL, example="lamina doctor --deep")
def doctor(
    session: Session,
    deep: Annotated[
        bool, typer.Option("--deep", help="Also verify the journal's hash chain and compare the index.")
    ] = False,
) -> View:
    """Tell what is wrong and how to mend it; exits with 1 where something is."""
    with _busy("looking for what is wrong"):
        found = session.memory.doctor(deep=deep)
    return View(_diagnosis_data(found), tuple(_diagnosis_blocks(found)), 0 if found.healthy else 1)


@command(app, "stats", panel=PANEL, example="lamina stats --json  ·  lamina stats --plot memory.svg")
def stats(
    session: Session,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Also draw how memories fade and how many there are: .svg, .png."),
    ] = None,
    topics: Annotated[bool, typer.Option("--topics", help="Also count what is spoken of.")] = False,
) -> View:
    """Count what is there."""
    found = session.memory.stats()
    if topics:
        found["topics"] = {topic.name: topic.count for topic in session.memory.topics()}
    if plot is not None:
        session.memory.plot(plot)
        found["plot"] = str(plot)
    groups = {name: value for name, value in found.items() if isinstance(value, dict)}
    blocks: list[Block] = [
        Facts(tuple((name, str(value)) for name, value in found.items() if name not in groups)),
        Facts(tuple((name, _counts(value)) for name, value in groups.items())),
    ]
    return View(found, tuple(blocks))


@command(
    app, "export", panel=PANEL, changes=True, example="lamina export backup.json  ·  lamina export notes --format okf"
)
def export(
    session: Session,
    path: Annotated[
        Path | None, typer.Argument(help="A new file or folder; default .lamina/exports/.", show_default=False)
    ] = None,
    format: Annotated[str, typer.Option(help="json, markdown, okf (a bundle for other programs) or csv.")] = "json",
    history: Annotated[bool, typer.Option(help="Earlier versions, too (JSON only).")] = True,
) -> View:
    """Write everything to a file or a folder that needs no lamina to read; `lamina import` brings it in again."""
    memory = session.memory
    if session.dry_run:
        count = len(memory.list(status=None, limit=None))
        data = {"path": str(path) if path else None, "format": format, "dry_run": True, "atoms": count}
        return View(
            data, (Line(f"{count} atoms would be written to {path or '.lamina/exports/'}"), Line(DRY, "yellow"))
        )
    with _busy("writing the export"):
        place = memory.export(path, format=format, history=history)
    return View({"path": str(place), "format": format, "dry_run": False}, (Line(f"written to {place}"),))


@contextmanager
def _busy(text: str) -> Iterator[None]:
    """Something turns on the terminal while work of unknown length goes on."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(text):
        yield


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def report_data(report: SyncReport) -> Json:
    """What a look at the files brought."""
    return asdict(report)


def report_facts(report: SyncReport) -> Facts:
    """The same for people, with the first few paths of each."""
    pairs = [
        (name, str(len(value)), value) for name, value in asdict(report).items() if isinstance(value, list) and value
    ]
    told = [
        (name, count + ": " + ", ".join(paths[:3]) + (" …" if len(paths) > 3 else "")) for name, count, paths in pairs
    ]
    return Facts((*told, *((("written", str(report.written)),) if report.written else ())))


def _diagnosis_data(found: Diagnosis) -> Json:
    problems = [
        {
            "kind": problem.kind,
            "path": problem.path,
            "line": problem.line,
            "message": problem.message,
            "atom_id": problem.atom_id,
            "at": format_time(problem.at) if problem.at else None,
        }
        for problem in found.problems
    ]
    return {"healthy": found.healthy, "problems": problems, "faults": list(found.faults), "notes": list(found.notes)}


def _diagnosis_blocks(found: Diagnosis) -> Iterator[Block]:
    if found.healthy:
        yield Line("all is well", "green")
    if found.problems:
        yield Line("problems a person can mend:", "bold")
        rows = tuple(
            (problem.kind, f"{problem.path}:{problem.line}" if problem.line else problem.path, problem.message)
            for problem in found.problems
        )
        yield Grid(("kind", "where", "what to do"), rows)
    for fault in found.faults:
        yield Line(f"fault: {fault}", "red")
    for note in found.notes:
        yield Line(f"note: {note}", "dim")
