"""Request bodies and parameters of the endpoints: declared, bounded, and nothing else."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from lamina.atom.kinds import Durability, MemoryType
from lamina.atom.relation import RelationName
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.recall.feedback import AnswerVerdict
from lamina.working.run import RunOutcome

MAX_FACT_BYTES, MAX_QUESTION_BYTES = 64 * 1024, 4 * 1024
MAX_HITS, MAX_ROWS, MAX_IDS, MAX_TURNS, MAX_LABELS = 100, 200, 500, 5000, 100
MAX_TOKENS = 32_000


def _limit_bytes(limit: int) -> AfterValidator:
    def check(text: str) -> str:
        if len(text.encode(errors="replace")) > limit:
            raise ValueError(f"longer than {limit} bytes")
        return text

    return AfterValidator(check)


Label = Annotated[str, Field(max_length=500)]
Labels = Annotated[list[Label], Field(max_length=MAX_LABELS)]
StatementText = Annotated[str, Field(min_length=1, max_length=MAX_FACT_BYTES), _limit_bytes(MAX_FACT_BYTES)]
Question = Annotated[str, Field(min_length=1, max_length=MAX_QUESTION_BYTES), _limit_bytes(MAX_QUESTION_BYTES)]
Name = Annotated[str, Field(min_length=1, max_length=500)]
AtomRef = Annotated[str, Field(min_length=4, max_length=64, description="An atom's id, or its unique ending.")]
AtomRefs = Annotated[list[AtomRef], Field(max_length=MAX_IDS)]
Reason = Annotated[str, Field(min_length=1, max_length=2000, description="The reason; stored in the history.")]
Timestamp = Annotated[
    str,
    Field(
        max_length=40,
        description="A date or a time, ISO 8601; UTC if no zone is given.",
        pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
        r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?$",
    ),
]
Flag = Annotated[bool, Field(strict=True)]
"""A strict boolean: 1 or "no" is rejected. A query parameter is always text, so there it is a plain `bool`."""
UnitInterval = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
StatedOrigin = Annotated[
    Literal[Origin.HUMAN, Origin.AGENT, Origin.TOOL, Origin.DOCUMENT, Origin.WEB, Origin.IMPORT, Origin.RADAR] | None,
    Field(description="Who is responsible for the text; it can only lower the trust of the token."),
]
Private = Annotated[Flag, Field(description="Write to the agent's scope instead of the organisation's.")]
Budget = Annotated[int, Field(ge=1, le=MAX_TOKENS, description="The maximum of tokens in the text for an agent.")]
HitCount = Annotated[int, Field(ge=1, le=MAX_HITS)]
STRICT = Field(strict=True)


class RequestBody(BaseModel):
    """A request body; undeclared fields are rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def given_fields(self, *leave_out: str) -> dict[str, Any]:
        """Return the fields that the client sent, without some of them."""
        return self.model_dump(exclude_unset=True, exclude_none=True, exclude=set(leave_out))


class EmptyBody(RequestBody):
    """No arguments: `{}`."""


class TurnBody(RequestBody):
    """One turn of a conversation."""

    content: Annotated[str, Field(max_length=512 * 1024)]
    speaker: Label | None = None
    role: Label | None = None
    at: Timestamp | None = None


class CaptureBody(RequestBody):
    """Text to store and to extract statements from: a text, or the turns of a conversation."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"turns": [{"speaker": "Ann", "content": "I moved to Porto in May."}], "session_id": "call-17"}
        }
    )

    text: Annotated[str, Field(min_length=1, max_length=1024 * 1024)] | None = None
    turns: Annotated[list[TurnBody], Field(min_length=1, max_length=MAX_TURNS)] | None = None
    name: Label | None = Field(default=None, description="The name of the file that the text is from.")
    session_id: Label | None = None
    source_id: Label | None = None
    observed_at: Timestamp | None = None
    origin: StatedOrigin = None
    private: Private = False
    key: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None, description="The same as the header Idempotency-Key, which takes precedence."
    )
    wait: Flag = Field(default=False, description="Respond only after the statements were extracted.")

    @model_validator(mode="after")
    def _check_text_or_turns(self) -> Self:
        if (self.text is None) == (self.turns is None):
            raise ValueError("give either text or turns")
        return self


class StatementFields(RequestBody):
    """Optional fields of a statement."""

    kind: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")] | None = None
    subject: Label | None = None
    attribute: Label | None = None
    value: Label | None = None
    tags: Labels | None = None
    entities: Labels | None = None
    metadata: Annotated[dict[Label, Annotated[str, Field(max_length=2000)]], Field(max_length=50)] | None = None
    valid_from: Timestamp | None = None
    valid_until: Timestamp | None = None
    expires_at: Timestamp | None = None
    durability: Durability | None = None
    memory_type: MemoryType | None = None
    confidence: UnitInterval | None = None
    importance: UnitInterval | None = None


class StatementBody(StatementFields):
    """One explicit statement."""

    content: StatementText
    observed_at: Timestamp | None = None
    source_id: Label | None = None
    session_id: Label | None = None
    pinned: Flag | None = None


class RememberBody(StatementBody):
    """A statement with its origin and reason."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"content": "Ann prefers light roast coffee.", "kind": "preference", "subject": "Ann"}
        }
    )

    origin: StatedOrigin = None
    private: Private = False
    reason: Reason | None = None


class RememberManyBody(RequestBody):
    """Statements that are written in one commit: all or none."""

    statements: Annotated[list[StatementBody], Field(min_length=1, max_length=MAX_IDS)]
    origin: StatedOrigin = None
    private: Private = False
    reason: Reason | None = None


