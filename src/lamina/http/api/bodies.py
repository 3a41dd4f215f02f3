"""Request bodies and parameters of the endpoints: declared, bounded, and nothing else."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from lamina.atom.kinds import Durability, MemoryType
from lamina.atom.relation import RelationName
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.recall.feedback import Verdict
from lamina.working.run import RunOutcome

FACT_BYTES, QUESTION_BYTES = 64 * 1024, 4 * 1024
MOST_HITS, MOST_ROWS, MOST_IDS, MOST_TURNS, MOST_LABELS = 100, 200, 500, 5000, 100
MOST_TOKENS = 32_000


def _within(limit: int) -> AfterValidator:
    def check(text: str) -> str:
        if len(text.encode(errors="replace")) > limit:
            raise ValueError(f"longer than {limit} bytes")
        return text

    return AfterValidator(check)


Label = Annotated[str, Field(max_length=500)]
Labels = Annotated[list[Label], Field(max_length=MOST_LABELS)]
Words = Annotated[str, Field(min_length=1, max_length=FACT_BYTES), _within(FACT_BYTES)]
Asking = Annotated[str, Field(min_length=1, max_length=QUESTION_BYTES), _within(QUESTION_BYTES)]
Name = Annotated[str, Field(min_length=1, max_length=500)]
Ref = Annotated[str, Field(min_length=4, max_length=64, description="An atom's id, or its unique ending.")]
Refs = Annotated[list[Ref], Field(max_length=MOST_IDS)]
Why = Annotated[str, Field(min_length=1, max_length=2000, description="The reason; stored in the history.")]
When = Annotated[
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
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
SaidBy = Annotated[
    Literal[Origin.HUMAN, Origin.AGENT, Origin.TOOL, Origin.DOCUMENT, Origin.WEB, Origin.IMPORT, Origin.RADAR] | None,
    Field(description="Who is responsible for the text; it can only lower the trust of the token."),
]
Private = Annotated[Flag, Field(description="Write to the agent's scope instead of the organisation's.")]
Budget = Annotated[int, Field(ge=1, le=MOST_TOKENS, description="The maximum of tokens in the text for an agent.")]
Hits = Annotated[int, Field(ge=1, le=MOST_HITS)]
Exactly = Field(strict=True)


class Body(BaseModel):
    """A request body; undeclared fields are rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def given(self, *leave_out: str) -> dict[str, Any]:
        """Return the fields that the client sent, without some of them."""
        return self.model_dump(exclude_unset=True, exclude_none=True, exclude=set(leave_out))


class Nothing(Body):
    """No arguments: `{}`."""


class TurnBody(Body):
    """One turn of a conversation."""

    content: Annotated[str, Field(max_length=512 * 1024)]
    speaker: Label | None = None
    role: Label | None = None
    at: When | None = None


class Capture(Body):
    """Text to store and to extract statements from: a text, or the turns of a conversation."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"turns": [{"speaker": "Ann", "content": "I moved to Porto in May."}], "session_id": "call-17"}
        }
    )

    text: Annotated[str, Field(min_length=1, max_length=1024 * 1024)] | None = None
    turns: Annotated[list[TurnBody], Field(min_length=1, max_length=MOST_TURNS)] | None = None
    name: Label | None = Field(default=None, description="The name of the file that the text is from.")
    session_id: Label | None = None
    source_id: Label | None = None
    observed_at: When | None = None
    origin: SaidBy = None
    private: Private = False
    key: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None, description="The same as the header Idempotency-Key, which takes precedence."
    )
    wait: Flag = Field(default=False, description="Respond only after the statements were extracted.")

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.text is None) == (self.turns is None):
            raise ValueError("give either text or turns")
        return self


class Fields(Body):
    """Optional fields of a statement."""

    kind: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")] | None = None
    subject: Label | None = None
    attribute: Label | None = None
    value: Label | None = None
    tags: Labels | None = None
    entities: Labels | None = None
    metadata: Annotated[dict[Label, Annotated[str, Field(max_length=2000)]], Field(max_length=50)] | None = None
    valid_from: When | None = None
    valid_until: When | None = None
    expires_at: When | None = None
    durability: Durability | None = None
    memory_type: MemoryType | None = None
    confidence: Share | None = None
    importance: Share | None = None


class Statement(Fields):
    """One explicit statement."""

    content: Words
    observed_at: When | None = None
    source_id: Label | None = None
    session_id: Label | None = None
    pinned: Flag | None = None


class Remember(Statement):
    """A statement with its origin and reason."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"content": "Ann prefers light roast coffee.", "kind": "preference", "subject": "Ann"}
        }
    )

    origin: SaidBy = None
    private: Private = False
    reason: Why | None = None


class RememberMany(Body):
    """Statements that are written in one commit: all or none."""

    statements: Annotated[list[Statement], Field(min_length=1, max_length=MOST_IDS)]
    origin: SaidBy = None
    private: Private = False
    reason: Why | None = None


class Revise(Fields):
    """New text or fields for an atom."""

    content: Words | None = None
    reason: Why


