"""The arguments of the tools, each described for an agent that has never used lamina, and bounded."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from lamina.atom.relation import RelationName
from lamina.atom.trust import Origin
from lamina.errors import InvalidInput

MAX_FACT_BYTES = 64 * 1024
MAX_QUESTION_BYTES = 4 * 1024
MAX_CAPTURE_LENGTH = 512 * 1024
MAX_LABEL_LENGTH = 500
MAX_REASON_LENGTH = 2000
MAX_HITS = 100
MAX_TURNS = 2000
MAX_LABELS = 100
MAX_TOKENS = 32_000
MAX_ITEMS = 200

_STATED_ORIGINS = [origin.value for origin in Origin if origin is not Origin.DREAM]

Id = Annotated[
    str, Field(min_length=4, max_length=64, description="An atom's id from recall or get, or its last eight letters.")
]
Label = Annotated[str, Field(max_length=MAX_LABEL_LENGTH)]
Reason = Annotated[
    str,
    Field(min_length=1, max_length=MAX_REASON_LENGTH, description="The reason, in a few words; stored in the history."),
]
StatementText = Annotated[str, Field(min_length=1, max_length=MAX_FACT_BYTES)]
Timestamp = Annotated[str, Field(max_length=40)]
IdempotencyKey = Annotated[
    str | None,
    Field(
        max_length=200,
        description="A unique key for this write. If sent again with the same key, nothing is written twice; "
        "use one if you may have to retry.",
    ),
]
StatedOrigin = Annotated[
    str | None,
    Field(
        description="Where the text is from, if it is not yours: web for a page, document for a file, tool for "
        "a tool's output. It can only lower the trust you have; text from the web is held for review.",
        json_schema_extra={"enum": [*_STATED_ORIGINS, None]},
    ),
]
Private = Annotated[
    bool, Field(description="Write to this agent's scope instead of the organisation's, if the agent has one.")
]
SessionId = Annotated[
    str | None, Field(max_length=MAX_LABEL_LENGTH, description="The conversation or document it belongs to.")
]
SourceId = Annotated[
    str | None,
    Field(max_length=MAX_LABEL_LENGTH, description="The channel it came through, such as telegram or email."),
]
ObservedAt = Annotated[
    Timestamp | None,
    Field(
        description="When it was said or seen: 2026-03-02 or 2026-03-02T09:00Z. Default: now. Dates in the text "
        "such as “next Friday” are relative to it."
    ),
]
AsOf = Annotated[
    Timestamp | None, Field(description="What was true at this time: 2026-03-02 or 2026-03-02T09:00Z. Default: now.")
]
KnownAt = Annotated[
    Timestamp | None,
    Field(description="What had been recorded by this time, without what was learned later: 2026-03-02."),
]
Subject = Annotated[
    str, Field(max_length=MAX_LABEL_LENGTH, description="Who or what it is about, such as Ann or billing.")
]
Attribute = Annotated[
    str | None,
    Field(
        max_length=MAX_LABEL_LENGTH,
        description="Which of the subject's properties it gives, such as employer. With it, a new value replaces "
        "the old one, which becomes history.",
    ),
]
Value = Annotated[
    str | None, Field(max_length=MAX_LABEL_LENGTH, description="The value of that attribute, such as Acme.")
]
Labels = Annotated[list[Label], Field(max_length=MAX_LABELS)]
Kind = Annotated[
    str,
    Field(
        pattern=r"^[a-z][a-z0-9_-]{0,39}$",
        description="The kind of statement: fact, preference, decision, rule, goal, commitment, procedure, event, "
        "habit, interest, correction, question, reminder, …",
    ),
]
UnitInterval = Annotated[float, Field(ge=0, le=1)]


class ToolArguments(BaseModel):
    """The arguments of one tool; undeclared ones are rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def reject_unused_arguments(arguments: ReviseArguments | ReviewArguments, used: Collection[str], hint: str) -> None:
    """Raise InvalidInput if an argument was given that the action does not use: ignoring it would mislead."""
    unused = [name for name in type(arguments).model_fields if name in arguments.model_fields_set and name not in used]
    extra = [name for name in unused if getattr(arguments, name) is not None]
    if extra:
        raise InvalidInput(f"action {arguments.action} does not use {' or '.join(extra)}; {hint}")


