"""The search channels: every passage that text, vectors, names, times or links lead to, with the score of each
channel."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from lamina.atom.kinds import MemoryType
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.recall.asked import Asked, Shape
from lamina.recall.candidate import Candidate
from lamina.recall.graph import walk
from lamina.recall.lens import Lens
from lamina.recall.named import named
from lamina.recall.recipe import (
    ASKED_ASSISTANT,
    BESIDE,
    IN_TIME,
    LINKED,
    POOL,
    SPEAKER,
    TELLS_OF,
    TELLS_WHEN,
    TEXT_POOL,
)
from lamina.recall.weigh import status_weight
from lamina.store.base import Match, Store, TextQuery
from lamina.store.encodings import Key, Near, NearQuery, Tilts
from lamina.text.roles import is_assistant
from lamina.vectors.levels import to_asked

_NO_VECTOR = to_asked(np.zeros(1, dtype=np.float32))


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """What may answer: scopes, statuses, memory types, and when it must be valid.

    `true_at` or `known_by` replace `valid_at`: what was valid at that time, superseded since or not; what existed by
    that time.
    """

    scopes: tuple[Scope, ...]
    statuses: frozenset[Status]
    memory_types: frozenset[MemoryType]
    at: datetime
    true_at: datetime | None = None
    known_by: datetime | None = None


class Gathering:
    """The candidate search of one question."""

    def __init__(self, asked: Asked, admitted: Admitted, lens: Lens, store: Store, tilts: Tilts) -> None:
        self._asked, self._admitted, self._lens, self._store, self._tilts = asked, admitted, lens, store, tilts
        self._vector = to_asked(lens.main.question(asked.meant).vector) if lens.main is not None else _NO_VECTOR
        self.pool = POOL
        self._matches = self._search()
        self.former = self._search_former()

    def widen(self, times: int) -> None:
        """Search again with a pool this many times as large, because some of the results did not count."""
        self.pool *= times
        self._matches = self._search()
        self.former = self._search_former()

    def candidates(self) -> list[Candidate]:
        """Return the best passages of all channels, their neighbours, and facts that are linked to them."""
        matched = {token for match in self._matches.values() for token, _ in match.parts}
        unmatched = [term.word for term in self._asked.terms if term.token not in matched]
        exact = named(self._asked.text, self._admitted.scopes, self._admitted.statuses, self._store, unmatched)
        named_keys = [(atom_id, 1) for atom_id in exact]
        neighbours = BESIDE if self._lens.main is not None else 0
        candidates = [self._candidate(passage) for passage in self._near(self.pool, neighbours, named_keys)]
        for candidate in candidates:
            if candidate.key[0] in exact:
                name, amount = exact[candidate.key[0]]
                candidate.terms[name] = amount * self._lens.recipe.prior
        graph_walk = walk(candidates, self._admitted.scopes, self._admitted.statuses, self._store)
        if not graph_walk.nearness:
            return candidates
        linked_keys = [(atom_id, 1) for atom_id in graph_walk.brought({candidate.key[0] for candidate in candidates})]
        candidates += [self._candidate(passage) for passage in self._near(0, 0, linked_keys)]
        for candidate in candidates:
            if candidate.key[0] in graph_walk.nearness:
                candidate.terms["graph"] = LINKED * self._lens.recipe.prior * graph_walk.nearness[candidate.key[0]]
                candidate.links = graph_walk.of(candidate.key[0])
        return candidates

    def search(self, tokens: tuple[str, ...], holding: tuple[str, ...], limit: int) -> list[Match]:
        """Return the best passages for some tokens that contain all `required` ones, among those that may answer."""
        return self._store.search(replace(self._words(), tokens=tokens, holding=holding, limit=limit))

    def brought(self, keys: Collection[Key]) -> list[Candidate]:
        """Return candidates for passages that no channel found, as far as they may answer."""
        return [self._candidate(passage) for passage in self._near(0, 0, keys)] if keys else []

    def _search(self) -> dict[Key, Match]:
        """Return the text matches by passage."""
        return {(match.atom_id, match.n): match for match in self._store.search(self._words())}

    def _search_former(self) -> dict[Key, dict[bytes, Candidate]]:
        """Return matches in former texts of atoms, by passage and digest; empty unless the question is about what was
        known at another time."""
        candidates: dict[Key, dict[bytes, Candidate]] = {}
        if self._admitted.known_by is not None:
            for match, near in self._store.former(self._words()):
                candidates.setdefault(near.key, {})[near.digest] = self._candidate(near, match)
        return candidates

    def _words(self) -> TextQuery:
        """Return the text query of the question."""
        return TextQuery(
            scopes=self._admitted.scopes,
            tokens=tuple(term.token for term in self._asked.terms),
            statuses=self._admitted.statuses,
            memory_types=self._admitted.memory_types,
            valid_at=self._admitted.at,
            limit=TEXT_POOL * self.pool // POOL,
            true_at=self._admitted.true_at,
            known_by=self._admitted.known_by,
        )

    def _texts(self) -> dict[Key, float]:
        """Return the text score of each matching passage, the best of its former texts included."""
        scores = {key: match.score for key, match in self._matches.items()}
        for key, candidates in self.former.items():
            scores[key] = max(
                scores.get(key, 0.0), *(candidate.match.score for candidate in candidates.values() if candidate.match)
            )
        return scores

    def withheld(self, shown: Collection[Candidate]) -> tuple[tuple[str, int], ...]:
        """Return how many passages were filtered out that are as similar as those shown, by reason."""
        nearest = [candidate.near.cosine for candidate in shown if candidate.near.cosine > 0]
        if not nearest or self._lens.main is None:
            return ()
        return tuple(self._store.encodings.withheld(self._query(0, 0, ()), min(nearest)).items())

    def _near(self, limit: int, beside: int, also: Collection[Key] = ()) -> list[Near]:
        """Return the nearest passages."""
        return self._store.encodings.nearest(self._query(limit, beside, also))

    def _query(self, limit: int, beside: int, also: Collection[Key]) -> NearQuery:
        """Return the vector query of the question."""
        recipe = self._lens.recipe
        return NearQuery(
            scopes=self._admitted.scopes,
            memory_types=self._admitted.memory_types,
            valid_at=self._admitted.at,
            statuses={status: self._weight(status) for status in self._admitted.statuses},
            model=self._lens.main.model.id if self._lens.main else "",
            asked=self._vector,
            vector=recipe.first_vector,
            texts=self._texts(),
            text=recipe.first_text,
            tilts=self._tilts,
            limit=limit,
            beside=beside,
            also=also,
            true_at=self._admitted.true_at,
            known_by=self._admitted.known_by,
        )

    def _weight(self, status: Status) -> float:
        """Return how much a status counts in the search; for another time it is weighed later, as it was then."""
        is_present = self._admitted.true_at is None and self._admitted.known_by is None
        return status_weight(status) if is_present else 1.0

    def _candidate(self, near: Near, match: Match | None = None) -> Candidate:
        """Make a candidate with the terms that do not depend on its words: who said it, and when."""
        candidate = Candidate(near.key, near, match or self._matches.get(near.key))
        speaker_term = self._tilts.speakers.get(near.speaker, 0.0)
        if speaker_term:
            candidate.terms["speaker"] = speaker_term
        if near.in_time or near.tells_of:
            candidate.terms["time"] = self._tilts.in_time if near.in_time else self._tilts.tells_of
        if near.tells_when and self._asked.shape is Shape.TEMPORAL:
            candidate.terms["tells when"] = TELLS_WHEN * self._lens.recipe.prior
        return candidate


def tilts(asked: Asked, speakers: Iterable[str], assistant: float, prior: float) -> Tilts:
    """Return what a passage gains or loses for a question by its speaker and time."""
    amounts = {name: ASKED_ASSISTANT if asked.asks_assistant else assistant for name in speakers if is_assistant(name)}
    amounts |= dict.fromkeys(asked.speakers, SPEAKER)
    scaled = {speaker: prior * amount for speaker, amount in amounts.items()}
    return Tilts(scaled, asked.windows if asked.windows else None, prior * IN_TIME, prior * TELLS_OF)
