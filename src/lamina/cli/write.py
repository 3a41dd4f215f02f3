"""The commands that change the memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lamina.atom.atom import is_atom_id
from lamina.cli.command import command
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, Json
from lamina.cli.receipts import render_change, render_feedback, render_outcome_counts, render_receipt, render_undo
from lamina.cli.text_input import (
    parse_json_turns,
    parse_metadata_options,
    parse_time_option,
    read_document_argument,
    read_text_argument,
)
from lamina.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lamina.atom.atom import Atom, AtomId
    from lamina.capture.pieces import TextPiece
    from lamina.memory import Memory

app = typer.Typer(rich_help_panel="Write")

IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="The id of an atom, or the end of it.", show_default=False)
]
IdsArgument = Annotated[
    list[str] | None, typer.Argument(metavar="[ID]...", help="Ids of atoms, or the ends of ids.", show_default=False)
]
NewTextArgument = Annotated[str | None, typer.Argument(help="The new text. Default: unchanged.", show_default=False)]
ReasonOption = Annotated[str, typer.Option("--reason", help="The reason; stored in the journal.")]
KindOption = Annotated[str | None, typer.Option(help="fact, preference, decision, event, … Default: fact.")]
SubjectOption = Annotated[str | None, typer.Option(help="What it is about; with --attribute it fills a claim.")]
AttributeOption = Annotated[str | None, typer.Option(help="The property of the subject.")]
ValueOption = Annotated[str | None, typer.Option(help="The value of the property.")]
TagsOption = Annotated[list[str] | None, typer.Option("--tag", help="A tag; can be repeated.")]
EntitiesOption = Annotated[
    list[str] | None, typer.Option("--entity", help="A person or thing it names; can be repeated.")
]
MetadataOption = Annotated[
    list[str] | None,
    typer.Option(
        "--metadata",
        metavar="KEY=VALUE",
        help="A further field, such as workflow=deploy; can be repeated. true, 0.5 and [a, b] keep their types.",
    ),
]
ValidFromOption = Annotated[str | None, typer.Option(help="True from this time (ISO 8601, UTC).")]
ValidUntilOption = Annotated[str | None, typer.Option(help="True until this time; a date includes that day.")]
ExpiresAtOption = Annotated[str | None, typer.Option(help="Not needed after this time.")]
ConfidenceOption = Annotated[float | None, typer.Option(help="How sure, 0 to 1.")]
ImportanceOption = Annotated[float | None, typer.Option(help="How important, 0 to 1.")]
DurabilityOption = Annotated[str | None, typer.Option(help="How fast it fades: core, standard or ephemeral.")]
LayerOption = Annotated[
    str | None, typer.Option(help="The layer to write it to: profile, semantic, procedural, episodic, …")
]
MemoryTypeOption = Annotated[str | None, typer.Option(help="fact, procedure or narrative.")]
OriginOption = Annotated[str | None, typer.Option(help="Where it comes from: human, agent, document, web, …")]
SessionOption = Annotated[str | None, typer.Option("--session", help="The session it belongs to.")]
SourceIdOption = Annotated[str | None, typer.Option("--source", help="The source it came from.")]
AtOption = Annotated[
    str | None, typer.Option("--at", help="When it was said (ISO 8601, UTC unless it has a zone). Default: now.")
]
ValenceOption = Annotated[
    float | None,
    typer.Option(
        "--valence", help="How pleasant (1) or unpleasant (-1) it is; by its words if not given.", min=-1, max=1
    ),
]
KeyOption = Annotated[
    str | None, typer.Option(help="Idempotency key: a second request with the same key changes nothing.")
]
AgentsOption = Annotated[
    list[str] | None, typer.Option("--agent", help="An agent it is also for, which finds it first; can be repeated.")
]
PrivateOption = Annotated[bool, typer.Option("--private", help="Store it in the agent's private scope.")]


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
    session_id: SessionOption = None,
    source_id: SourceIdOption = None,
    at: AtOption = None,
    speaker: Annotated[str | None, typer.Option(help="Who said it.")] = None,
    turns: Annotated[
        bool, typer.Option("--turns", "--jsonl", help="The input is JSON turns {speaker|role, content, at}.")
    ] = False,
    codebase: Annotated[
        Path | None, typer.Option("--codebase", metavar="FOLDER", help="Capture an outline of a source code folder.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="The name of the code base. Default: its folder.")] = None,
    origin: OriginOption = None,
    agents: AgentsOption = None,
    private: PrivateOption = False,
    key: KeyOption = None,
) -> CommandResult:
    """Store words verbatim and extract statements; statements of a file stay pending until you confirm them."""
    if codebase is not None:
        return _capture_codebase(session, codebase, name, private)
    document = None if turns or speaker else read_document_argument(words)
    text, file = read_text_argument(words) if document is None else ("", document.name)
    captured: str | Sequence[dict[str, Json]] | Sequence[TextPiece] = text if document is None else document.pieces
    if turns:
        captured = parse_json_turns(text)
    elif speaker:
        captured = [{"speaker": speaker, "content": text}]
    elif file:
        # A file is evidence; its statements are pending until a person confirms them.
        origin = origin or "document"
    with session.open_for_change() as memory:
        receipt = memory.capture(
            captured,
            name=file,
            session_id=session_id,
            source_id=source_id or file,
            observed_at=parse_time_option(at),
            origin=origin,
            agents=agents or (),
            private=private,
            key=key,
        )
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
    kind: KindOption = None,
    subject: SubjectOption = None,
    attribute: AttributeOption = None,
    value: ValueOption = None,
    tags: TagsOption = None,
    entities: EntitiesOption = None,
    metadata: MetadataOption = None,
    valid_from: ValidFromOption = None,
    valid_until: ValidUntilOption = None,
    expires_at: ExpiresAtOption = None,
    at: AtOption = None,
    pinned: Annotated[bool, typer.Option("--pinned", help="Never forgotten or merged by maintenance.")] = False,
    confidence: ConfidenceOption = None,
    importance: ImportanceOption = None,
    valence: ValenceOption = None,
    durability: DurabilityOption = None,
    memory_type: MemoryTypeOption = None,
    layer: LayerOption = None,
    session_id: SessionOption = None,
    source_id: SourceIdOption = None,
    origin: OriginOption = None,
    reason: Annotated[str | None, typer.Option(help="The reason; stored in the journal.")] = None,
    agents: AgentsOption = None,
    private: PrivateOption = False,
    key: KeyOption = None,
) -> CommandResult:
    """Write one statement; an older value of the same claim is superseded, not overwritten."""
    text = read_text_argument("-")[0] if content == "-" else content
    fields = drop_none(
        kind=kind,
        subject=subject,
        attribute=attribute,
        value=value,
        tags=tags or None,
        entities=entities or None,
        metadata=parse_metadata_options(metadata),
        valid_from=parse_time_option(valid_from),
        valid_until=parse_time_option(valid_until, end=True),
        expires_at=parse_time_option(expires_at, end=True),
        observed_at=parse_time_option(at),
        pinned=pinned or None,
        confidence=confidence,
        importance=importance,
        valence=valence,
        durability=durability,
        memory_type=memory_type,
        layer=layer,
        session_id=session_id,
        source_id=source_id,
        origin=origin,
        agents=agents or None,
        reason=reason,
        key=key,
    )
    with session.open_for_change() as memory:
        return render_receipt(session, memory, memory.remember(text, private=private, **fields))


@command(
    app, "revise", has_dry_run=True, example='lamina revise 8qj1hjz0 "Prefers green tea." --reason "changed her mind"'
)
def revise(
    session: CommandSession,
    id: IdArgument,
    content: NewTextArgument = None,
    reason: ReasonOption = "revised",
    kind: KindOption = None,
    subject: SubjectOption = None,
    attribute: AttributeOption = None,
    value: ValueOption = None,
    tags: TagsOption = None,
    entities: EntitiesOption = None,
    metadata: MetadataOption = None,
    valid_from: ValidFromOption = None,
    valid_until: ValidUntilOption = None,
    expires_at: ExpiresAtOption = None,
    confidence: ConfidenceOption = None,
    importance: ImportanceOption = None,
    valence: ValenceOption = None,
    durability: DurabilityOption = None,
    memory_type: MemoryTypeOption = None,
) -> CommandResult:
    """Write a new version of an atom; the old one stays in its history."""
    fields = drop_none(
        kind=kind,
        subject=subject,
        attribute=attribute,
        value=value,
        tags=tags or None,
        entities=entities or None,
        metadata=parse_metadata_options(metadata),
        valid_from=parse_time_option(valid_from),
        valid_until=parse_time_option(valid_until, end=True),
        expires_at=parse_time_option(expires_at, end=True),
        confidence=confidence,
        importance=importance,
        valence=valence,
        durability=durability,
        memory_type=memory_type,
    )
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
    """Change the status of an atom; back from an ended status this is a restore."""
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


def drop_none(**fields: Any) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in fields.items() if value is not None}


def _resolve_commit_id(memory: Memory, name: str) -> str:
    """Return the id of the commit that ends in a text; NotFound if several do."""
    if is_atom_id(name) or len(name) < 4:
        return name
    matches = [entry.id for entry in memory.journal() if entry.id.endswith(name)]
    if len(matches) > 1:
        raise NotFound(f"{len(matches)} commits end in {name!r}; give more of the id")
    return matches[0] if matches else name
