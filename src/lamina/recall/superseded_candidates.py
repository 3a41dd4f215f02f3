"""Candidates that ordinary recall does not show but that lead on: superseded and challenged statements.

A question that names only the old value of something must find its successor. These candidates are scored by
themselves, so they change no other score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.passage import passage_digest, passages_of
from lamina.atom.status import Status
from lamina.recall.candidate import Candidate
from lamina.recall.candidate_search import CandidateFilter
from lamina.recall.channel_fusion import fuse_channels
from lamina.recall.late_interaction import add_token_terms
from lamina.recall.model_selection import SelectedModels
from lamina.recall.recall_query import RecallQuery
from lamina.recall.recall_view import RecallView
from lamina.store.base import TextMatch, TextQuery
from lamina.store.encodings import NearPassage, PassageKey
from lamina.vectors.levels import to_query_vector

MAX_SUPERSEDED = 10
"""How many of them are looked at."""
RARE_COUNT = 3
"""A word that at most this many candidates contain may name an old value."""
SEARCHED_STATUSES = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.MERGED, Status.CHALLENGED})


def find_superseded_candidates(
    query: RecallQuery,
    candidate_filter: CandidateFilter,
    models: SelectedModels,
    view: RecallView,
    candidates: Sequence[Candidate],
    *,
    compare_tokens: bool,
) -> list[Candidate]:
    """Return the superseded and challenged statements that contain words of a question which hardly any candidate
    contains, scored like all other candidates; for a question about the past, those that contain any of its words.

    A statement whose source passage is a candidate is left out, because that passage leads on by itself.
    """
    statuses = SEARCHED_STATUSES - candidate_filter.statuses
    tokens = tuple(term.token for term in query.terms) if view.include_past else _rare_tokens(query, candidates)
    if view.is_as_of or view.journal_position is not None or not statuses or not tokens:
        return []
    text_query = TextQuery(
        scopes=candidate_filter.scopes,
        tokens=tokens,
        statuses=statuses,
        memory_types=candidate_filter.memory_types,
        valid_at=view.at,
        limit=MAX_SUPERSEDED,
    )
    matches = sorted(view.store.search_text(text_query), key=lambda entry: (-entry.score, entry.atom_id, entry.n))[
        :MAX_SUPERSEDED
    ]
    atoms = view.atoms(match.atom_id for match in matches) if matches else {}
    matched = [(match, atoms[match.atom_id]) for match in matches if match.atom_id in atoms]
    candidate_keys = {candidate.key for candidate in candidates}
    superseded = _make_candidates(
        [entry for entry in matched if _has_no_candidate_source(entry[1], candidate_keys)], query, models, view
    )
    if superseded:
        fuse_channels(superseded, models.profile, compare_tokens=compare_tokens)
        if compare_tokens:
            add_token_terms(superseded, query.text_without_names, models, view.store)
    return superseded


def _rare_tokens(query: RecallQuery, candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """Return the words of a question that hardly any candidate contains: an ended statement may be the only one."""
    counts = Counter(
        token for candidate in candidates if candidate.match is not None for token, _ in candidate.match.token_scores
    )
    return tuple(term.token for term in query.terms if counts[term.token] <= RARE_COUNT)


def _has_no_candidate_source(atom: Atom, known: Container[PassageKey]) -> bool:
    """Return whether none of the source passages of a statement is a candidate."""
    return not atom.is_segment and not any((evidence.segment, evidence.passage) in known for evidence in atom.evidence)


def _make_candidates(
    matches: list[tuple[TextMatch, Atom]], query: RecallQuery, models: SelectedModels, view: RecallView
) -> list[Candidate]:
    keys = [(match.atom_id, match.n) for match, _ in matches]
    cosines = [0.0] * len(keys)
    if models.main is not None and keys:
        vector = to_query_vector(models.main.encode_question(query.text_without_names).vector)
        cosines = view.store.encodings.cosines(models.main.model.id, vector, keys)
    return [
        Candidate((atom.id, match.n), _make_near(atom, match, cosine), match)
        for (match, atom), cosine in zip(matches, cosines, strict=True)
    ]


def _make_near(atom: Atom, match: TextMatch, cosine: float) -> NearPassage:
    """Return the statement's position in the store, as the vector search would return it."""
    return NearPassage(
        (atom.id, match.n),
        atom.scope,
        cosine,
        match.score,
        atom.status,
        atom.layer,
        atom.origin,
        _to_millis(atom.recorded_at or atom.observed_at),
        "",
        _to_millis(atom.observed_at),
        False,
        False,
        False,
        False,
        f"shelf/{atom.id}",
        0,
        passage_digest(atom, passages_of(atom)[0]),
    )


def _to_millis(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
