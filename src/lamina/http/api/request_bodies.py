"""The bodies and query parameters of the endpoints, selected from `lamina.documents.argument_types`.

HTTP is strict: 1 or "no" is not a boolean, and a time is ISO 8601.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from lamina.atom.atom import RelationName
from lamina.atom.kinds import Durability, MemoryType
from lamina.atom.provenance import Origin
from lamina.atom.status import Status
from lamina.documents import argument_types as fields
from lamina.documents.argument_types import (
    AtomRef,
    CaptureOptions,
    Flag,
    Label,
    QuestionArguments,
    Reason,
    RecallOptions,
    RevisionArguments,
    TurnFields,
    VerbArguments,
)
from lamina.lifecycle.ageing_decision import StorageTier
from lamina.lifecycle.signals import Verification
from lamina.lifecycle.standing import LifecycleState, PolicyClass
from lamina.recall.feedback import AnswerVerdict
from lamina.working.run import RunOutcome

MAX_IDS, MAX_TURNS = 500, 5000

AtomRefs = Annotated[list[AtomRef], Field(max_length=MAX_IDS)]
SomeAtomRefs = Annotated[AtomRefs, Field(min_length=1)]
Timestamp = Annotated[
    str,
    Field(
        max_length=40,
        description="A date or a time, ISO 8601; UTC if no zone is given.",
        pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
        r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?$",
    ),
]
ObservedAt = Annotated[Timestamp | None, fields.OBSERVED_AT]
AsOf = Annotated[Timestamp | None, fields.AS_OF]
KnownAt = Annotated[Timestamp | None, fields.KNOWN_AT]
Budget = Annotated[
    int, Field(ge=1, le=fields.MAX_TOKENS, description="The maximum of tokens in the text for an agent.")
]
STRICT = Field(strict=True)
"""In a body a number is no text; a query parameter is always text."""


class EmptyBody(VerbArguments):
    """No arguments: `{}`."""


class ReasonBody(VerbArguments):
    """A reason."""

    reason: Reason


class OptionalReasonBody(VerbArguments):
    """An optional reason."""

    reason: Reason | None = None


class TurnBody(TurnFields[Timestamp]):
    """One turn of a conversation."""


class CaptureBody(CaptureOptions[Timestamp]):
    """Text to store and to extract statements from: a text, or the turns of a conversation."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"turns": [{"speaker": "Ann", "content": "I moved to Porto in May."}], "session_id": "call-17"}
        }
    )

    text: Annotated[str, Field(min_length=1, max_length=1024 * 1024)] | None = None
    turns: Annotated[list[TurnBody], Field(min_length=1, max_length=MAX_TURNS)] | None = None
    name: Label | None = Field(default=None, description="The name of the file that the text is from.")
    key: Annotated[str, Field(min_length=1, max_length=fields.MAX_KEY_LENGTH)] | None = Field(
        default=None, description="The same as the header Idempotency-Key, which takes precedence."
    )

    @model_validator(mode="after")
    def _check_text_or_turns(self) -> Self:
        if (self.text is None) == (self.turns is None):
            raise ValueError("give either text or turns")
        return self


class FieldsBody(RevisionArguments[Timestamp]):
    """Optional fields of a statement."""

    entities: fields.Entities | None = None
    expires_at: Annotated[Timestamp | None, fields.EXPIRES_AT] = None
    durability: Durability | None = None
    memory_type: MemoryType | None = None


class StatementBody(FieldsBody):
    """One explicit statement."""

    content: Annotated[fields.StatementText, fields.STATEMENT]
    observed_at: ObservedAt = None
    source_id: fields.SourceId = None
    session_id: fields.SessionId = None
    agents: fields.Agents | None = None
    layer: fields.StatedLayer = None
    pinned: fields.Pinned | None = None


