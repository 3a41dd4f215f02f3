"""The arguments of the tools, selected from `lamina.documents.argument_types`, in the order an agent reads them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Literal

from pydantic import Field

from lamina.atom.atom import RelationName
from lamina.documents import argument_types as fields
from lamina.documents.argument_types import (
    AtomRef,
    CaptureOptions,
    QuestionArguments,
    Reason,
    RecallOptions,
    RevisionArguments,
    StatementText,
    TurnFields,
    VerbArguments,
)
from lamina.errors import InvalidInput

MAX_TURNS = 2000

Timestamp = Annotated[str, Field(max_length=40)]
ObservedAt = Annotated[Timestamp | None, fields.OBSERVED_AT]
AsOf = Annotated[Timestamp | None, fields.AS_OF]
KnownAt = Annotated[Timestamp | None, fields.KNOWN_AT]
IdempotencyKey = Annotated[
    str | None,
    Field(
        max_length=fields.MAX_KEY_LENGTH,
        description="A unique key for this write. If sent again with the same key, nothing is written twice; "
        "use one if you may have to retry.",
    ),
]


def reject_unused_arguments(arguments: ReviseArguments | ReviewArguments, used: Collection[str], hint: str) -> None:
    """Raise InvalidInput if an argument was given that the action does not use: ignoring it would mislead."""
    if unused := [name for name in arguments.given_fields() if name not in used]:
        raise InvalidInput(f"action {arguments.action} does not use {' or '.join(unused)}; {hint}")


class TurnArguments(TurnFields[Timestamp]):
    """One turn of a conversation."""


class CapturedText(VerbArguments):
    """Text, or the turns of a conversation."""

    words: Annotated[
        str | None,
        Field(
            max_length=fields.MAX_TURN_LENGTH, description="Plain text, markdown or a transcript. Give this or turns."
        ),
    ] = None
    turns: Annotated[
        list[TurnArguments] | None,
        Field(max_length=MAX_TURNS, description="A conversation, turn by turn, oldest first. Give this or words."),
    ] = None


class CaptureArguments(CaptureOptions[Timestamp], CapturedText):
    """Text to store verbatim: `words` or `turns`, one of them."""

    key: IdempotencyKey = None


class RememberArguments(VerbArguments):
    """One explicit statement."""

    content: Annotated[StatementText, fields.STATEMENT]
    kind: Annotated[fields.KindName, fields.KIND] = "fact"
    subject: Annotated[fields.Label, fields.SUBJECT] = ""
    attribute: fields.Attribute = None
    value: fields.Value = None
    tags: Annotated[fields.Labels, fields.TAGS] = Field(default=[])
    entities: fields.Entities = Field(default=[])
    metadata: Annotated[fields.Metadata, fields.METADATA] = Field(default={})
    valid_from: Annotated[Timestamp | None, fields.VALID_FROM] = None
    valid_until: Annotated[Timestamp | None, fields.VALID_UNTIL] = None
    expires_at: Annotated[Timestamp | None, fields.EXPIRES_AT] = None
    observed_at: ObservedAt = None
    confidence: Annotated[fields.UnitInterval, fields.CONFIDENCE] = 1.0
    importance: Annotated[fields.UnitInterval, fields.IMPORTANCE] = 0.5
    valence: fields.Valence = None
    pinned: fields.Pinned = False
    layer: fields.StatedLayer = None
    session_id: fields.SessionId = None
    source_id: fields.SourceId = None
    origin: fields.StatedOrigin = None
    agents: fields.Agents = Field(default=[])
    private: fields.Private = False
    reason: Reason = "asked to remember"
    key: IdempotencyKey = None


class RecallArguments(RecallOptions[Timestamp], QuestionArguments):
    """A question."""

    budget: Annotated[
        int, Field(ge=100, le=fields.MAX_TOKENS, description="The maximum of tokens in the text of the answer.")
    ] = 2000
    scopes: Annotated[list[fields.Label] | None, Field(max_length=10), fields.SCOPES] = None
    explain: Annotated[bool, Field(description="Also give every term and weight of each score, in `explained`.")] = (
        False
    )


class FeedbackArguments(VerbArguments):
    """Arguments of `feedback`: how good an answer made from a recall was."""

    recall_id: fields.RecallId
    cited: Annotated[list[AtomRef], Field(max_length=fields.MAX_HITS), fields.CITED] = Field(default=[])
    verdict: Annotated[Literal["up", "down", "wrong"], fields.VERDICT] = "up"


class GetArguments(VerbArguments):
    """Arguments of `get`."""

    id: AtomRef
    history: Annotated[bool, Field(description="Also every version and status change, oldest first.")] = False
    neighbours: Annotated[bool, Field(description="Also the atoms linked to or from it.")] = False
    why: Annotated[bool, Field(description="Also why it matters: the factors of its importance, its ageing.")] = False
    as_of: AsOf = None
    known_at: KnownAt = None


class RevisionAction(VerbArguments):
    """An action on an atom."""

    id: AtomRef
    action: Annotated[
        Literal["text", "status", "pin", "unpin", "promote", "demote", "resolve"],
        Field(
            description="text: new text or fields; what you leave out stays. status: change it to `status`. pin / "
            "unpin: protect it from fading, or not. promote / demote: one layer up, where atoms last, or down, where "
            "they fade unless used. resolve: a commitment, goal or reminder is done. `status` belongs to status, the "
            "other fields to text."
        ),
    ] = "text"
    content: Annotated[StatementText | None, Field(description="For text: the new text.")] = None


class ReviseArguments(RevisionArguments[Timestamp], RevisionAction):
    """Arguments of `revise`: the changes to an atom."""

    status: Annotated[
        Literal["active", "challenged", "superseded", "invalidated", "archived", "tombstoned"] | None,
        Field(
            description="For status: the new status. superseded: it was true once; invalidated: it never was; "
            "challenged: it is disputed; archived: no longer in use, still found; tombstoned: as forget does; active "
            "from an ended status restores it."
        ),
    ] = None
    reason: Reason


class ForgetArguments(VerbArguments):
    """Arguments of `forget`: the atom, and the reason."""

    id: AtomRef
    reason: Reason


class RelateArguments(VerbArguments):
    """A link between two atoms."""

    a: Annotated[AtomRef, Field(description="The id of the atom the link starts from.")]
    relation: Annotated[RelationName, Field(description="What a is to b.")]
    b: Annotated[AtomRef, Field(description="The id of the atom the link leads to.")]
    confidence: fields.LinkConfidence = 1.0


class ReviewArguments(VerbArguments):
    """Arguments of `review`: what to do about pending items."""

    action: Annotated[
        Literal["list", "confirm", "reject", "edit", "keep", "both", "merge", "later"],
        Field(
            description="list shows pending items. A statement: confirm, reject, or edit (confirm with `content`). A "
            "contradicting pair: keep `id` over `other`, both are valid, merge them into `content`, or later."
        ),
    ] = "list"
    id: Annotated[AtomRef | None, Field(description="The statement; of a pair the one to keep, or any of both.")] = None
    other: Annotated[AtomRef | None, Field(description="The other one of a pair.")] = None
    content: Annotated[StatementText | None, Field(description="For edit and merge: the text to confirm.")] = None
    value: fields.Value = None
    source: Annotated[
        str | None,
        Field(max_length=fields.MAX_LABEL_LENGTH, description="list, confirm or reject everything from this source."),
    ] = None
    kind: Annotated[
        Literal["deletions", "dream", "statement", "proposal", "pair"] | None,
        Field(description="For list: only pending items of this kind."),
    ] = None
    limit: Annotated[int, Field(ge=1, le=fields.MAX_ROWS, description="For list: how many at most.")] = 20
    reason: Annotated[Reason | None, Field(description="The person's reason, in a few words; kept in the history.")] = (
        None
    )


class StatusArguments(VerbArguments):
    """No arguments."""
