"""Candidates that ordinary recall does not show but that lead on: superseded and challenged statements.

A question that names only the old value of something must find its successor. These candidates are scored by
themselves, so they change no other score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from datetime import datetime

from lamina.atom.atom import Atom
from lamina.atom.passage import digest_of, passages_of
from lamina.atom.status import Status
from lamina.recall.asked import Asked
from lamina.recall.candidate import Candidate
from lamina.recall.fuse import fuse
from lamina.recall.gather import Admitted
from lamina.recall.lens import Lens
from lamina.recall.rerank import rerank
from lamina.recall.view import View
from lamina.store.base import Match, TextQuery
from lamina.store.encodings import Key, Near
from lamina.vectors.levels import to_asked

POOL = 10
"""How many of them are looked at."""
RARE = 3
"""A word that at most this many candidates contain may name an old value."""
LEADING = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.MERGED, Status.CHALLENGED})


def shelf(
    asked: Asked, admitted: Admitted, lens: Lens, view: View, candidates: Sequence[Candidate], *, closely: bool
) -> list[Candidate]:
    """Return the superseded and challenged statements that contain words of a question which hardly any candidate
    contains, scored like all other candidates; for a question about the past, those that contain any of its words.

    A statement whose source passage is a candidate is left out, because that passage leads on by itself.
    """
    statuses = LEADING - admitted.statuses
    tokens = tuple(term.token for term in asked.terms) if view.past else _unheard(asked, candidates)
    if view.as_of or view.seq is not None or not statuses or not tokens:
        return []
    text_query = TextQuery(
        scopes=admitted.scopes,
        tokens=tokens,
        statuses=statuses,
        memory_types=admitted.memory_types,
        valid_at=view.at,
        limit=POOL,
    )
    matches = sorted(view.store.search(text_query), key=lambda entry: (-entry.score, entry.atom_id, entry.n))[:POOL]
    atoms = view.atoms(match.atom_id for match in matches) if matches else {}
    matched = [(match, atoms[match.atom_id]) for match in matches if match.atom_id in atoms]
    candidate_keys = {candidate.key for candidate in candidates}
    superseded = _candidates([entry for entry in matched if _is_alone(entry[1], candidate_keys)], asked, lens, view)
    if superseded:
        fuse(superseded, lens.recipe, closely=closely)
        if closely:
            rerank(superseded, asked.meant, lens, view.store)
    return superseded


def _unheard(asked: Asked, candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """Return the words of a question that hardly any candidate contains: an ended statement may be the only one."""
    counts = Counter(
        token for candidate in candidates if candidate.match is not None for token, _ in candidate.match.parts
    )
    return tuple(term.token for term in asked.terms if counts[term.token] <= RARE)


def _is_alone(atom: Atom, known: Container[Key]) -> bool:
    """Return whether none of the source passages of a statement is a candidate."""
    return not atom.is_segment and not any((evidence.segment, evidence.passage) in known for evidence in atom.evidence)


def _candidates(there: list[tuple[Match, Atom]], asked: Asked, lens: Lens, view: View) -> list[Candidate]:
    keys = [(match.atom_id, match.n) for match, _ in there]
    cosines = [0.0] * len(keys)
    if lens.main is not None and keys:
        vector = to_asked(lens.main.question(asked.meant).vector)
        cosines = view.store.encodings.cosines(lens.main.model.id, vector, keys)
    return [
        Candidate((atom.id, match.n), _near(atom, match, cosine), match)
        for (match, atom), cosine in zip(there, cosines, strict=True)
    ]


def _near(atom: Atom, match: Match, cosine: float) -> Near:
    """Return the statement's position in the store, as the vector search would return it."""
    return Near(
        (atom.id, match.n),
        atom.scope,
        cosine,
        match.score,
        atom.status,
        atom.layer,
        atom.origin,
        _millis(atom.recorded_at or atom.observed_at),
        "",
        _millis(atom.observed_at),
        False,
        False,
        False,
        False,
        f"shelf/{atom.id}",
        0,
        digest_of(atom, passages_of(atom)[0]),
    )


def _millis(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