class ReviseBody(StatementFields):
    """New text or fields for an atom."""

    content: StatementText | None = None
    reason: Reason


class StatusBody(RequestBody):
    """A new status."""

    status: Status
    reason: Reason


class ReasonBody(RequestBody):
    """A reason."""

    reason: Reason


class OptionalReasonBody(RequestBody):
    """An optional reason."""

    reason: Reason | None = None


class RelateBody(RequestBody):
    """A relation to another atom."""

    relation: RelationName
    to: AtomRef
    confidence: UnitInterval = 1.0


class UndoBody(RequestBody):
    """The commit to undo; the last one by default."""

    commit: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    cascade: Flag = Field(default=False, description="Also undo later commits that build on it.")


class EraseBody(RequestBody):
    """What to erase for good: atoms, or everything of a session."""

    ids: AtomRefs = []
    session: Label | None = None
    reason: Reason | None = None


class QuarantineBody(RequestBody):
    """The source, session or origin to hold for review."""

    source: Label | None = None
    session: Label | None = None
    origin: Origin | None = None
    reason: Reason | None = None
    yes: Flag = Field(default=False, description="Confirm if it is more than a twentieth of the store.")


class RecallOptions(RequestBody):
    """Options of a recall."""

    k: HitCount = 10
    mode: Literal["facts_only", "facts_plus_rules", "full_context"] = "full_context"
    scopes: Annotated[list[Name], Field(min_length=1, max_length=2)] | None = None
    include: Annotated[list[Literal["history", "challenged", "constrained"]], Field(max_length=3)] = []
    fast: bool = False
    ranking: Literal["full", "plain"] = "full"
    as_of: Timestamp | None = None
    known_at: Timestamp | None = None
    filter_stale: bool = False
    budget: Budget = 2000


class RecallParameters(RecallOptions):
    """A recall in query parameters."""

    q: Question


class RecallBody(RecallOptions):
    """A recall in a body, for long questions."""

    model_config = ConfigDict(json_schema_extra={"example": {"question": "how does Ann take her coffee?", "k": 3}})

    question: Question
    k: Annotated[HitCount, STRICT] = 10
    fast: Flag = False
    filter_stale: Flag = False
    budget: Annotated[Budget, STRICT] = 2000


class AnswerBody(RequestBody):
    """A question to answer in words."""

    question: Question
    k: Annotated[HitCount, STRICT] = 12


class FeedbackBody(RequestBody):
    """Feedback on an answer that was made from a recall."""

    recall_id: Annotated[str, Field(min_length=1, max_length=64)]
    cited: AtomRefs = []
    verdict: AnswerVerdict = AnswerVerdict.UP


class CiteBody(RequestBody):
    """The atoms that were used."""

    ids: Annotated[list[AtomRef], Field(min_length=1, max_length=MAX_IDS)]


class ListParameters(RequestBody):
    """Which atoms to list, and how many."""

    status: Status | Literal["any"] = Status.ACTIVE
    kind: Label | None = None
    memory_type: MemoryType | None = None
    subject: Label | None = None
    session_id: Label | None = None
    run_id: Label | None = None
    as_of: Timestamp | None = None
    known_at: Timestamp | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_ROWS)] = 50
    offset: Annotated[int, Field(ge=0, le=10_000_000)] = 0


class DecisionBody(RequestBody):
    """Pending statements."""

    ids: Annotated[list[AtomRef], Field(min_length=1, max_length=MAX_IDS)]
    reason: Reason | None = None


class SourceDecisionBody(RequestBody):
    """Every pending statement from one source."""

    source: Name
    reason: Reason | None = None


class EditBody(StatementFields):
    """A pending statement, with other text or fields."""

    id: AtomRef
    content: StatementText | None = None
    reason: Reason | None = None


class PairBody(RequestBody):
    """Two statements that contradict each other."""

    a: AtomRef
    b: AtomRef
    reason: Reason | None = None


class MergePairBody(PairBody):
    """Two statements, and the one that replaces them."""

    content: StatementText
    value: Label | None = None


class PostponePairBody(RequestBody):
    """Two statements that cannot be decided yet."""

    a: AtomRef
    b: AtomRef
    note: Reason | None = None


class GroupBody(RequestBody):
    """Whether to create proposals for the groups found."""

    create_proposals: Flag = False


class NoteBody(RequestBody):
    """A note in a run."""

    text: StatementText
    kind: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")] = "interaction"
    phase: Label | None = None
    tags: Labels = []
    origin: StatedOrigin = None
    observed_at: Timestamp | None = None
    private: Private = False


class CloseRunBody(RequestBody):
    """How a run ended."""

    outcome: RunOutcome
    summary: StatementText
    workflow: Name | None = None
    private: Private = False


class BlockNoteBody(RequestBody):
    """A note under a role."""

    role: Annotated[str, Field(min_length=1, max_length=60)]
    text: Annotated[str, Field(min_length=1, max_length=2000)]
    private: Private = False


class SyncBody(RequestBody):
    """Whether to accept the deletion of many files at once."""

    accept_deletions: Flag = False


class DoctorBody(RequestBody):
    """Whether to verify the journal's hash chain and the index as well."""

    deep: Flag = False


class DreamBody(RequestBody):
    """The steps to run; all of them by default. `yes` needs the right admin and a person's token."""

    steps: Annotated[list[Name], Field(min_length=1, max_length=20)] | None = None
    dry_run: Flag = False
    yes: Flag = False


class ExportBody(RequestBody):
    """The format of an export."""

    format: Literal["json", "markdown", "okf", "csv"] = "json"
    history: Flag = True
