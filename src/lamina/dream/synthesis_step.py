"""Step 2, merge: write a synthesis that cites several statements and stands beside them.

Statements with similar meaning form a cluster, statements about one thing a subject. Nothing is merged away: for
identical statements a person is asked. A synthesis is valid as long as its sources are unchanged.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from lamina.atom.atom import Atom, Signals
from lamina.atom.effective_status import effective_from
from lamina.atom.identity import AtomId
from lamina.atom.passage import passage_model_text, passages_of
from lamina.atom.status import Status
from lamina.dream.cluster_summary import summarise_cluster
from lamina.dream.clusters import find_clusters
from lamina.dream.duplicates import propose_duplicates
from lamina.dream.step_context import StepContext
from lamina.dream.step_plan import Move, StepPlan
from lamina.dream.syntheses import ExistingSyntheses
from lamina.dream.synthesis import MAX_CITED, Theme, ThemeBasis, build_synthesis, distinct_statements, quote_members
from lamina.lifecycle.ageing_time import days_since
from lamina.models.embedder import Embedder, TextToEncode
from lamina.models.encoding_worker import MAX_CHUNKS
from lamina.models.unit_vectors import normalise_rows
from lamina.text.normal_form import name_form, one_line
from lamina.vectors.levels import Floats

SUBJECT_THRESHOLDS = (3, 5, 10, 20)
CLUSTER_THRESHOLDS = (5, 10, 20, 50, 100, 200, 500, 1000)
"""The numbers of statements at which a synthesis is written, and written again."""
MAX_SUBJECT_STATEMENTS = 3
HALF_LIFE_DAYS = 30.0
MAX_MODEL_SUMMARIES = 20
"""The most clusters that a chat model summarises in one dream, largest first; the others quote their members."""
_TEXT_CHARS = 80


@dataclass(slots=True)
class _MergeResult:
    """The changes that the step collects."""

    changes: dict[AtomId, Atom] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    model_summaries: int = 0

    def record(self, action: str, atom: Atom, why: str) -> None:
        self.changes[atom.id] = atom
        self.moves.append(Move(action, atom.id, one_line(atom.content)[:_TEXT_CHARS], why))


def merge(context: StepContext) -> StepPlan:
    """Write syntheses of clusters and subjects, retire those whose sources changed, and propose to merge duplicates."""
    statements = sorted(
        (statement for statement in context.statements() if not statement.is_episode),
        key=lambda statement: statement.id,
    )
    syntheses, result = ExistingSyntheses(context), _MergeResult()
    for theme in (*_cluster_themes(context, statements), *_subject_themes(context, statements, syntheses)):
        if context.should_stop():
            return StepPlan(notes=("interrupted; the next dream continues",))
        if not syntheses.covers(theme):
            _write_synthesis(theme, context, syntheses, result)
    for synthesis in syntheses.stale():
        if synthesis.id not in result.changes:
            result.record("let go", synthesis.with_(status=Status.TOMBSTONED), "its sources have changed")
    for duplicate in propose_duplicates(context, statements):
        result.record("ask", duplicate, f"{len(duplicate.derived_from)} statements with the same text")
    return StepPlan(tuple(result.changes.values()), tuple(result.moves))


def _write_synthesis(theme: Theme, context: StepContext, syntheses: ExistingSyntheses, result: _MergeResult) -> None:
    """Write the synthesis of a theme; it supersedes earlier ones."""
    earlier = [atom for atom in syntheses.replaced_by(theme) if atom.id not in result.changes]
    synthesis = build_synthesis(theme, _synthesis_text(theme, context, result), context.scope, next(context.ids))
    # An archived synthesis cannot be superseded: it is ended like those whose sources changed.
    superseded = [atom for atom in earlier if atom.status is not Status.ARCHIVED]
    synthesis = synthesis.with_(supersedes=tuple(atom.id for atom in superseded))
    result.record(
        "renew" if earlier else "add", synthesis, f"{theme.basis} of {len(theme.members)}: {theme.subject or 'similar'}"
    )
    for atom in earlier:
        if atom.status is Status.ARCHIVED:
            result.record("let go", atom.with_(status=Status.TOMBSTONED), f"replaced by {synthesis.id}")
        else:
            result.changes[atom.id] = _supersede(atom, synthesis, context)


def _supersede(synthesis: Atom, successor: Atom, context: StepContext) -> Atom:
    until = context.now if effective_from(synthesis) < context.now else synthesis.valid_until
    superseded_by = (*synthesis.superseded_by, successor.id)
    return synthesis.with_(status=Status.SUPERSEDED, superseded_by=superseded_by, valid_until=until)


def _synthesis_text(theme: Theme, context: StepContext, result: _MergeResult) -> str:
    writer = context.available_chat
    if writer is None or theme.basis is not ThemeBasis.CLUSTER or result.model_summaries >= MAX_MODEL_SUMMARIES:
        return quote_members(theme.members)
    result.model_summaries += 1
    return summarise_cluster(theme.members, writer)


def _cluster_themes(context: StepContext, statements: Sequence[Atom]) -> Iterator[Theme]:
    """Return clusters of statements with similar meaning and different text, the largest first."""
    loose = [atom for atom in statements if not atom.pinned]
    embedder = context.embedder() if len(loose) >= CLUSTER_THRESHOLDS[0] else None
    if embedder is None:
        return
    for rows in find_clusters(_load_vectors(context, embedder, loose)):
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
    vectors = context.store.encodings.vectors(embedder.model.id, [atom.id for atom in atoms])
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
    counters = context.store.ledger.signals_of([atom.id for atom in atoms])

    def usefulness(atom: Atom) -> float:
        quality = counters.get(atom.id, Signals()).quality_score
        return quality * math.exp2(-days_since(atom.observed_at, context.now) / HALF_LIFE_DAYS)

    ranked = sorted(atoms, key=lambda atom: (-usefulness(atom), atom.id))
    return tuple(distinct_statements(ranked)[:MAX_SUBJECT_STATEMENTS])


def _threshold_reached(count: int, thresholds: Sequence[int]) -> int:
    return max((rung for rung in thresholds if rung <= count), default=0)


def _shared_subject(members: Sequence[Atom]) -> str:
    subjects = {name_form(member.subject): member.subject for member in members}
    return next(iter(subjects.values())) if len(subjects) == 1 else ""