class TurnArguments(ToolArguments):
    """One turn of a conversation."""

    content: Annotated[str, Field(max_length=MAX_CAPTURE_LENGTH, description="The text, verbatim.")]
    speaker: Annotated[Label | None, Field(description="Who said it, by name.")] = None
    role: Annotated[Label | None, Field(description="user or assistant, if there is no name.")] = None
    at: Annotated[Timestamp | None, Field(description="When it was said.")] = None


class CaptureArguments(ToolArguments):
    """Text to store verbatim: `words` or `turns`, one of them."""

    words: Annotated[
        str | None,
        Field(max_length=MAX_CAPTURE_LENGTH, description="Plain text, markdown or a transcript. Give this or turns."),
    ] = None
    turns: Annotated[
        list[TurnArguments] | None,
        Field(max_length=MAX_TURNS, description="A conversation, turn by turn, oldest first. Give this or words."),
    ] = None
    session_id: SessionId = None
    source_id: SourceId = None
    observed_at: ObservedAt = None
    origin: StatedOrigin = None
    private: Private = False
    key: IdempotencyKey = None
    wait: Annotated[
        bool,
        Field(
            description="Wait until statements were extracted, and return the outcome of each. With a "
            "chat model this can take a minute. Without waiting, the text is still stored and searchable immediately."
        ),
    ] = False


class RememberArguments(ToolArguments):
    """One explicit statement."""

    content: Annotated[
        StatementText,
        Field(
            description="The statement: one self-contained sentence that names who or what it is about, up to 64 KiB."
        ),
    ]
    kind: Kind = "fact"
    subject: Subject = ""
    attribute: Attribute = None
    value: Value = None
    tags: Annotated[Labels, Field(description="Topics, a word or two each.")] = []
    entities: Annotated[Labels, Field(description="Names it mentions.")] = []
    valid_from: Annotated[Timestamp | None, Field(description="Since when it is true, if known: 2026-03-02.")] = None
    valid_until: Annotated[
        Timestamp | None, Field(description="Until when it is true; 2026-03-02 means through that day.")
    ] = None
    expires_at: Annotated[Timestamp | None, Field(description="When it may be archived: a reminder's day.")] = None
    observed_at: ObservedAt = None
    confidence: Annotated[UnitInterval, Field(description="The confidence: 1 stated, .7 implied, .4 inferred.")] = 1.0
    importance: Annotated[UnitInterval, Field(description="How much it matters; .5 is ordinary.")] = 0.5
    pinned: Annotated[bool, Field(description="Never fade, and be part of every context. Use it rarely.")] = False
    session_id: SessionId = None
    source_id: SourceId = None
    origin: StatedOrigin = None
    private: Private = False
    reason: Reason = "asked to remember"
    key: IdempotencyKey = None


class RecallArguments(ToolArguments):
    """A question."""

    question: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_QUESTION_BYTES,
            description="What you want to know, as a question or in key words, up to 4 KiB. Names and dates are used.",
        ),
    ]
    k: Annotated[int, Field(ge=1, le=MAX_HITS, description="How many hits at most.")] = 10
    budget: Annotated[
        int, Field(ge=100, le=MAX_TOKENS, description="The maximum of tokens in the text of the answer.")
    ] = 2000
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
    ] = []
    scopes: Annotated[
        list[Label] | None,
        Field(min_length=1, max_length=10, description="Search only these scopes of those you may read."),
    ] = None
    as_of: AsOf = None
    known_at: KnownAt = None
    filter_stale: Annotated[bool, Field(description="Leave out stale and archived atoms.")] = False
    fast: Annotated[bool, Field(description="Skip the final reranking; faster, a little less exact.")] = False
    explain: Annotated[bool, Field(description="Also give every term and weight of each score, in `explained`.")] = (
        False
    )


