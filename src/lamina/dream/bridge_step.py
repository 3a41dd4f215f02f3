"""Step bridge: find two names with similar statements and no link, and propose an insight for review.

The text of an insight comes from a template, or from a chat model that cites both sides and adds no name.
"""

from __future__ import annotations

from calendar import day_name, month_name
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from typing import Annotated, TypeAlias

import numpy as np
from pydantic import BaseModel, Field

from lamina.atom.atom import Atom, AtomId, Relation, RelationName, kind_defaults
from lamina.atom.passage import is_role
from lamina.atom.proposals_and_pairs import PROPOSAL_TYPE_KEY, ProposalType
from lamina.atom.provenance import Origin
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.capture.llm.quotes import has_only_known_names
from lamina.dream.model_thresholds import SimilarityThresholds, similarity_thresholds
from lamina.dream.step import PlanBuilder, StepContext, StepPlan
from lamina.lifecycle.relation_strength import TRAVERSAL_THRESHOLD
from lamina.models.chat import Chat, system_message, user_message
from lamina.models.errors import ModelError
from lamina.models.prompt_fence import DATA_ONLY, fence_data, sanitise
from lamina.recall.name_recognition import SentenceTokenKind, tokenise_sentence
from lamina.text.normal_form import normal_form, one_line, shorten_line
from lamina.vectors.integer_vectors import Floats

MAX_LINES = 6
_MAX_CHARS = 240
_MAX_TOKENS = 300
_RULES = f"You look for what two things have to do with each other. {DATA_ONLY} Each line of the data is one statement."
_TASK = """\
Task: say in one sentence what the first and the second name may have to do with each other, naming both, and only with
what the numbered lines say. cites: the numbers of the lines it rests on, at least one about each."""

NamedStatements: TypeAlias = tuple[str, Sequence[Atom]]
"""A name and the statements about it that are nearest to the other name."""


class Insight(BaseModel):
    """A sentence as the model returns it."""

    sentence: str = Field(min_length=1, max_length=_MAX_CHARS)
    cites: list[Annotated[int, Field(ge=1, le=MAX_LINES)]] = Field(max_length=MAX_LINES)


def write_from_template(side_a: NamedStatements, side_b: NamedStatements) -> str:
    """Return a sentence that two names may be related, with the best statement of each."""
    quotes = " / ".join(
        f"{shorten_line(atoms[0].content, _MAX_CHARS)} [{atoms[0].id}]" for _, atoms in (side_a, side_b)
    )
    return f"{side_a[0]} and {side_b[0]} may have to do with each other: {quotes}"


def write_with_model(chat: Chat, side_a: NamedStatements, side_b: NamedStatements) -> str:
    """Return a model's sentence with its citations; ModelError if it cites one side only or adds a name."""
    statements = [*side_a[1], *side_b[1]]
    numbered = [f"{n} | {sanitise(statement.content, _MAX_CHARS)}" for n, statement in enumerate(statements, 1)]
    names = [f"first name | {sanitise(side_a[0], 60)}", f"second name | {sanitise(side_b[0], 60)}"]
    messages = [system_message(_RULES), user_message(f"{fence_data([*names, *numbered])}\n\n{_TASK}")]
    reply = chat.ask(messages, Insight, most_tokens=_MAX_TOKENS).value
    cited, first = sorted({n for n in reply.cites if n <= len(statements)}), len(side_a[1])
    cites_both = any(n <= first for n in cited) and any(n > first for n in cited)
    texts = [*(statement.content for statement in statements), side_a[0], side_b[0]]
    if not cites_both or not has_only_known_names(reply.sentence, texts, ()):
        raise ModelError(
            "the chat model's insight is not supported by the statements it was given; run the dream again"
        )
    return f"{one_line(reply.sentence)} {' '.join(f'[{statements[n - 1].id}]' for n in cited)}"


MAX_PER_DAY = 3
DAY = timedelta(hours=24)
MIN_STATEMENTS = 3
"""The fewest statements of a name."""
MAX_NAMES, MAX_ATOMS = 1000, 20
"""The most names, by number of statements, and the most statements of each, newest first."""
MAX_QUOTED = 3
PAIR_KEY = "between"
_COSINE_DIGITS = 4
_CALENDAR_WORDS = frozenset(word.lower() for word in (*month_name, *day_name) if word)
_OPEN_STATUSES = frozenset({*RECALL_WEIGHT, Status.CHALLENGED, Status.CONSTRAINED})