class RememberBody(StatementBody):
    """A statement with its origin and reason."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"content": "Ann prefers light roast coffee.", "kind": "preference", "subject": "Ann"}
        }
    )

    origin: fields.StatedOrigin = None
    private: fields.Private = False
    reason: Reason | None = None


class RememberManyBody(VerbArguments):
    """Statements that are written in one commit: all or none."""

    statements: Annotated[list[StatementBody], Field(min_length=1, max_length=MAX_IDS)]
    origin: fields.StatedOrigin = None
    private: fields.Private = False
    reason: Reason | None = None


class ReviseBody(FieldsBody, ReasonBody):
    """New text or fields for an atom."""

    content: fields.StatementText | None = None


class StatusBody(ReasonBody):
    """A new status."""

    status: Status


class RelateBody(VerbArguments):
    """A relation to another atom."""

    relation: RelationName
    to: AtomRef
    confidence: fields.LinkConfidence = 1.0


class UndoBody(VerbArguments):
    """The commit to undo; the last one by default."""

    commit: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    cascade: Flag = Field(default=False, description="Also undo later commits that build on it.")


class EraseBody(OptionalReasonBody):
    """A request to erase for good: atoms, or everything of a session."""

    ids: AtomRefs = Field(default=[])
    session: Label | None = None
    everywhere: Flag = Field(default=False, description="Erase the same words from all other memories too.")
    dry_run: Flag = Field(default=False, description="Only return what would be erased, with every passage.")


class QuarantineBody(OptionalReasonBody):
    """The source, session or origin to hold for review."""

    source: Label | None = None
    session: Label | None = None
    origin: Origin | None = None
    yes: Flag = Field(default=False, description="Confirm if it is more than a twentieth of the store.")


class RecallFields(RecallOptions[Timestamp]):
    """Options of a recall that only HTTP has, or limits in its own way."""

    scopes: Annotated[list[fields.Name] | None, Field(max_length=2), fields.SCOPES] = None
    ranking: Literal["full", "plain"] = "full"
    budget: Budget = 2000


class RecallParameters(RecallFields):
    """A recall in query parameters."""

    q: fields.Question


class RecallBody(RecallFields, QuestionArguments):
    """A recall in a body, for long questions."""

    model_config = ConfigDict(json_schema_extra={"example": {"question": "how does Ann take her coffee?", "k": 3}})

    k: Annotated[fields.HitCount, STRICT] = 10
    fast: Annotated[bool, STRICT] = False
    filter_stale: Annotated[bool, STRICT] = False
    budget: Annotated[Budget, STRICT] = 2000


class AnswerBody(QuestionArguments):
    """A question to answer in words."""

    k: Annotated[fields.HitCount, STRICT] = 12


class FeedbackBody(VerbArguments):
    """Feedback on an answer that was made from a recall."""

    recall_id: fields.RecallId
    cited: Annotated[AtomRefs, fields.CITED] = Field(default=[])
    verdict: Annotated[AnswerVerdict, fields.VERDICT] = AnswerVerdict.UP


class CiteBody(VerbArguments):
    """The atoms that were used."""

    ids: SomeAtomRefs


class ListParameters(VerbArguments):
    """A selection of atoms to list, and how many."""

    status: Annotated[
        list[Status | Literal["any"]],
        Field(max_length=len(Status), description="Only atoms of these statuses; any for all."),
    ] = Field(default=[Status.ACTIVE])
    layer: fields.Layers = Field(default=[])
    kind: Label | None = None
    memory_type: MemoryType | None = None
    subject: Label | None = None
    session_id: Label | None = None
    episode_id: Label | None = None
    run_id: Label | None = None
    topic: Annotated[Label | None, Field(description="One of the topics that /topics lists.")] = None
    verification: Verification | None = None
    policy_class: PolicyClass | None = None
    lifecycle_state: LifecycleState | None = None
    tier: StorageTier | None = None
    as_of: AsOf = None
    known_at: KnownAt = None
    limit: Annotated[int, Field(ge=1, le=fields.MAX_ROWS)] = 50
    offset: Annotated[int, Field(ge=0, le=10_000_000)] = 0


class DecisionBody(OptionalReasonBody):
    """Pending statements."""

    ids: SomeAtomRefs


class SourceDecisionBody(OptionalReasonBody):
    """Every pending statement from one source."""

    source: fields.Name


class EditBody(FieldsBody, OptionalReasonBody):
    """A pending statement, with other text or fields."""

    id: AtomRef
    content: fields.StatementText | None = None


class PairBody(OptionalReasonBody):
    """Two statements that contradict each other."""

    a: AtomRef
    b: AtomRef


class MergePairBody(PairBody):
    """Two statements, and the one that replaces them."""

    content: fields.StatementText
    value: fields.Value = None


class PostponePairBody(VerbArguments):
    """Two statements that cannot be decided yet."""

    a: AtomRef
    b: AtomRef
    note: Reason | None = None


class GroupBody(VerbArguments):
    """A request for groups, with or without creating proposals for them."""

    create_proposals: Flag = False


class NoteBody(VerbArguments):
    """A note in a run."""

    text: fields.StatementText
    kind: fields.KindName = "interaction"
    phase: Label | None = None
    tags: fields.Labels = Field(default=[])
    origin: fields.StatedOrigin = None
    observed_at: ObservedAt = None
    private: fields.Private = False


class CloseRunBody(VerbArguments):
    """A request to close a run with its outcome."""

    outcome: RunOutcome
    summary: fields.StatementText
    workflow: fields.Name | None = None
    private: fields.Private = False


class BlockNoteBody(VerbArguments):
    """A note under a role."""

    role: Annotated[str, Field(min_length=1, max_length=60)]
    text: Annotated[str, Field(min_length=1, max_length=2000)]
    private: fields.Private = False


class SyncBody(VerbArguments):
    """A request to sync, with or without accepting the deletion of many files at once."""

    accept_deletions: Flag = False


class DoctorBody(VerbArguments):
    """A request to check the vault, with or without the journal's hash chain and the index."""

    deep: Flag = False


class DreamBody(VerbArguments):
    """The steps to run; all of them by default. `yes` needs the right admin and a person's token.

    With `dry_run`, `at` shows what a dream at that time would do.
    """

    steps: Annotated[list[fields.Name], Field(min_length=1, max_length=20)] | None = None
    dry_run: Flag = False
    at: Timestamp | None = None
    yes: Flag = False


class ExportBody(VerbArguments):
    """The format of an export, and which atoms it has."""

    format: Literal["json", "markdown", "okf", "csv"] = "json"
    history: Flag = True
    layer: fields.Layers = Field(default=[])
    status: Annotated[
        list[Status], Field(max_length=len(Status), description="Only atoms of these statuses; all by default.")
    ] = Field(default=[])
