"""`lamina run` and `lamina block`: the notes of a run and of a workstream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import command, command_group
from lamina.cli.command_options import OriginOption, PrivateOption, TagsOption
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, OutputBlock, TextGrid, TextLine, shorten
from lamina.cli.receipts import render_atom, render_receipt
from lamina.cli.record_views import format_minute, one_line_text, short_id
from lamina.cli.text_input import read_text_argument

if TYPE_CHECKING:
    pass

PANEL = "Write"

run = command_group(
    "run",
    panel=PANEL,
    help="Keep the notes of one run separate from other memory; closing it writes one event with its outcome.",
    example='lamina run note task-7 "Port 8080 is taken."  ·  lamina run show task-7  ·  '
    'lamina run close task-7 success "Deployed on 9090." --workflow deploy',
)
block = command_group(
    "block",
    panel=PANEL,
    help="Keep short notes of a workstream, by role, in one file; beyond fifteen the oldest are merged.",
    example='lamina block add release-2 planner "Freeze on Friday."  ·  lamina block show release-2',
)

RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="The name of the run.", show_default=False)]
WorkstreamArgument = Annotated[
    str, typer.Argument(metavar="WORKSTREAM", help="The name of the workstream.", show_default=False)
]
TextArgument = Annotated[str, typer.Argument(metavar="TEXT", help="The note, or - for stdin.", show_default=False)]


@command(run, "note", has_dry_run=True, may_create=True, example='lamina run note task-7 "Port 8080 is taken."')
def note(
    session: CommandSession,
    run_id: RunArgument,
    text: TextArgument,
    kind: Annotated[str, typer.Option(help="interaction, decision, question, …")] = "interaction",
    phase: Annotated[str | None, typer.Option(help="The phase of the run.")] = None,
    tags: TagsOption = None,
    origin: OriginOption = None,
    private: PrivateOption = False,
) -> CommandResult:
    """Add a note to a run; recall outside the run does not find it."""
    with session.open_for_change() as memory:
        atom = memory.run(run_id, private=private).note(
            _resolve_text(text), kind=kind, phase=phase, tags=tags or (), origin=origin
        )
        return render_atom(session, memory, atom, "noted", f"a note of run {run_id}")


@command(
    run,
    "close",
    has_dry_run=True,
    may_create=True,
    example='lamina run close task-7 success "Deployed on 9090; 8080 was taken." --workflow deploy',
)
def close(
    session: CommandSession,
    run_id: RunArgument,
    outcome: Annotated[
        str, typer.Argument(help="success, failure, abandoned, scan, promotion or rollback.", show_default=False)
    ],
    summary: Annotated[str, typer.Argument(help="The result, or - for stdin.", show_default=False)],
    workflow: Annotated[
        str | None, typer.Option(help="A fixed name of the workflow; successful runs become a procedure.")
    ] = None,
    private: PrivateOption = False,
) -> CommandResult:
    """Close a run: its notes are archived and one event records the outcome. Undo reopens the run."""
    with session.open_for_change() as memory:
        receipt = memory.run(run_id, private=private).close(outcome, _resolve_text(summary), workflow)
        return render_receipt(session, memory, receipt)


@command(run, "show", example='lamina run show task-7  ·  lamina run show task-7 --ask "which port?"')
def show_run(
    session: CommandSession,
    run_id: RunArgument,
    ask: Annotated[str | None, typer.Option(help="Sort the notes by how well they answer this question.")] = None,
    k: Annotated[int, typer.Option("-k", help="How many notes at most.", min=1)] = 5,
    private: PrivateOption = False,
) -> CommandResult:
    """Show the notes of an open run, or the outcome of a closed one."""
    memory = session.memory
    run_memory = memory.run(run_id, private=private)
    event, notes = run_memory.event, run_memory.notes() if ask is None else run_memory.recall(ask, k)
    from lamina.documents.working_memory import run_document

    data = run_document(memory, run_memory, event, notes).data()
    if event is not None:
        return CommandResult(data, (TextLine(f"closed: {event.content}", "bold"),))
    rows = tuple((format_minute(atom.recorded_at), short_id(atom.id), shorten(one_line_text(atom))) for atom in notes)
    return CommandResult(data, (TextGrid(("when (UTC)", "id", "note"), rows) if rows else TextLine("no notes yet"),))


@command(
    block, "add", has_dry_run=True, may_create=True, example='lamina block add release-2 planner "Freeze on Friday."'
)
def add(
    session: CommandSession,
    workstream: WorkstreamArgument,
    role: Annotated[str, typer.Argument(help="The role that adds it: planner, tester, …", show_default=False)],
    text: TextArgument,
    private: PrivateOption = False,
) -> CommandResult:
    """Add a note of a role to a workstream's block."""
    with session.open_for_change() as memory:
        atom = memory.block(workstream, private=private).add(role, _resolve_text(text))
        return render_atom(session, memory, atom, "noted", f"noted in {workstream}")


@command(block, "show", example="lamina block show release-2 --budget 300")
def show_block(
    session: CommandSession,
    workstream: WorkstreamArgument,
    budget: Annotated[int | None, typer.Option(help="Maximum tokens; the newest notes are kept.", min=0)] = None,
    private: PrivateOption = False,
) -> CommandResult:
    """Show a workstream's notes as an agent gets them, oldest first."""
    block_memory = session.memory.block(workstream, private=private)
    text = block_memory.text(budget)
    from lamina.documents.working_memory import BlockDocument

    data = BlockDocument.of(block_memory, text=text).data()
    blocks: tuple[OutputBlock, ...] = (
        tuple(TextLine(line) for line in text.split("\n")) if text else (TextLine("no notes"),)
    )
    return CommandResult(data, blocks)


def _resolve_text(text: str) -> str:
    return read_text_argument("-")[0] if text == "-" else text