class FeedbackArguments(ToolArguments):
    """How good an answer made from a recall was."""

    recall_id: Annotated[str, Field(min_length=1, max_length=64, description="The recall_id from recall.")]
    cited: Annotated[
        list[Id], Field(max_length=MAX_HITS, description="Ids of the atoms the answer was made from.")
    ] = []
    verdict: Annotated[
        Literal["up", "down", "wrong"],
        Field(
            description="up: the answer was good. down: it was not, for any reason. wrong: what was cited is not so."
        ),
    ] = "up"


class GetArguments(ToolArguments):
    """Which atom."""

    id: Id
    history: Annotated[bool, Field(description="Also every version and status change, oldest first.")] = False
    neighbours: Annotated[bool, Field(description="Also the atoms linked to or from it.")] = False
    as_of: AsOf = None
    known_at: KnownAt = None


class ReviseArguments(ToolArguments):
    """What to change in an atom."""

    id: Id
    action: Annotated[
        Literal["text", "status", "pin", "unpin", "promote", "demote", "resolve"],
        Field(
            description="text: new text or fields. status: change it to `status`. pin / unpin: protect it from "
            "fading, or not. promote / demote: one layer up, where atoms last, or down, where they fade unless used. "
            "resolve: a commitment, goal or reminder is done."
        ),
    ] = "text"
    content: Annotated[StatementText | None, Field(description="For text: the new text.")] = None
    subject: Annotated[Subject | None, Field(description="For text: who or what it is about.")] = None
    attribute: Attribute = None
    value: Value = None
    kind: Annotated[Kind | None, Field(description="For text: the new kind.")] = None
    tags: Annotated[Labels | None, Field(description="For text: topics that replace the present ones.")] = None
    valid_from: Annotated[Timestamp | None, Field(description="For text: since when it is true.")] = None
    valid_until: Annotated[Timestamp | None, Field(description="For text: until when it is true.")] = None
    confidence: Annotated[UnitInterval | None, Field(description="For text: the confidence.")] = None
    importance: Annotated[UnitInterval | None, Field(description="For text: how much it matters.")] = None
    status: Annotated[
        Literal["active", "challenged", "superseded", "invalidated", "archived", "tombstoned"] | None,
        Field(
            description="For status: the new status. superseded: it was true once; invalidated: it never was; "
            "challenged: it is disputed; archived: no longer in use, still found; tombstoned: as forget does; active "
            "from an ended status restores it."
        ),
    ] = None
    reason: Reason


class ForgetArguments(ToolArguments):
    """Which atom, and why."""

    id: Id
    reason: Reason


class RelateArguments(ToolArguments):
    """A link between two atoms."""

    a: Annotated[Id, Field(description="The id of the atom the link starts from.")]
    relation: Annotated[RelationName, Field(description="What a is to b.")]
    b: Annotated[Id, Field(description="The id of the atom the link leads to.")]
    confidence: Annotated[UnitInterval, Field(description="The confidence of the link.")] = 1.0


class ReviewArguments(ToolArguments):
    """What to do about pending items."""

    action: Annotated[
        Literal["list", "confirm", "reject", "edit", "keep", "both", "merge", "later"],
        Field(
            description="list shows pending items. A statement: confirm, reject, or edit (confirm with `content`). A "
            "contradicting pair: keep `id` over `other`, both are valid, merge them into `content`, or later."
        ),
    ] = "list"
    id: Annotated[Id | None, Field(description="The statement; of a pair the one to keep, or any of both.")] = None
    other: Annotated[Id | None, Field(description="The other one of a pair.")] = None
    content: Annotated[StatementText | None, Field(description="For edit and merge: the text to confirm.")] = None
    value: Value = None
    source: Annotated[
        str | None,
        Field(max_length=MAX_LABEL_LENGTH, description="list, confirm or reject everything from this source."),
    ] = None
    kind: Annotated[
        Literal["deletions", "dream", "statement", "proposal", "pair"] | None,
        Field(description="For list: only pending items of this kind."),
    ] = None
    limit: Annotated[int, Field(ge=1, le=MAX_ITEMS, description="For list: how many at most.")] = 20
    reason: Annotated[Reason | None, Field(description="The person's reason, in a few words; kept in the history.")] = (
        None
    )


class StatusArguments(ToolArguments):
    """No arguments."""