@dataclass(frozen=True, slots=True)
class NameCentroid:
    """A name, the statements that name it, their vectors, and the centre of the vectors.

    `atoms` are the newest of all statements with the name, whose ids are in `all_ids`.
    """

    name: str
    all_ids: frozenset[AtomId]
    atoms: tuple[Atom, ...]
    vectors: Floats
    centre: Floats

    def nearest(self, centre: Floats) -> tuple[Atom, ...]:
        """Return the statements nearest to a centre."""
        cosines = np.round(self.vectors @ centre, _COSINE_DIGITS).tolist()
        order = sorted(range(len(self.atoms)), key=lambda n: (-cosines[n], self.atoms[n].id))
        return tuple(self.atoms[n] for n in order[:MAX_QUOTED])


def bridge(context: StepContext) -> StepPlan:
    """Propose insights about the most similar pairs of names that nothing links; none unless insights are enabled."""
    if not context.insights_enabled:
        return StepPlan(examined="nothing: insights are off (the setting `insights`)")
    earlier = [
        insight
        for insight in context.read(kinds=frozenset({"insight"}))
        if insight.origin is Origin.DREAM and PAIR_KEY in insight.metadata
    ]
    remaining = MAX_PER_DAY - sum(context.now - insight.observed_at < DAY for insight in earlier)
    if remaining <= 0:
        return StepPlan(notes=(f"the daily limit of {MAX_PER_DAY} insights is reached",))
    embedder = context.embedder()
    if embedder is None:
        return StepPlan(notes=("no embedding model is loaded, so names cannot be compared",))
    decided, plan = {insight.metadata[PAIR_KEY] for insight in earlier}, PlanBuilder()
    centroids, thresholds = _load_centroids(context, embedder.model.id), similarity_thresholds(embedder.model.id)
    pairs = list(_similar_pairs(centroids, thresholds))
    plan.examined = (
        f"{len(centroids):,} names with {MIN_STATEMENTS} statements or more, compared by {embedder.model.id}; "
        f"pairs with a cosine of {thresholds.bridge_min} to {thresholds.bridge_max}: {len(pairs) or 'none'}"
    )
    known_count = 0
    for cosine, first, second in pairs:
        if len(plan.changes) == remaining:
            break
        if _pair_key(first, second) in decided or _are_linked(first, second, context):
            known_count += 1
            continue
        insight = _build_insight(first, second, cosine, context)
        plan.record("propose", insight, f"cosine {cosine:.2f}, and nothing links them")
    plan.examined += f"; linked or proposed before: {known_count}" if known_count else ""
    return plan.build()


def _load_centroids(context: StepContext, model: str) -> list[NameCentroid]:
    """Return a centroid for each name with enough statements, the most mentioned first."""
    by_name: dict[str, dict[AtomId, Atom]] = defaultdict(dict)
    spelling: dict[str, str] = {}
    statements = context.statements()
    for atom in statements:
        for name in (*atom.entities, atom.subject, *_names_in(atom.content)):
            form = normal_form(name)
            if form and not is_role(name) and form not in _CALENDAR_WORDS:
                by_name[form][atom.id] = atom
                spelling.setdefault(form, name)
    for atom in statements:
        first_word = normal_form(atom.content.partition(" ")[0])
        if first_word in by_name:  # every first word has a capital, so it is a name only if it is one elsewhere
            by_name[first_word][atom.id] = atom
    order = sorted(
        (form for form in by_name if len(by_name[form]) >= MIN_STATEMENTS), key=lambda form: (-len(by_name[form]), form)
    )
    chosen = {form: tuple(by_name[form].values())[:MAX_ATOMS] for form in order[:MAX_NAMES]}
    ids = sorted({atom.id for atoms in chosen.values() for atom in atoms})
    stored = context.store.passages.encodings.vectors(model, [(atom_id, 1) for atom_id in ids])
    vectors = {atom_id: text_vectors.rows for (atom_id, _), text_vectors in stored.items()}
    centroids = (
        _build_centroid(spelling[form], frozenset(by_name[form]), atoms, vectors) for form, atoms in chosen.items()
    )
    return [centroid for centroid in centroids if centroid is not None]


