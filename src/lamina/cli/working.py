"""`lamina run` and `lamina block`: the notes of a run and of a workstream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import AsJson, Scope, Shared, Vault, command
from lamina.cli.output import Block, Grid, Line, View, brief
from lamina.cli.receipts import ending_blocks, receipt_view, told_atom
from lamina.cli.session import Session
from lamina.cli.told import atom_data, short, when, words_of
from lamina.cli.words import words_from
from lamina.cli.write import Origin, Private, Tags

if TYPE_CHECKING:
    from lamina.atom.atom import Atom
    from lamina.memory import Memory

PANEL = "Write"

run = typer.Typer(
    name="run",
    no_args_is_help=True,
    epilog='Example: lamina run note task-7 "Port 8080 is taken."  ·  lamina run show task-7  ·  '
    'lamina run close task-7 success "Deployed on 9090." --workflow deploy',
)
block = typer.Typer(
    name="block",
    no_args_is_help=True,
    epilog='Example: lamina block add release-2 planner "Freeze on Friday."  ·  lamina block show release-2',
)

RunId = Annotated[str, typer.Argument(metavar="RUN", help="The name of the run.", show_default=False)]
Workstream = Annotated[
    str, typer.Argument(metavar="WORKSTREAM", help="The name of the workstream.", show_default=False)
]
Text = Annotated[str, typer.Argument(metavar="TEXT", help="The note, or - for stdin.", show_default=False)]


@run.callback()
def of_a_run(ctx: typer.Context, vault: Vault = None, scope: Scope = None, json: AsJson = False) -> None:
    """Keep the notes of one run separate from other memory; closing it writes one event with its outcome."""
    ctx.obj = Shared(vault, scope, json).over(ctx.obj or Shared())


@block.callback()
def of_a_workstream(ctx: typer.Context, vault: Vault = None, scope: Scope = None, json: AsJson = False) -> None:
    """Keep short notes of a workstream, by role, in one file; beyond fifteen the oldest are merged."""
    ctx.obj = Shared(vault, scope, json).over(ctx.obj or Shared())


@command(run, "note", panel=PANEL, changes=True, may_make=True, example='lamina run note task-7 "Port 8080 is taken."')
def note(
    session: Session,
    run_id: RunId,
    text: Text,
    kind: Annotated[str, typer.Option(help="interaction, decision, question, …")] = "interaction",
    phase: Annotated[str | None, typer.Option(help="The phase of the run.")] = None,
    tags: Tags = None,
    origin: Origin = None,
    private: Private = False,
) -> View:
    """Add a note to a run; recall outside the run does not find it."""
    with session.changing() as memory:
        atom = memory.run(run_id, private=private).note(
            _words(text), kind=kind, phase=phase, tags=tags or (), origin=origin
        )
        return _noted(session, memory, atom, f"a note of run {run_id}")


@command(
    run,
    "close",
    panel=PANEL,
    changes=True,
    may_make=True,
    example='lamina run close task-7 success "Deployed on 9090; 8080 was taken." --workflow deploy',
)
def close(
    session: Session,
    run_id: RunId,
    outcome: Annotated[
        str, typer.Argument(help="success, failure, abandoned, scan, promotion or rollback.", show_default=False)
    ],
    summary: Annotated[str, typer.Argument(help="The result, or - for stdin.", show_default=False)],
    workflow: Annotated[
        str | None, typer.Option(help="A fixed name of the workflow; successful runs become a procedure.")
    ] = None,
    private: Private = False,
) -> View:
    """Close a run: its notes are archived and one event records the outcome. Undo reopens the run."""
    with session.changing() as memory:
        receipt = memory.run(run_id, private=private).close(outcome, _words(summary), workflow)
        return receipt_view(session, memory, receipt)


@command(run, "show", panel=PANEL, example='lamina run show task-7  ·  lamina run show task-7 --ask "which port?"')
def show_run(
    session: Session,
    run_id: RunId,
    ask: Annotated[str | None, typer.Option(help="Sort the notes by how well they answer this question.")] = None,
    k: Annotated[int, typer.Option("-k", help="How many notes at most.", min=1)] = 5,
    private: Private = False,
) -> View:
    """Show the notes of an open run, or the outcome of a closed one."""
    memory = session.memory
    run_memory = memory.run(run_id, private=private)
    event, notes = run_memory.event, run_memory.notes() if ask is None else run_memory.recall(ask, k)
    data = {
        "run": run_memory.id,
        "outcome": event.metadata.get("outcome") if event else None,
        "event": _data(memory, event) if event else None,
        "notes": [_data(memory, atom) for atom in notes],
    }
    if event is not None:
        return View(data, (Line(f"closed: {event.content}", "bold"),))
    rows = tuple((when(atom.recorded_at), short(atom.id), brief(words_of(atom))) for atom in notes)
    return View(data, (Grid(("when (UTC)", "id", "note"), rows) if rows else Line("no notes yet"),))


@command(
    block,
    "add",
    panel=PANEL,
    changes=True,
    may_make=True,
    example='lamina block add release-2 planner "Freeze on Friday."',
)
def add(
    session: Session,
    workstream: Workstream,
    role: Annotated[str, typer.Argument(help="The role that adds it: planner, tester, …", show_default=False)],
    text: Text,
    private: Private = False,
) -> View:
    """Add a note of a role to a workstream's block."""
    with session.changing() as memory:
        atom = memory.block(workstream, private=private).add(role, _words(text))
        return _noted(session, memory, atom, f"noted in {workstream}")


@command(block, "show", panel=PANEL, example="lamina block show release-2 --budget 300")
def show_block(
    session: Session,
    workstream: Workstream,
    budget: Annotated[int | None, typer.Option(help="Maximum tokens; the newest notes are kept.", min=0)] = None,
    private: Private = False,
) -> View:
    """Show a workstream's notes as an agent gets them, oldest first."""
    block_memory = session.memory.block(workstream, private=private)
    text = block_memory.text(budget)
    data = {
        "workstream": block_memory.workstream,
        "entries": [{"role": entry.role, "text": entry.text} for entry in block_memory.entries],
        "text": text,
    }
    blocks: tuple[Block, ...] = tuple(Line(line) for line in text.split("\n")) if text else (Line("no notes"),)
    return View(data, blocks)


def _noted(session: Session, memory: Memory, atom: Atom, reason: str) -> View:
    path = memory.path_of(atom.id)
    commit = memory.history(atom.id).versions[-1].commit
    undoable = None if session.dry_run else commit
    data = {
        "dry_run": session.dry_run,
        "commit": undoable,
        "undo": session.shell("undo", undoable) if undoable else None,
        "atom": atom_data(atom, path),
    }
    return View(data, (*told_atom("noted", atom, path, reason), *ending_blocks(session, commit)))


def _words(text: str) -> str:
    return words_from("-")[0] if text == "-" else text


def _data(memory: Memory, atom: Atom) -> object:
    return atom_data(atom, memory.path_of(atom.id))
