"""The arguments and options that the reading commands share."""

from __future__ import annotations

from typing import Annotated

import typer

QuestionArgument = Annotated[str, typer.Argument(help="What you want to know.", show_default=False)]
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
SinceOption = Annotated[str, typer.Option("--since", help="yesterday, today, 2d, 3h, or a date like 2026-11-15.")]
BlocksOption = Annotated[
    list[str] | None, typer.Option("--block", help="Add the notes of this workstream to the context; can be repeated.")
]
FilterStaleOption = Annotated[
    bool, typer.Option("--filter-stale", help="Leave out what the last dream marked as stale, and what is archived.")
]
ScopesOption = Annotated[list[str] | None, typer.Option("--only", help="Search this scope only; can be repeated.")]
IncludeOption = Annotated[
    list[str] | None,
    typer.Option("--include", help="Also search history, challenged or constrained atoms; can be repeated."),
]
