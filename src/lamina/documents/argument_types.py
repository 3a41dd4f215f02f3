"""The arguments of the verbs, described and bounded once: HTTP and MCP select theirs from these types and models.

A surface decides which of them a request has, which are required, and what a time may look like: HTTP takes ISO 8601,
MCP any text that the verbs understand, because models are not careful.
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from lamina.atom.kinds import Layer
from lamina.atom.provenance import Origin
from lamina.atom.status import Status

MAX_FACT_BYTES, MAX_QUESTION_BYTES = 64 * 1024, 4 * 1024
MAX_TURN_LENGTH, MAX_LABEL_LENGTH, MAX_KEY_LENGTH = 512 * 1024, 500, 200
MAX_HITS, MAX_ROWS, MAX_LABELS, MAX_TOKENS = 100, 200, 100, 32_000
MAX_METADATA_KEYS, MAX_METADATA_LENGTH, MAX_METADATA_NUMBER = 50, 2000, 2**53


class VerbArguments(BaseModel):
    """The arguments of one request; undeclared ones are rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def given_fields(self, *leave_out: str) -> dict[str, Any]:
        """Return the arguments that the client sent, without some of them; null and missing are the same."""
        return self.model_dump(exclude_unset=True, exclude_none=True, exclude=set(leave_out))


def _limit_bytes(limit: int) -> AfterValidator:
    def check(text: str) -> str:
        if len(text.encode(errors="replace")) > limit:
            raise ValueError(f"longer than {limit} bytes ({limit // 1024} KiB)")
        return text

    return AfterValidator(check)


Time = TypeVar("Time", bound=str)
"""The type of a time, which each surface chooses."""

Flag = Annotated[bool, Field(strict=True)]
UnitInterval = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
Label = Annotated[str, Field(max_length=MAX_LABEL_LENGTH)]
Labels = Annotated[list[Label], Field(max_length=MAX_LABELS)]
Name = Annotated[str, Field(min_length=1, max_length=MAX_LABEL_LENGTH)]

AtomRef = Annotated[
    str, Field(min_length=4, max_length=64, description="An atom's id from recall or get, or its last eight letters.")
]
Reason = Annotated[
    str, Field(min_length=1, max_length=2000, description="The reason, in a few words; stored in the history.")
]
RecallId = Annotated[str, Field(min_length=1, max_length=64, description="The recall_id from recall.")]
Private = Annotated[
    Flag, Field(description="Write to this agent's scope instead of the organisation's, if the agent has one.")
]
Agents = Annotated[
    list[Name],
    Field(
        max_length=20, description="Agents it is also for, by name: they find it first, and the organisation finds it."
    ),
]
StatedOrigin = Annotated[
    Literal[Origin.HUMAN, Origin.AGENT, Origin.TOOL, Origin.DOCUMENT, Origin.WEB, Origin.IMPORT, Origin.RADAR] | None,
    Field(
        description="Where the text is from, if it is not yours: web for a page, document for a file, tool for "
        "a tool's output. It can only lower the trust you have; text from the web is held for review."
    ),
]
SessionId = Annotated[Label | None, Field(description="The conversation or document it belongs to.")]
SourceId = Annotated[Label | None, Field(description="The channel it came through, such as telegram or email.")]
OBSERVED_AT = Field(
    description="When it was said or seen: 2026-03-02 or 2026-03-02T09:00Z. Default: now. Dates in the text "
    "such as “next Friday” are relative to it."
)


class TurnFields(VerbArguments, Generic[Time]):
    """One turn of a conversation."""

    content: Annotated[str, Field(max_length=MAX_TURN_LENGTH, description="The text, verbatim.")]
    speaker: Annotated[Label | None, Field(description="Who said it, by name.")] = None
    role: Annotated[Label | None, Field(description="user or assistant, if there is no name.")] = None
    at: Annotated[Time | None, Field(description="When it was said.")] = None


class CaptureOptions(VerbArguments, Generic[Time]):
    """The options of a capture."""

    session_id: SessionId = None
    source_id: SourceId = None
    observed_at: Annotated[Time | None, OBSERVED_AT] = None
    origin: StatedOrigin = None
    agents: Agents = Field(default=[])
    private: Private = False
    wait: Annotated[
        Flag,
        Field(
            description="Wait until statements were extracted, and return the outcome of each. With a chat model this "
            "can take a minute. Without waiting, the text is still stored and searchable immediately."
        ),
    ] = False


