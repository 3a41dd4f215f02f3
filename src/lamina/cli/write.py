"""The commands that change the memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lamina.atom.identity import is_atom_id
from lamina.cli.command import command
from lamina.cli.output import Json, View
from lamina.cli.receipts import change_view, counted_view, learnt_view, receipt_view, undone_view
from lamina.cli.session import Session
from lamina.cli.words import document_from, moment, turns_from, words_from
from lamina.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lamina.capture.pieces import Piece
    from lamina.memory import Memory

app = typer.Typer()
PANEL = "Write"

Id = Annotated[str, typer.Argument(metavar="ID", help="The id of an atom, or the end of it.", show_default=False)]
Reason = Annotated[str, typer.Option("--reason", help="The reason; stored in the journal.")]
Kind = Annotated[str | None, typer.Option(help="fact, preference, decision, event, … Default: fact.")]
Subject = Annotated[str | None, typer.Option(help="What it is about; with --attribute it fills a claim.")]
Attribute = Annotated[str | None, typer.Option(help="The property of the subject.")]
Value = Annotated[str | None, typer.Option(help="The value of the property.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; can be repeated.")]
Entities = Annotated[list[str] | None, typer.Option("--entity", help="A person or thing it names; can be repeated.")]
ValidFrom = Annotated[str | None, typer.Option(help="True from this time (ISO 8601, UTC).")]
ValidUntil = Annotated[str | None, typer.Option(help="True until this time; a date includes that day.")]
ExpiresAt = Annotated[str | None, typer.Option(help="Not needed after this time.")]
Confidence = Annotated[float | None, typer.Option(help="How sure, 0 to 1.")]
Importance = Annotated[float | None, typer.Option(help="How important, 0 to 1.")]
Durability = Annotated[str | None, typer.Option(help="How fast it fades: core, standard or ephemeral.")]
MemoryType = Annotated[str | None, typer.Option(help="fact, procedure or narrative.")]
Origin = Annotated[str | None, typer.Option(help="Where it comes from: human, agent, document, web, …")]
SessionId = Annotated[str | None, typer.Option("--session", help="The session it belongs to.")]
SourceId = Annotated[str | None, typer.Option("--source", help="The source it came from.")]
At = Annotated[
    str | None, typer.Option("--at", help="When it was said (ISO 8601, UTC unless it has a zone). Default: now.")
]
Key = Annotated[str | None, typer.Option(help="Idempotency key: a second request with the same key changes nothing.")]
Private = Annotated[bool, typer.Option("--private", help="Store it in the agent's private scope.")]


@command(
    app,
    "capture",
    panel=PANEL,
    changes=True,
    may_make=True,
    example='lamina capture notes.md  ·  lamina capture --session call --speaker Ann "Remember that I fly on Friday."',
)
def capture(
    session: Session,
    words: Annotated[
        str | None, typer.Argument(help="The text, a file, or - for stdin.", metavar="[WORDS|FILE|-]")
    ] = None,
    session_id: SessionId = None,
    source_id: SourceId = None,
    at: At = None,
    speaker: Annotated[str | None, typer.Option(help="Who said it.")] = None,
    turns: Annotated[
        bool, typer.Option("--turns", "--jsonl", help="The input is JSON turns {speaker|role, content, at}.")
    ] = False,
    codebase: Annotated[
        Path | None, typer.Option("--codebase", metavar="FOLDER", help="Capture an outline of a source code folder.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="The name of the code base. Default: its folder.")] = None,
    origin: Origin = None,
    private: Private = False,
    key: Key = None,
) -> View:
    """Store words verbatim and extract statements; statements of a file stay pending until you confirm them."""
    if codebase is not None:
        return _codebase(session, codebase, name, private)
    document = None if turns or speaker else document_from(words)
    text, file = words_from(words) if document is None else ("", document.name)
    captured: str | Sequence[dict[str, Json]] | Sequence[Piece] = text if document is None else document.pieces
    if turns:
        captured = turns_from(text)
    elif speaker:
        captured = [{"speaker": speaker, "content": text}]
    elif file:
        # A file is evidence; its statements are pending until a person confirms them.
        origin = origin or "document"
    with session.changing() as memory:
        receipt = memory.capture(
            captured,
            name=file,
            session_id=session_id,
            source_id=source_id or file,
            observed_at=moment(at),
            origin=origin,
            private=private,
            key=key,
        )
        view = receipt_view(session, memory, receipt)
    session.encode()
    return view


def _codebase(session: Session, folder: Path, name: str | None, private: bool) -> View:
    with session.changing() as memory:
        receipt = memory.capture_codebase(folder, name, private=private)
    session.encode()
    return counted_view(session, receipt)


@command(
    app,
    "remember",
    panel=PANEL,
    changes=True,
    may_make=True,
    example='lamina remember "Prefers light roast." --kind preference --subject coffee',
)
def remember(
    session: Session,
    content: Annotated[str, typer.Argument(help="The statement, or - for stdin.", show_default=False)],
    kind: Kind = None,
    subject: Subject = None,
    attribute: Attribute = None,
    value: Value = None,
    tags: Tags = None,
    entities: Entities = None,
    valid_from: ValidFrom = None,
    valid_until: ValidUntil = None,
    expires_at: ExpiresAt = None,
    at: At = None,
    pinned: Annotated[bool, typer.Option("--pinned", help="Never forgotten or merged by maintenance.")] = False,
    confidence: Confidence = None,
    importance: Importance = None,
    durability: Durability = None,
    memory_type: MemoryType = None,
    session_id: SessionId = None,
    source_id: SourceId = None,
    origin: Origin = None,
    reason: Annotated[str | None, typer.Option(help="The reason; stored in the journal.")] = None,
    private: Private = False,
    key: Key = None,
) -> View:
    """Write one statement; an older value of the same claim is superseded, not overwritten."""
    text = words_from("-")[0] if content == "-" else content
    fields = _given(
        kind=kind,
        subject=subject,
        attribute=attribute,
        value=value,
        tags=tags or None,
        entities=entities or None,
        valid_from=moment(valid_from),
        valid_until=moment(valid_until, end=True),
        expires_at=moment(expires_at, end=True),
        observed_at=moment(at),
        pinned=pinned or None,
        confidence=confidence,
        importance=importance,
        durability=durability,
        memory_type=memory_type,
        session_id=session_id,
        source_id=source_id,
        origin=origin,
        reason=reason,
        key=key,
    )
    with session.changing() as memory:
        return receipt_view(session, memory, memory.remember(text, private=private, **fields))


@command(
    app,
    "revise",
    panel=PANEL,
    changes=True,
    example='lamina revise 8qj1hjz0 "Prefers green tea." --reason "changed her mind"',
)
def revise(
    session: Session,
    id: Id,
    content: Annotated[str | None, typer.Argument(help="The new text. Default: unchanged.", show_default=False)] = None,
    reason: Reason = "revised",
    kind: Kind = None,
    subject: Subject = None,
    attribute: Attribute = None,
    value: Value = None,
    tags: Tags = None,
    entities: Entities = None,
    valid_from: ValidFrom = None,
    valid_until: ValidUntil = None,
    expires_at: ExpiresAt = None,
    confidence: Confidence = None,
    importance: Importance = None,
    durability: Durability = None,
    memory_type: MemoryType = None,
) -> View:
    """Write a new version of an atom; the old one stays in its history."""
    fields = _given(
        kind=kind,
        subject=subject,
        attribute=attribute,
        value=value,
        tags=tags or None,
        entities=entities or None,
        valid_from=moment(valid_from),
        valid_until=moment(valid_until, end=True),
        expires_at=moment(expires_at, end=True),
        confidence=confidence,
        importance=importance,
        durability=durability,
        memory_type=memory_type,
    )
    with session.changing() as memory:
        before = memory.get(id)
        return change_view(session, memory, before, memory.revise(before.id, content, reason=reason, **fields), reason)


@command(
    app,
    "status",
    panel=PANEL,
    changes=True,
    example='lamina status 8qj1hjz0 challenged --reason "the invoice says otherwise"',
)
def status(
    session: Session,
    id: Id,
    status: Annotated[str, typer.Argument(help="active, challenged, archived, invalidated, …", show_default=False)],
    reason: Annotated[str, typer.Option("--reason", help="The reason; stored in the journal.", show_default=False)],
) -> View:
    """Change the status of an atom; back from an ended status this is a restore."""
    with session.changing() as memory:
        before = memory.get(id)
        return change_view(session, memory, before, memory.update_status(before.id, status, reason), reason)


@command(app, "forget", panel=PANEL, changes=True, example='lamina forget 8qj1hjz0 --reason "no longer true"')
def forget(session: Session, id: Id, reason: Reason = "asked to forget") -> View:
    """Forget an atom: recall no longer finds it; its text and history are kept."""
    with session.changing() as memory:
        before = memory.get(id)
        return change_view(session, memory, before, memory.forget(before.id, reason), reason)


@command(app, "pin", panel=PANEL, changes=True, example="lamina pin 8qj1hjz0")
def pin(session: Session, id: Id) -> View:
    """Protect an atom from being forgotten, merged or archived by maintenance."""
    with session.changing() as memory:
        before = memory.get(id)
        return change_view(session, memory, before, memory.pin(before.id), "pinned")


@command(app, "unpin", panel=PANEL, changes=True, example="lamina unpin 8qj1hjz0")
def unpin(session: Session, id: Id) -> View:
    """Remove the protection of a pinned atom."""
    with session.changing() as memory:
        before = memory.get(id)
        return change_view(session, memory, before, memory.unpin(before.id), "unpinned")


@command(app, "promote", panel=PANEL, changes=True, example="lamina promote 8qj1hjz0")
def promote(session: Session, id: Id) -> View:
    """Move an atom one layer up: working, episodic, then the layer of its kind, which does not fade."""
    with session.changing() as memory:
        before = memory.get(id)
        after = memory.promote(before.id)
        return change_view(session, memory, before, after, f"from {before.layer} to {after.layer}")


@command(app, "demote", panel=PANEL, changes=True, example="lamina demote 8qj1hjz0")
def demote(session: Session, id: Id) -> View:
    """Move an atom one layer down, where it fades unless it is used."""
    with session.changing() as memory:
        before = memory.get(id)
        after = memory.demote(before.id)
        return change_view(session, memory, before, after, f"from {before.layer} to {after.layer}")


@command(app, "resolve", panel=PANEL, changes=True, example="lamina resolve 8qj1hjz0")
def resolve(
    session: Session, id: Id, reason: Annotated[str, typer.Option("--reason", help="The result.")] = "done"
) -> View:
    """Mark a commitment, a goal or a reminder as done; it is archived later."""
    with session.changing() as memory:
        before = memory.get(id)
        return change_view(session, memory, before, memory.resolve(before.id, reason), reason)


@command(app, "relate", panel=PANEL, changes=True, example="lamina relate 8qj1hjz0 depends_on 1hjz0z1a")
def relate(
    session: Session,
    id: Id,
    relation: Annotated[str, typer.Argument(help="supports, contradicts, depends_on, part_of, …", show_default=False)],
    other: Annotated[str, typer.Argument(metavar="ID", help="The other atom.", show_default=False)],
    confidence: Annotated[float, typer.Option(help="How strong the link is, 0 to 1.")] = 1.0,
) -> View:
    """Link one atom to another; an existing link gets the new confidence."""
    with session.changing() as memory:
        before = memory.get(id)
        after = memory.relate(before.id, relation, other, confidence)
        return change_view(session, memory, before, after, f"{relation} {after.relations[-1].target}")


@command(app, "undo", panel=PANEL, changes=True, example="lamina undo  ·  lamina undo 01m7gmcnz2sbr5zw6dghygmg6w")
def undo(
    session: Session,
    commit: Annotated[
        str | None,
        typer.Argument(help="The id of a commit, or the end of it. Default: the last commit.", show_default=False),
    ] = None,
    cascade: Annotated[bool, typer.Option("--cascade", help="Also undo later commits that build on it.")] = False,
) -> View:
    """Undo a commit, by default the last one; every atom it changed is restored."""
    with session.changing() as memory:
        return undone_view(session, memory, memory.undo(commit and _commit_named(memory, commit), cascade=cascade))


@command(app, "feedback", panel=PANEL, changes=True, example="lamina feedback 4f1c2a9be0d35768 --cited 8qj1hjz0")
def feedback(
    session: Session,
    recall_id: Annotated[
        str, typer.Argument(metavar="RECALL_ID", help="The id that `recall` prints last.", show_default=False)
    ],
    cited: Annotated[
        list[str] | None, typer.Option("--cited", help="An atom that the answer used; can be repeated.")
    ] = None,
    verdict: Annotated[
        str, typer.Option(help="up: it helped; down: it did not; wrong: the cited atoms are false.")
    ] = "up",
) -> View:
    """Rate an answer, once for each recall: cited atoms count as used, and their quality follows the verdict."""
    with session.changing() as memory:
        learnt = memory.feedback(recall_id, cited or [], verdict)
        return learnt_view(session, memory, recall_id, verdict, learnt, cited=bool(cited))


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _commit_named(memory: Memory, name: str) -> str:
    """Return the id of the commit that ends in a text; NotFound if several do."""
    if is_atom_id(name) or len(name) < 4:
        return name
    matches = [entry.id for entry in memory.journal() if entry.id.endswith(name)]
    if len(matches) > 1:
        raise NotFound(f"{len(matches)} commits end in {name!r}; give more of the id")
    return matches[0] if matches else name
