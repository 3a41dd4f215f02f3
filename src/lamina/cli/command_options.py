"""The arguments and options that several commands share, and the fields of a statement made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

import typer

from lamina.cli.text_input import parse_metadata_options, parse_time_option

IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="The id of an atom, or the end of it.", show_default=False)
]
IdsArgument = Annotated[
    list[str] | None, typer.Argument(metavar="[ID]...", help="Ids of atoms, or the ends of ids.", show_default=False)
]
QuestionArgument = Annotated[str, typer.Argument(help="What you want to know.", show_default=False)]
NewTextArgument = Annotated[str | None, typer.Argument(help="The new text. Default: unchanged.", show_default=False)]
ReasonOption = Annotated[str, typer.Option("--reason", help="The reason; stored in the journal.")]
OriginOption = Annotated[str | None, typer.Option(help="Where it comes from: human, agent, document, web, …")]
PrivateOption = Annotated[bool, typer.Option("--private", help="Store it in the agent's private scope.")]
TagsOption = Annotated[list[str] | None, typer.Option("--tag", help="A tag; can be repeated.")]
SinceOption = Annotated[str, typer.Option("--since", help="yesterday, today, 2d, 3h, or a date like 2026-11-15.")]
AsOfOption = Annotated[
    str | None,
    typer.Option("--as-of", help="What was true at this time: a date (its start) or a time; UTC unless it has a zone."),
]
KnownAtOption = Annotated[
    str | None,
    typer.Option(
        "--known-at", help="What was known at this time: a date (its end) or a time; UTC unless it has a zone."
    ),
]
LayersOption = Annotated[
    list[str] | None,
    typer.Option("--layer", help="Only profile, semantic, procedural, episodic, … atoms; can be repeated."),
]
StatusesOption = Annotated[
    list[str] | None, typer.Option("--status", help="Only active, constrained, superseded, … atoms; can be repeated.")
]
ValueOption = Annotated[str | None, typer.Option(help="The value of the property.")]
_MemoryTypeOption = Annotated[str | None, typer.Option(help="fact, procedure or narrative.")]


class ClaimOptions(TypedDict, total=False):
    """The kind of a statement, and the claim it fills."""

    kind: Annotated[
        str | None, typer.Option(help="fact, preference, decision, event, …; without one, a new statement is a fact.")
    ]
    subject: Annotated[str | None, typer.Option(help="What it is about; with --attribute it fills a claim.")]
    attribute: Annotated[str | None, typer.Option(help="The property of the subject.")]
    value: ValueOption


class RevisionOptions(ClaimOptions, total=False):
    """The fields of a statement that can be changed."""

    tags: TagsOption
    entities: Annotated[list[str] | None, typer.Option("--entity", help="A person or thing it names; can be repeated.")]
    metadata: Annotated[
        list[str] | None,
        typer.Option(
            "--metadata",
            metavar="KEY=VALUE",
            help="A further field, such as workflow=deploy; can be repeated. true, 0.5 and [a, b] keep their types.",
        ),
    ]
    valid_from: Annotated[str | None, typer.Option(help="True from this time (ISO 8601, UTC).")]
    valid_until: Annotated[str | None, typer.Option(help="True until this time; a date includes that day.")]
    expires_at: Annotated[str | None, typer.Option(help="Not needed after this time.")]
    confidence: Annotated[float | None, typer.Option(help="How sure, 0 to 1.")]
    importance: Annotated[float | None, typer.Option(help="How important, 0 to 1.")]
    valence: Annotated[
        float | None,
        typer.Option(help="How pleasant (1) or unpleasant (-1) it is; by its words if not given.", min=-1, max=1),
    ]
    durability: Annotated[str | None, typer.Option(help="How fast it fades: core, standard or ephemeral.")]
    memory_type: _MemoryTypeOption


class SourceOptions(TypedDict, total=False):
    """The source of words, and whom they are for."""

    session_id: Annotated[str | None, typer.Option("--session", help="The session it belongs to.")]
    source_id: Annotated[str | None, typer.Option("--source", help="The source it came from.")]
    observed_at: Annotated[
        str | None, typer.Option("--at", help="When it was said (ISO 8601, UTC unless it has a zone). Default: now.")
    ]
    origin: OriginOption
    agents: Annotated[
        list[str] | None,
        typer.Option("--agent", help="An agent it is also for, which finds it first; can be repeated."),
    ]
    private: PrivateOption
    key: Annotated[
        str | None, typer.Option(help="Idempotency key: a second request with the same key changes nothing.")
    ]


class StatementOptions(RevisionOptions, SourceOptions, total=False):
    """The fields of a new statement, and why it is written."""

    pinned: Annotated[bool, typer.Option("--pinned", help="Never forgotten or merged by maintenance.")]
    layer: Annotated[
        str | None, typer.Option(help="The layer to write it to: profile, semantic, procedural, episodic, …")
    ]
    reason: Annotated[str | None, typer.Option(help="The reason; stored in the journal.")]


class RecallFilters(TypedDict, total=False):
    """The filters of a recall, and the time it is about."""

    scopes: Annotated[list[str] | None, typer.Option("--only", help="Search this scope only; can be repeated.")]
    include: Annotated[
        list[str] | None,
        typer.Option("--include", help="Also search history, challenged or constrained atoms; can be repeated."),
    ]
    fast: Annotated[bool, typer.Option("--fast", help="Skip the comparison of token states.")]
    as_of: AsOfOption
    known_at: KnownAtOption
    filter_stale: Annotated[
        bool,
        typer.Option("--filter-stale", help="Leave out what the last dream marked as stale, and what is archived."),
    ]
    layer: LayersOption
    status: StatusesOption


class ListFilters(TypedDict, total=False):
    """The filters of a list, and the time as of which it is."""

    layer: LayersOption
    kind: Annotated[str | None, typer.Option(help="Only this kind.")]
    memory_type: _MemoryTypeOption
    subject: Annotated[str | None, typer.Option(help="Only atoms about this subject.")]
    session_id: Annotated[str | None, typer.Option("--session", help="Only atoms of this session.")]
    episode_id: Annotated[
        str | None, typer.Option("--episode", help="Only atoms of this episode: the day and the session, DAY:SESSION.")
    ]
    topic: Annotated[str | None, typer.Option(help="Only statements on this topic; `lamina topics` lists them.")]
    verification: Annotated[str | None, typer.Option(help="user_confirmed, system_inferred, unverified or disputed.")]
    policy_class: Annotated[str | None, typer.Option(help="ephemeral, durable or protected.")]
    lifecycle_state: Annotated[str | None, typer.Option(help="candidate, validated, active, stale or archived.")]
    tier: Annotated[str | None, typer.Option(help="hot or cold.")]
    as_of: AsOfOption
    known_at: KnownAtOption


def select_given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given: no flag that is not set, no value and no list that is missing."""
    return {name: value for name, value in options.items() if value not in (None, []) and value is not False}


def parse_fields(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given fields of a statement, with times and metadata parsed."""
    fields = select_given(options)
    for name in ("valid_from", "observed_at"):
        if name in fields:
            fields[name] = parse_time_option(fields[name])
    for name in ("valid_until", "expires_at"):
        if name in fields:
            fields[name] = parse_time_option(fields[name], end=True)
    if "metadata" in fields:
        fields["metadata"] = parse_metadata_options(fields["metadata"])
    return fields
