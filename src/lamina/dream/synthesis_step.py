"""Step merge: write a synthesis that cites several statements and stands beside them.

Statements with similar meaning form a cluster, statements about one thing a subject. Nothing is merged away: for
identical statements a person decides. A synthesis is valid as long as its sources are unchanged.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import BaseModel, Field

from lamina.atom.atom import Atom, Signals, effective_from
from lamina.atom.passage import passage_model_text, passages_of
from lamina.atom.status import Status
from lamina.capture.llm.quotes import has_only_known_names
from lamina.dream.clusters import find_clusters
from lamina.dream.duplicate_proposals import propose_duplicates
from lamina.dream.model_thresholds import similarity_thresholds
from lamina.dream.step import PlanBuilder, StepContext, StepPlan
from lamina.dream.synthesis import (
    LINE_CHARS,
    MAX_CITED,
    MAX_LINES,
    ExistingSyntheses,
    Theme,
    ThemeBasis,
    build_synthesis,
    distinct_statements,
    quote_members,
)
from lamina.lifecycle.ageing_time import days_since
from lamina.models.chat import Chat, Message, system_message, user_message
from lamina.models.embedder import Embedder, TextToEncode
from lamina.models.encoding_worker import MAX_CHUNKS
from lamina.models.errors import ModelError
from lamina.models.prompt_fence import DATA_ONLY, fence_data, sanitise, strip_invisible
from lamina.text.normal_form import name_form
from lamina.vectors.integer_vectors import Floats, normalise_rows

_MAX_TOKENS = 1024

_RULES = f"""\
You sum up statements of a memory. {DATA_ONLY} Each line of the data is one statement: its number, whom or what it is
about, the day, and the words."""

_TASK = """\
Task: say in one to four short sentences what the statements say together, in their language. What they have in common
comes first. Leave out what does not matter, and add nothing: no guess, no advice, no name or number that is not there.
text: the sentence, without any number of a statement in it.
statements: the numbers of the statements it rests on, at least one."""


class SummarySentence(BaseModel):
    """One sentence as the model returns it."""

    text: str = Field(min_length=1, max_length=300)
    statements: list[Annotated[int, Field(ge=1, le=MAX_LINES)]] = Field(min_length=1, max_length=MAX_LINES)


class Summary(BaseModel):
    """A few sentences; each is checked before it is used."""

    sentences: list[SummarySentence] = Field(min_length=1, max_length=4)


def summarise_cluster(members: Sequence[Atom], chat: Chat) -> str:
    """Return a summary of the members, each sentence with the ids it cites; ModelError if one is not supported."""
    statements = distinct_statements(members)[:MAX_LINES]
    summary = chat.ask(_build_prompt(statements), Summary, most_tokens=_MAX_TOKENS).value
    return "\n".join(_checked_sentence(sentence, statements, chat.model) for sentence in summary.sentences)


def _build_prompt(statements: Sequence[Atom]) -> list[Message]:
    lines = [
        f"{n} | {sanitise(statement.subject or 'nobody in particular', 80).replace('|', '/')} | "
        f"{statement.observed_at:%Y-%m-%d} | {sanitise(statement.content, LINE_CHARS)}"
        for n, statement in enumerate(statements, 1)
    ]
    return [system_message(_RULES), user_message(f"{fence_data(lines)}\n\n{_TASK}")]


def _checked_sentence(sentence: SummarySentence, statements: Sequence[Atom], model: str) -> str:
    text, numbers = strip_invisible(sentence.text), dict.fromkeys(sentence.statements)
    if max(numbers) > len(statements):
        raise ModelError(
            f"{model} cites statement {max(numbers)} of {len(statements)}; run the dream again, or without a chat model"
        )
    cited = [statements[n - 1] for n in numbers]
    words, days = [f"{atom.subject} {atom.content}" for atom in cited], [atom.observed_at.date() for atom in cited]
    if not text or not has_only_known_names(text, words, days):
        raise ModelError(f"{model} says what its sources do not say; run the dream again, or without a chat model")
    return f"{text} {' '.join(f'[{statement.id}]' for statement in cited)}"


SUBJECT_THRESHOLDS = (3, 5, 10, 20)
CLUSTER_THRESHOLDS = (5, 10, 20, 50, 100, 200, 500, 1000)
"""The numbers of statements at which a synthesis is written, and written again."""
MAX_SUBJECT_STATEMENTS = 3
HALF_LIFE_DAYS = 30.0
MAX_MODEL_SUMMARIES = 20
"""The most clusters that a chat model summarises in one dream, largest first; the others quote their members."""


@dataclass(slots=True)
class _MergePlan(PlanBuilder):
    """The changes of the step, and how many summaries a model wrote."""

    model_summaries: int = 0


def merge(context: StepContext) -> StepPlan:
    """Write syntheses of clusters and subjects, retire those whose sources changed, and propose to merge duplicates."""
    statements = sorted(
        (statement for statement in context.statements() if not statement.is_episode),
        key=lambda statement: statement.id,
    )
    syntheses, plan = ExistingSyntheses(context), _MergePlan()
    loose = [atom for atom in statements if not atom.pinned]
    embedder = context.embedder() if len(loose) >= CLUSTER_THRESHOLDS[0] else None
    clusters = list(_cluster_themes(context, embedder, loose)) if embedder is not None else []
    for theme in (*clusters, *_subject_themes(context, statements, syntheses)):
        if context.should_stop():
            return StepPlan(notes=("interrupted; the next dream continues",))
        if not syntheses.covers(theme):
            _write_synthesis(theme, context, syntheses, plan)
    for synthesis in syntheses.stale():
        if synthesis.id not in plan.changes:
            plan.record("retire", synthesis.with_(status=Status.TOMBSTONED), "its sources have changed")
    for duplicate in propose_duplicates(context, statements):
        plan.record("ask", duplicate, f"{len(duplicate.derived_from)} statements with the same text")
    plan.examined = _describe_examined(len(loose), len(clusters), embedder)
    return plan.build()


def _describe_examined(statement_count: int, cluster_count: int, embedder: Embedder | None) -> str:
    """Describe how many statements were compared, by which model, and how many groups have one meaning."""
    examined, least = f"{statement_count:,} statements", CLUSTER_THRESHOLDS[0]
    if embedder is None:
        why = f"fewer than {least}" if statement_count < least else "no embedding model is loaded"
        return f"{examined}, not compared by meaning: {why}"
    cosine = similarity_thresholds(embedder.model.id).cluster
    groups = f"groups of {least} or more with a mean cosine above {cosine}: {cluster_count or 'none'}"
    return f"{examined}, compared by {embedder.model.id}; {groups}"


def _write_synthesis(theme: Theme, context: StepContext, syntheses: ExistingSyntheses, plan: _MergePlan) -> None:
    """Write the synthesis of a theme; it supersedes earlier ones."""
    earlier = [atom for atom in syntheses.replaced_by(theme) if atom.id not in plan.changes]
    synthesis = build_synthesis(theme, _synthesis_text(theme, context, plan), context.scope, next(context.ids))
    # An archived synthesis cannot be superseded: it is ended like those whose sources changed.
    superseded = [atom for atom in earlier if atom.status is not Status.ARCHIVED]
    synthesis = synthesis.with_(supersedes=tuple(atom.id for atom in superseded))
    plan.record(
        "renew" if earlier else "add", synthesis, f"{theme.basis} of {len(theme.members)}: {theme.subject or 'similar'}"
    )
    for atom in earlier:
        if atom.status is Status.ARCHIVED:
            plan.record("retire", atom.with_(status=Status.TOMBSTONED), f"replaced by {synthesis.id}")
        else:
            plan.changes[atom.id] = _supersede(atom, synthesis, context)


def _supersede(synthesis: Atom, successor: Atom, context: StepContext) -> Atom:
    until = context.now if effective_from(synthesis) < context.now else synthesis.valid_until
    superseded_by = (*synthesis.superseded_by, successor.id)
    return synthesis.with_(status=Status.SUPERSEDED, superseded_by=superseded_by, valid_until=until)


def _synthesis_text(theme: Theme, context: StepContext, plan: _MergePlan) -> str:
    writer = context.available_chat
    if writer is None or theme.basis is not ThemeBasis.CLUSTER or plan.model_summaries >= MAX_MODEL_SUMMARIES:
        return quote_members(theme.members)
    plan.model_summaries += 1
    return summarise_cluster(theme.members, writer)


def _cluster_themes(context: StepContext, embedder: Embedder, loose: Sequence[Atom]) -> Iterator[Theme]:
    """Return clusters of statements with similar meaning and different text, the largest first."""
    cosine = similarity_thresholds(embedder.model.id).cluster
    for rows in find_clusters(_load_vectors(context, embedder, loose), cosine):
        members = tuple(loose[row] for row in rows)
        cited = members[:MAX_CITED]
        if len(distinct_statements(cited)) > 1:
            yield Theme(
                ThemeBasis.CLUSTER,
                cited,
                _threshold_reached(len(members), CLUSTER_THRESHOLDS),
                _shared_subject(members),
            )


def _load_vectors(context: StepContext, embedder: Embedder, atoms: Sequence[Atom]) -> Floats:
    """Return a unit vector for each statement; missing ones are computed."""
    stored = context.store.passages.encodings.vectors(embedder.model.id, [(atom.id, 1) for atom in atoms])
    vectors = {atom_id: text_vectors.rows for (atom_id, _), text_vectors in stored.items()}
    missing = [atom for atom in atoms if atom.id not in vectors]
    encoded = embedder.encode_passages(
        [TextToEncode(passage_model_text(atom, passages_of(atom)[0]), MAX_CHUNKS) for atom in missing]
    )
    vectors |= {atom.id: encoding.vectors for atom, encoding in zip(missing, encoded, strict=True)}
    return normalise_rows(np.stack([vectors[atom.id].mean(axis=0) for atom in atoms]))


def _subject_themes(context: StepContext, statements: Sequence[Atom], syntheses: ExistingSyntheses) -> Iterator[Theme]:
    """Return subjects with enough statements, each with its best ones."""
    by_subject: dict[str, list[Atom]] = defaultdict(list)
    for atom in statements:
        by_subject[name_form(atom.subject)].append(atom)
    for subject in sorted(subject for subject in by_subject if subject):
        atoms = by_subject[subject]
        count = _threshold_reached(len(atoms), SUBJECT_THRESHOLDS)
        if count and not syntheses.covers_subject(subject, count) and len(distinct_statements(atoms)) > 1:
            yield Theme(ThemeBasis.SUBJECT, _best_statements(context, atoms), count, atoms[0].subject)


def _best_statements(context: StepContext, atoms: Sequence[Atom]) -> tuple[Atom, ...]:
    """Return the most useful and most recent statements, no two with the same text."""
    counters = context.store.signals.get([atom.id for atom in atoms]).signals

    def usefulness(atom: Atom) -> float:
        quality = counters.get(atom.id, Signals()).quality_score
        recency = math.exp2(-days_since(atom.observed_at, context.now) / HALF_LIFE_DAYS)
        return round(quality * recency, 4)  # statements of the same minutes are equally recent

    ranked = sorted(atoms, key=lambda atom: (-usefulness(atom), atom.id))
    return tuple(distinct_statements(ranked)[:MAX_SUBJECT_STATEMENTS])


def _threshold_reached(count: int, thresholds: Sequence[int]) -> int:
    return max((rung for rung in thresholds if rung <= count), default=0)


def _shared_subject(members: Sequence[Atom]) -> str:
    subjects = {name_form(member.subject): member.subject for member in members}
    return next(iter(subjects.values())) if len(subjects) == 1 else ""
