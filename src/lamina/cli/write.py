"""The commands that change the memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from lamina.atom.atom import is_atom_id
from lamina.cli.command import command
from lamina.cli.command_options import (
    IdArgument,
    NewTextArgument,
    ReasonOption,
    RevisionOptions,
    SourceOptions,
    StatementOptions,
    parse_fields,
)
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, Json
from lamina.cli.receipts import render_change, render_feedback, render_outcome_counts, render_receipt, render_undo
from lamina.cli.text_input import parse_json_turns, read_document_argument, read_text_argument
from lamina.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lamina.atom.atom import Atom, AtomId
    from lamina.capture.pieces import TextPiece
    from lamina.memory import Memory

app = typer.Typer(rich_help_panel="Write")


@command(
    app,
    "capture",
    has_dry_run=True,
    may_create=True,
    example='lamina capture notes.md  ·  lamina capture --session call --speaker Ann "Remember that I fly on Friday."',
)
def capture(
    session: CommandSession,
    words: Annotated[
        str | None, typer.Argument(help="The text, a file, or - for stdin.", metavar="[WORDS|FILE|-]")
    ] = None,
    speaker: Annotated[str | None, typer.Option(help="Who said it.")] = None,
    turns: Annotated[
        bool, typer.Option("--turns", "--jsonl", help="The input is JSON turns {speaker|role, content, at}.")
    ] = False,
    codebase: Annotated[
        Path | None, typer.Option("--codebase", metavar="FOLDER", help="Capture an outline of a source code folder.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="The name of the code base. Default: its folder.")] = None,
    **options: Unpack[SourceOptions],
) -> CommandResult:
    """Store words verbatim and extract statements; statements of a file stay pending until you confirm them."""
    if codebase is not None:
        return _capture_codebase(session, codebase, name, options.get("private", False))
    document = None if turns or speaker else read_document_argument(words)
    text, file = read_text_argument(words) if document is None else ("", document.name)
    captured: str | Sequence[dict[str, Json]] | Sequence[TextPiece] = text if document is None else document.pieces
    if turns:
        captured = parse_json_turns(text)
    elif speaker:
        captured = [{"speaker": speaker, "content": text}]
    # A file is evidence; its statements are pending until a person confirms them.
    about_file = {"source_id": file, "origin": None if turns or speaker else "document"} if file else {}
    with session.open_for_change() as memory:
        receipt = memory.capture(captured, name=file, **{**about_file, **parse_fields(options)})
        view = render_receipt(session, memory, receipt)
    session.embed_pending()
    return view


def _capture_codebase(session: CommandSession, folder: Path, name: str | None, private: bool) -> CommandResult:
    with session.open_for_change() as memory:
        receipt = memory.capture_codebase(folder, name, private=private)
    session.embed_pending()
    return render_outcome_counts(session, receipt)


@command(
    app,
    "remember",
    has_dry_run=True,
    may_create=True,
    example='lamina remember "Prefers light roast." --kind preference --subject coffee',
)
def remember(
    session: CommandSession,
    content: Annotated[str, typer.Argument(help="The statement, or - for stdin.", show_default=False)],
    **options: Unpack[StatementOptions],
) -> CommandResult:
    """Write one statement; an older value of the same claim is superseded, not overwritten."""
    text = read_text_argument("-")[0] if content == "-" else content
    with session.open_for_change() as memory:
        return render_receipt(session, memory, memory.remember(text, **parse_fields(options)))


@command(
    app, "revise", has_dry_run=True, example='lamina revise 8qj1hjz0 "Prefers green tea." --reason "changed her mind"'
)
def revise(
    session: CommandSession,
    id: IdArgument,
    content: NewTextArgument = None,
    reason: ReasonOption = "revised",
    **options: Unpack[RevisionOptions],
) -> CommandResult:
    """Write a new version of an atom; the old one stays in its history."""
    fields = parse_fields(options)
    return _change_atom(
        session, id, reason, lambda memory, atom_id: memory.revise(atom_id, content, reason=reason, **fields)
    )


@command(
    app, "status", has_dry_run=True, example='lamina status 8qj1hjz0 challenged --reason "the invoice says otherwise"'
)
def status(
    session: CommandSession,
    id: IdArgument,
    status: Annotated[str, typer.Argument(help="active, challenged, archived, invalidated, …", show_default=False)],
    reason: Annotated[str, typer.Option("--reason", help="The reason; stored in the journal.", show_default=False)],
) -> CommandResult:
    """Change the status of an atom; an ended atom that becomes active is restored."""
    return _change_atom(session, id, reason, lambda memory, atom_id: memory.update_status(atom_id, status, reason))


@command(app, "forget", has_dry_run=True, example='lamina forget 8qj1hjz0 --reason "no longer true"')
def forget(session: CommandSession, id: IdArgument, reason: ReasonOption = "asked to forget") -> CommandResult:
    """Forget an atom: recall no longer finds it; its text and history are kept."""
    return _change_atom(session, id, reason, lambda memory, atom_id: memory.forget(atom_id, reason))


@command(app, "pin", has_dry_run=True, example="lamina pin 8qj1hjz0")
def pin(session: CommandSession, id: IdArgument) -> CommandResult:
    """Protect an atom from being forgotten, merged or archived by maintenance."""
    return _change_atom(session, id, "pinned", lambda memory, atom_id: memory.pin(atom_id))


@command(app, "unpin", has_dry_run=True, example="lamina unpin 8qj1hjz0")
def unpin(session: CommandSession, id: IdArgument) -> CommandResult:
    """Remove the protection of a pinned atom."""
    return _change_atom(session, id, "unpinned", lambda memory, atom_id: memory.unpin(atom_id))


@command(app, "promote", has_dry_run=True, example="lamina promote 8qj1hjz0")
def promote(session: CommandSession, id: IdArgument) -> CommandResult:
    """Move an atom one layer up: working, episodic, then the layer of its kind, which does not fade."""
    with session.open_for_change() as memory:
        before = memory.get(id)
        after = memory.upkeep.promote(before.id)
        return render_change(session, memory, before, after, f"from {before.layer} to {after.layer}")


@command(app, "demote", has_dry_run=True, example="lamina demote 8qj1hjz0")
def demote(session: CommandSession, id: IdArgument) -> CommandResult:
    """Move an atom one layer down, where it fades unless it is used."""
    with session.open_for_change() as memory:
        before = memory.get(id)
        after = memory.upkeep.demote(before.id)
        return render_change(session, memory, before, after, f"from {before.layer} to {after.layer}")


@command(app, "resolve", has_dry_run=True, example="lamina resolve 8qj1hjz0")
def resolve(
    session: CommandSession,
    id: IdArgument,
    reason: Annotated[str, typer.Option("--reason", help="The result.")] = "done",
) -> CommandResult:
    """Mark a commitment, a goal or a reminder as done; it is archived later."""
    return _change_atom(session, id, reason, lambda memory, atom_id: memory.resolve(atom_id, reason))


@command(app, "relate", has_dry_run=True, example="lamina relate 8qj1hjz0 depends_on 1hjz0z1a")
def relate(
    session: CommandSession,
    id: IdArgument,
    relation: Annotated[str, typer.Argument(help="supports, contradicts, depends_on, part_of, …", show_default=False)],
    other: Annotated[str, typer.Argument(metavar="ID", help="The other atom.", show_default=False)],
    confidence: Annotated[float, typer.Option(help="How strong the link is, 0 to 1.")] = 1.0,
) -> CommandResult:
    """Link one atom to another; an existing link gets the new confidence."""
    with session.open_for_change() as memory:
        before = memory.get(id)
        after = memory.relate(before.id, relation, other, confidence)
        return render_change(session, memory, before, after, f"{relation} {after.relations[-1].target}")


@command(app, "undo", has_dry_run=True, example="lamina undo  ·  lamina undo 01m7gmcnz2sbr5zw6dghygmg6w")
def undo(
    session: CommandSession,
    commit: Annotated[
        str | None,
        typer.Argument(help="The id of a commit, or the end of it. Default: the last commit.", show_default=False),
    ] = None,
    cascade: Annotated[bool, typer.Option("--cascade", help="Also undo later commits that build on it.")] = False,
) -> CommandResult:
    """Undo a commit, by default the last one; every atom it changed is restored."""
    with session.open_for_change() as memory:
        return render_undo(session, memory, memory.undo(commit and _resolve_commit_id(memory, commit), cascade=cascade))


@command(app, "feedback", has_dry_run=True, example="lamina feedback 4f1c2a9be0d35768 --cited 8qj1hjz0")
def feedback(
    session: CommandSession,
    recall_id: Annotated[
        str, typer.Argument(metavar="RECALL_ID", help="The id that `recall` prints last.", show_default=False)
    ],
    cited: Annotated[
        list[str] | None, typer.Option("--cited", help="An atom that the answer used; can be repeated.")
    ] = None,
    verdict: Annotated[
        str, typer.Option(help="up: it helped; down: it did not; wrong: the cited atoms are false.")
    ] = "up",
) -> CommandResult:
    """Rate an answer, once for each recall: cited atoms count as used, and their quality follows the verdict."""
    with session.open_for_change() as memory:
        learnt = memory.feedback(recall_id, cited or [], verdict)
        return render_feedback(session, memory, recall_id, verdict, learnt, has_citations=bool(cited))


def _change_atom(
    session: CommandSession, id: str, reason: str, change: Callable[[Memory, AtomId], Atom]
) -> CommandResult:
    with session.open_for_change() as memory:
        before = memory.get(id)
        return render_change(session, memory, before, change(memory, before.id), reason)


def _resolve_commit_id(memory: Memory, name: str) -> str:
    """Return the id of the commit that ends in a text; NotFound if several do."""
    if is_atom_id(name) or len(name) < 4:
        return name
    matches = [entry.id for entry in memory.journal() if entry.id.endswith(name)]
    if len(matches) > 1:
        raise NotFound(f"{len(matches)} commits end in {name!r}; give more of the id")
    return matches[0] if matches else name