class Moved(Body):
    """A new status."""

    status: Status
    reason: Why


class Reasoned(Body):
    """A reason."""

    reason: Why


class MayReason(Body):
    """An optional reason."""

    reason: Why | None = None


class Relate(Body):
    """A relation to another atom."""

    relation: RelationName
    to: Ref
    confidence: Share = 1.0


class Undo(Body):
    """The commit to undo; the last one by default."""

    commit: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    cascade: Flag = Field(default=False, description="Also undo later commits that build on it.")


class Erase(Body):
    """What to erase for good: atoms, or everything of a session."""

    ids: Refs = []
    session: Label | None = None
    reason: Why | None = None


class Quarantine(Body):
    """The source, session or origin to hold for review."""

    source: Label | None = None
    session: Label | None = None
    origin: Origin | None = None
    reason: Why | None = None
    yes: Flag = Field(default=False, description="Confirm if it is more than a twentieth of the store.")


class Ask(Body):
    """Options of a recall."""

    k: Hits = 10
    mode: Literal["facts_only", "facts_plus_rules", "full_context"] = "full_context"
    scopes: Annotated[list[Name], Field(min_length=1, max_length=2)] | None = None
    include: Annotated[list[Literal["history", "challenged", "constrained"]], Field(max_length=3)] = []
    fast: bool = False
    ranking: Literal["full", "plain"] = "full"
    as_of: When | None = None
    known_at: When | None = None
    filter_stale: bool = False
    budget: Budget = 2000


class AskInAddress(Ask):
    """A recall in query parameters."""

    q: Asking


class AskInBody(Ask):
    """A recall in a body, for long questions."""

    model_config = ConfigDict(json_schema_extra={"example": {"question": "how does Ann take her coffee?", "k": 3}})

    question: Asking
    k: Annotated[Hits, Exactly] = 10
    fast: Flag = False
    filter_stale: Flag = False
    budget: Annotated[Budget, Exactly] = 2000


class Answering(Body):
    """A question to answer in words."""

    question: Asking
    k: Annotated[Hits, Exactly] = 12


class Feedback(Body):
    """Feedback on an answer that was made from a recall."""

    recall_id: Annotated[str, Field(min_length=1, max_length=64)]
    cited: Refs = []
    verdict: Verdict = Verdict.UP


class Cite(Body):
    """The atoms that were used."""

    ids: Annotated[list[Ref], Field(min_length=1, max_length=MOST_IDS)]


class Listing(Body):
    """Which atoms to list, and how many."""

    status: Status | Literal["any"] = Status.ACTIVE
    kind: Label | None = None
    memory_type: MemoryType | None = None
    subject: Label | None = None
    session_id: Label | None = None
    run_id: Label | None = None
    as_of: When | None = None
    known_at: When | None = None
    limit: Annotated[int, Field(ge=1, le=MOST_ROWS)] = 50
    offset: Annotated[int, Field(ge=0, le=10_000_000)] = 0


class Decide(Body):
    """Pending statements."""

    ids: Annotated[list[Ref], Field(min_length=1, max_length=MOST_IDS)]
    reason: Why | None = None


class DecideSource(Body):
    """Every pending statement from one source."""

    source: Name
    reason: Why | None = None


class Edit(Fields):
    """A pending statement, with other text or fields."""

    id: Ref
    content: Words | None = None
    reason: Why | None = None


class Pair(Body):
    """Two statements that contradict each other."""

    a: Ref
    b: Ref
    reason: Why | None = None


class MergePair(Pair):
    """Two statements, and the one that replaces them."""

    content: Words
    value: Label | None = None


class PutOff(Body):
    """Two statements that cannot be decided yet."""

    a: Ref
    b: Ref
    note: Why | None = None


class Group(Body):
    """Whether to create proposals for the groups found."""

    create_proposals: Flag = False


class Note(Body):
    """A note in a run."""

    text: Words
    kind: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")] = "interaction"
    phase: Label | None = None
    tags: Labels = []
    origin: SaidBy = None
    observed_at: When | None = None
    private: Private = False


class Close(Body):
    """How a run ended."""

    outcome: RunOutcome
    summary: Words
    workflow: Name | None = None
    private: Private = False


class Add(Body):
    """A note under a role."""

    role: Annotated[str, Field(min_length=1, max_length=60)]
    text: Annotated[str, Field(min_length=1, max_length=2000)]
    private: Private = False


class Sync(Body):
    """Whether to accept the deletion of many files at once."""

    accept_deletions: Flag = False


class Doctor(Body):
    """Whether to verify the journal's hash chain and the index as well."""

    deep: Flag = False


class Dream(Body):
    """The steps to run; all of them by default. `yes` needs the right admin and a person's token."""

    steps: Annotated[list[Name], Field(min_length=1, max_length=20)] | None = None
    dry_run: Flag = False
    yes: Flag = False


class Export(Body):
    """The format of an export."""

    format: Literal["json", "markdown", "okf", "csv"] = "json"
    history: Flag = True