StatementText = Annotated[str, Field(min_length=1, max_length=MAX_FACT_BYTES), _limit_bytes(MAX_FACT_BYTES)]
STATEMENT = Field(
    description="The statement: one self-contained sentence that names who or what it is about, up to 64 KiB."
)
KindName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
KIND = Field(
    description="The kind of statement: fact, preference, decision, rule, goal, commitment, procedure, event, habit, "
    "interest, correction, question, reminder, …"
)
SUBJECT = Field(description="Who or what it is about, such as Ann or billing.")
Attribute = Annotated[
    Label | None,
    Field(
        description="Which of the subject's properties it gives, such as employer. With it, a new value replaces "
        "the old one, which becomes history."
    ),
]
Value = Annotated[Label | None, Field(description="The value of that attribute, such as Acme.")]
TAGS = Field(description="Topics, a word or two each.")
Entities = Annotated[Labels, Field(description="Names it mentions.")]
VALID_FROM = Field(description="Since when it is true, if known: 2026-03-02.")
VALID_UNTIL = Field(description="Until when it is true; 2026-03-02 means through that day.")
EXPIRES_AT = Field(description="When it may be archived: a reminder's day.")
_MetadataScalar = (
    Annotated[str, Field(max_length=MAX_METADATA_LENGTH)]
    | bool
    | Annotated[int, Field(ge=-MAX_METADATA_NUMBER, le=MAX_METADATA_NUMBER)]
    | Annotated[float, Field(ge=-MAX_METADATA_NUMBER, le=MAX_METADATA_NUMBER)]
)
Metadata = Annotated[
    dict[Label, _MetadataScalar | Annotated[list[_MetadataScalar], Field(max_length=MAX_LABELS)]],
    Field(max_length=MAX_METADATA_KEYS),
]
METADATA = Field(
    description="Further fields; values are text, numbers, booleans, or lists; in a revision, empty text removes a "
    "key. A value of the profile has profile_key, value and reason; an abstraction origin and topic_tags; a procedure "
    "workflow and canonical."
)
CONFIDENCE = Field(description="The confidence: 1 stated, .7 implied, .4 inferred.")
IMPORTANCE = Field(description="How much it matters; .5 is ordinary.")
Valence = Annotated[
    Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False, strict=True)] | None,
    Field(description="How pleasant (1) or unpleasant (-1) it is; by its words if not given."),
]
Pinned = Annotated[Flag, Field(description="Never fade, and be part of every context. Use it rarely.")]
StatedLayer = Annotated[
    Layer | None,
    Field(description="The layer to write it to, if not that of its kind. A working note needs a run instead."),
]
LinkConfidence = Annotated[UnitInterval, Field(description="The confidence of the link.")]


class RevisionArguments(VerbArguments, Generic[Time]):
    """The fields of a statement that can be given and changed on every surface; those that are missing stay."""

    kind: Annotated[KindName | None, KIND] = None
    subject: Annotated[Label | None, SUBJECT] = None
    attribute: Attribute = None
    value: Value = None
    tags: Annotated[Labels | None, TAGS] = None
    metadata: Annotated[Metadata | None, METADATA] = None
    valid_from: Annotated[Time | None, VALID_FROM] = None
    valid_until: Annotated[Time | None, VALID_UNTIL] = None
    confidence: Annotated[UnitInterval | None, CONFIDENCE] = None
    importance: Annotated[UnitInterval | None, IMPORTANCE] = None
    valence: Valence = None


Question = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_QUESTION_BYTES,
        description="What you want to know, as a question or in key words, up to 4 KiB. Names and dates are used.",
    ),
    _limit_bytes(MAX_QUESTION_BYTES),
]
HitCount = Annotated[int, Field(ge=1, le=MAX_HITS, description="How many hits at most.")]
Layers = Annotated[list[Layer], Field(max_length=len(Layer), description="Only atoms of these layers.")]
SCOPES = Field(min_length=1, description="Search only these scopes of those you may read.")
Blocks = Annotated[
    list[Name],
    Field(max_length=10, description="Workstreams whose notes (memory blocks) are added to the text for an agent."),
]
AS_OF = Field(description="What was true at this time: 2026-03-02 or 2026-03-02T09:00Z. Default: now.")
KNOWN_AT = Field(description="What had been recorded by this time, without what was learned later: 2026-03-02.")
CITED = Field(description="Ids of the atoms the answer was made from.")
VERDICT = Field(
    description="up: the answer was good. down: it was not, for any reason. wrong: what was cited is not so."
)


class QuestionArguments(VerbArguments):
    """A question."""

    question: Question


class RecallOptions(VerbArguments, Generic[Time]):
    """Options of a recall."""

    k: HitCount = 10
    mode: Annotated[
        Literal["full_context", "facts_plus_rules", "facts_only"],
        Field(
            description="full_context searches statements, rules and what was said; facts_plus_rules leaves out what "
            "was said; facts_only leaves out rules as well."
        ),
    ] = "full_context"
    include: Annotated[
        list[Literal["history", "challenged", "constrained"]],
        Field(
            max_length=3,
            description="Also search what is outdated (history), disputed (challenged) or pending review "
            "(constrained). By default none of them is found.",
        ),
    ] = Field(default=[])
    fast: Annotated[bool, Field(description="Skip the final reranking; faster, a little less exact.")] = False
    as_of: Annotated[Time | None, AS_OF] = None
    known_at: Annotated[Time | None, KNOWN_AT] = None
    filter_stale: Annotated[bool, Field(description="Leave out stale and archived atoms.")] = False
    layer: Layers = Field(default=[])
    status: Annotated[
        list[Status],
        Field(
            max_length=len(Status), description="Only atoms of these statuses, instead of the usual ones and include."
        ),
    ] = Field(default=[])
    blocks: Blocks = Field(default=[])
