"""The channels: every passage that text, vectors, names, times or links lead to, with what each says of it."""

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
    """What may answer: whose it is, where it stands, what sort of memory it is, and when it must hold.

    `true_at` and `known_by` take the place of `at`: what held then, replaced or not; whatever was there by then.
    """

    scopes: tuple[Scope, ...]
    statuses: frozenset[Status]
    memory_types: frozenset[MemoryType]
    at: datetime
    true_at: datetime | None = None
    known_by: datetime | None = None


class Gathering:
    """One question's way through the channels."""

    def __init__(self, asked: Asked, admitted: Admitted, lens: Lens, store: Store, tilts: Tilts) -> None:
        self._asked, self._admitted, self._lens, self._store, self._tilts = asked, admitted, lens, store, tilts
        self._vector = to_asked(lens.main.question(asked.meant).vector) if lens.main is not None else _NO_VECTOR
        self.pool = POOL
        self._matches = self._search()
        self.former = self._search_former()

    def widen(self, times: int) -> None:
        """Look so many times as far: some of what was found did not count."""
        self.pool *= times
        self._matches = self._search()
        self.former = self._search_former()

    def candidates(self) -> list[Candidate]:
        """The passages worth a closer look, those beside them, and facts that hang together with them."""
        heard = {token for match in self._matches.values() for token, _ in match.parts}
        unheard = [term.word for term in self._asked.terms if term.token not in heard]
        exact = named(self._asked.text, self._admitted.scopes, self._admitted.statuses, self._store, unheard)
        also = [(each, 1) for each in exact]
        beside = BESIDE if self._lens.main is not None else 0
        found = [self._candidate(each) for each in self._near(self.pool, beside, also)]
        for each in found:
            if each.key[0] in exact:
                name, amount = exact[each.key[0]]
                each.terms[name] = amount * self._lens.recipe.prior
        walked = walk(found, self._admitted.scopes, self._admitted.statuses, self._store)
        if not walked.nearness:
            return found
        brought = [(each, 1) for each in walked.brought({each.key[0] for each in found})]
        found += [self._candidate(each) for each in self._near(0, 0, brought)]
        for each in found:
            if each.key[0] in walked.nearness:
                each.terms["graph"] = LINKED * self._lens.recipe.prior * walked.nearness[each.key[0]]
                each.links = walked.of(each.key[0])
        return found

    def search(self, tokens: tuple[str, ...], holding: tuple[str, ...], limit: int) -> list[Match]:
        """The best passages for other words than the question's that hold all of some, among what may answer it."""
        return self._store.search(replace(self._words(), tokens=tokens, holding=holding, limit=limit))

    def brought(self, keys: Collection[Key]) -> list[Candidate]:
        """Candidates that none of the channels found, so far as they may answer."""
        return [self._candidate(each) for each in self._near(0, 0, keys)] if keys else []

    def _search(self) -> dict[Key, Match]:
        return {(match.atom_id, match.n): match for match in self._store.search(self._words())}

    def _search_former(self) -> dict[Key, dict[bytes, Candidate]]:
        """Texts that atoms had once, by what they are known by."""
        found: dict[Key, dict[bytes, Candidate]] = {}
        if self._admitted.known_by is not None:
            for match, near in self._store.former(self._words()):
                found.setdefault(near.key, {})[near.digest] = self._candidate(near, match)
        return found

    def _words(self) -> TextQuery:
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
        texts = {key: match.score for key, match in self._matches.items()}
        for key, candidates in self.former.items():
            texts[key] = max(
                texts.get(key, 0.0), *(candidate.match.score for candidate in candidates.values() if candidate.match)
            )
        return texts

    def withheld(self, shown: Collection[Candidate]) -> tuple[tuple[str, int], ...]:
        """How many passages were filtered out that lie as near in meaning as what is shown, and by what."""
        nearest = [candidate.near.cosine for candidate in shown if candidate.near.cosine > 0]
        if not nearest or self._lens.main is None:
            return ()
        return tuple(self._store.encodings.withheld(self._query(0, 0, ()), min(nearest)).items())

    def _near(self, limit: int, beside: int, also: Collection[Key] = ()) -> list[Near]:
        return self._store.encodings.nearest(self._query(limit, beside, also))

    def _query(self, limit: int, beside: int, also: Collection[Key]) -> NearQuery:
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
        """How much counts what an atom is; what it was at another time is seen later."""
        now = self._admitted.true_at is None and self._admitted.known_by is None
        return status_weight(status) if now else 1.0

    def _candidate(self, near: Near, match: Match | None = None) -> Candidate:
        """With what speaks for it before its words do: who said it, and when."""
        made = Candidate(near.key, near, match or self._matches.get(near.key))
        leaning = self._tilts.speakers.get(near.speaker, 0.0)
        if leaning:
            made.terms["speaker"] = leaning
        if near.in_time or near.tells_of:
            made.terms["time"] = self._tilts.in_time if near.in_time else self._tilts.tells_of
        if near.tells_when and self._asked.shape is Shape.TEMPORAL:
            made.terms["tells when"] = TELLS_WHEN * self._lens.recipe.prior
        return made


def tilts(asked: Asked, speakers: Iterable[str], assistant: float, prior: float) -> Tilts:
    """What a passage gains or loses by who said it and when, for one question."""
    amounts = {each: ASKED_ASSISTANT if asked.asks_assistant else assistant for each in speakers if is_assistant(each)}
    amounts |= dict.fromkeys(asked.speakers, SPEAKER)
    scaled = {speaker: prior * amount for speaker, amount in amounts.items()}
    return Tilts(scaled, asked.windows if asked.windows else None, prior * IN_TIME, prior * TELLS_OF)