def _names_in(text: str) -> list[str]:
    """Return the names in a sentence: runs of capitalised words, not the first word alone."""
    runs = groupby(tokenise_sentence(text), key=lambda token: token.kind is SentenceTokenKind.NAME)
    return [" ".join(token.text for token in run) for is_name, run in runs if is_name]


def _build_centroid(
    name: str, all_ids: frozenset[AtomId], atoms: Sequence[Atom], vectors: Mapping[AtomId, Floats]
) -> NameCentroid | None:
    embedded = tuple(atom for atom in atoms if atom.id in vectors)
    if len(embedded) < MIN_STATEMENTS:
        return None
    rows = np.stack([vectors[atom.id][0] for atom in embedded]).astype(np.float32)
    centre = rows.mean(axis=0)
    length = float(np.linalg.norm(centre))
    return NameCentroid(name, all_ids, embedded, rows, centre / np.float32(length)) if length else None


def _similar_pairs(
    centroids: Sequence[NameCentroid], thresholds: SimilarityThresholds
) -> Iterator[tuple[float, NameCentroid, NameCentroid]]:
    """Return the pairs that are similar and not the same, the most similar first."""
    if len(centroids) < 2:
        return
    centres = np.stack([centroid.centre for centroid in centroids])
    cosines = np.round(centres @ centres.T, _COSINE_DIGITS)
    is_similar = (cosines >= thresholds.bridge_min) & (cosines <= thresholds.bridge_max)
    rows, columns = np.nonzero(np.triu(is_similar, 1))
    pairs = [
        (float(cosines[i, j]), centroids[i], centroids[j]) for i, j in zip(rows.tolist(), columns.tolist(), strict=True)
    ]
    yield from sorted(pairs, key=lambda pair: (-pair[0], _pair_key(pair[1], pair[2])))


def _pair_key(first: NameCentroid, second: NameCentroid) -> str:
    return " | ".join(sorted((normal_form(first.name), normal_form(second.name))))


def _are_linked(first: NameCentroid, second: NameCentroid, context: StepContext) -> bool:
    """Return whether a path of three hops connects the names: over one atom, or over two linked atoms."""
    first_atoms, second_atoms = (centroid.all_ids | _atoms_naming(centroid, context) for centroid in (first, second))
    if first_atoms & second_atoms:
        return True
    edges = context.store.graph.edges(sorted(first_atoms), (context.scope,), _OPEN_STATUSES)
    ends = ({edge.source, edge.target} for edge in edges if edge.confidence >= TRAVERSAL_THRESHOLD)
    return any(end & first_atoms and end & second_atoms for end in ends)


def _atoms_naming(centroid: NameCentroid, context: StepContext) -> set[str]:
    form = normal_form(centroid.name)
    shared = {f"entity:{form}", f"subject:{form}"}
    edges = context.store.graph.edges(sorted(shared), (context.scope,), _OPEN_STATUSES)
    return {str(edge.source) for edge in edges if edge.target in shared}


def _build_insight(first: NameCentroid, second: NameCentroid, cosine: float, context: StepContext) -> Atom:
    sides = (first.name, first.nearest(second.centre)), (second.name, second.nearest(first.centre))
    chat = context.available_chat
    content = write_with_model(chat, *sides) if chat is not None else write_from_template(*sides)
    sources = tuple(dict.fromkeys(atom.id for _, atoms in sides for atom in atoms))
    links = tuple(Relation(RelationName.LEADS_TO, atoms[0].id, cosine, context.now) for _, atoms in sides)
    return Atom(
        id=next(context.ids),
        scope=context.scope,
        kind="insight",
        content=content,
        observed_at=context.now,
        entities=(first.name, second.name),
        origin=Origin.DREAM,
        derived_from=sources,
        relations=links,
        status=Status.CONSTRAINED,
        confidence=0.5,
        importance=0.6,
        metadata={
            PROPOSAL_TYPE_KEY: ProposalType.INSIGHT.value,
            "origin": "bridge",
            PAIR_KEY: _pair_key(first, second),
        },
        **kind_defaults("insight", 0.5, Origin.DREAM),
    )
