"""What normal recall does not show but may lead on: statements that were replaced, and such as are doubted.

A question that names only the old value of something shall find the one that took its place. They are scored by
themselves, so that they move nobody else's score.
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
"""A word that so many candidates hold, or fewer, may be the name of what is over."""
LEADING = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.MERGED, Status.CHALLENGED})


def shelf(
    asked: Asked, admitted: Admitted, lens: Lens, view: View, candidates: Sequence[Candidate], *, closely: bool
) -> list[Candidate]:
    """The replaced and doubted statements that hold words of a question which hardly any candidate holds, on the scale
    of every other candidate; where a question is about the past, those that hold any word of it.

    One whose own words are among the candidates is left out: they lead on by themselves.
    """
    statuses = LEADING - admitted.statuses
    tokens = tuple(term.token for term in asked.terms) if view.past else _unheard(asked, candidates)
    if view.as_of or view.seq is not None or not statuses or not tokens:
        return []
    query = TextQuery(
        scopes=admitted.scopes,
        tokens=tokens,
        statuses=statuses,
        memory_types=admitted.memory_types,
        valid_at=view.at,
        limit=POOL,
    )
    matches = sorted(view.store.search(query), key=lambda each: (-each.score, each.atom_id, each.n))[:POOL]
    atoms = view.atoms(match.atom_id for match in matches) if matches else {}
    there = [(match, atoms[match.atom_id]) for match in matches if match.atom_id in atoms]
    known = {candidate.key for candidate in candidates}
    found = _candidates([each for each in there if _is_alone(each[1], known)], asked, lens, view)
    if found:
        fuse(found, lens.recipe, closely=closely)
        if closely:
            rerank(found, asked.meant, lens, view.store)
    return found


def _unheard(asked: Asked, candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """The words of a question that hardly any candidate holds: one that is over may be all that does."""
    held = Counter(
        token for candidate in candidates if candidate.match is not None for token, _ in candidate.match.parts
    )
    return tuple(term.token for term in asked.terms if held[term.token] <= RARE)


def _is_alone(atom: Atom, known: Container[Key]) -> bool:
    return not atom.is_segment and not any((each.segment, each.passage) in known for each in atom.evidence)


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
    """Where the statement stands, as the search over vectors would tell it."""
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
