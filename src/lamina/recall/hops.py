"""Chains of facts that answer a question only together, each naming what the next one is about.

"Where was the author of Heron Bay born?" is answered by who wrote it and by where that person was born, and the second
fact shares no name with the question. From the best facts, the names that the question does not contain are looked up,
a few times over. A chain of facts is one context: each word of the question counts by its best match in the chain, and
a fact belongs to the chain by what it adds. A fact found this way ranks behind the facts that led to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest

import numpy as np
from numpy.typing import NDArray

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.passage import passages_of
from lamina.atom.scope import Scope
from lamina.atom.status import RECALL_WEIGHT
from lamina.recall.asked import Asked
from lamina.recall.candidate import Candidate
from lamina.recall.lens import Lens
from lamina.recall.rerank import NO_STATES, idf, meeting, word_at
from lamina.recall.tokens import NEVER_NAMES, Token, TokenKind, tokenise
from lamina.recall.view import View
from lamina.store.base import Edge, Match
from lamina.store.encodings import Key, unencoded
from lamina.text.analyse import QUESTION_STOP, analyse

HOP, BEHIND = 0.5, 0.9
"""The most a fact can gain from its chain, and the share of the relevance of the chain's first fact that it can reach,
per hop: small enough that a better layer does not rank it first."""
STARTS, WIDTH, FARTHEST = 4, 4, 3
"""How many facts chains start from, how many chains are followed, and how many hops they make."""
NAMES, SHARING = 4, 30
"""How many names of a fact are looked up, and how many facts for each."""
LEAST, TOPIC = 0.03, 0.08
"""How much of the question a fact must add to a chain, and the bonus for a fact that is about the name instead of
ending with it: a sentence ends with what it tells."""

Search = Callable[[tuple[str, ...], tuple[str, ...], int], Sequence[Match]]
"""Returns the best passages for some tokens, among those that contain all of some others."""
Met = NDArray[np.float64]
"""How well each token of a question is matched."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A fact at the end of a chain: where the chain started, what the fact gains, and the links that led to it."""

    start: Candidate
    gain: float
    links: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class _Fact:
    """A fact with its content tokens and how well it matches the question."""

    key: Key
    text: str
    words: tuple[str, ...]
    met: Met


@dataclass(frozen=True, slots=True)
class _Chain:
    """Facts that lead from one to the next; `matches` is what they match together, `priority` orders chains."""

    start: Candidate
    facts: tuple[_Fact, ...]
    met: Met
    ahead: float
    links: tuple[Edge, ...] = ()


def hops(asked: Asked, candidates: Sequence[Candidate], lens: Lens, view: View, search: Search) -> dict[Key, Reached]:
    """Return the facts that names lead to, from the best candidates on; none if a single fact contains every word of
    the question."""
    tokens = {term.token for term in asked.terms}
    best = nsmallest(STARTS, candidates, key=lambda candidate: (-candidate.relevance, candidate.key))
    starts = [candidate for candidate in best if candidate.match is not None and candidate.near.status in RECALL_WEIGHT]
    if any(start.match is not None and len(start.match.parts) == len(tokens) for start in starts):
        return {}
    atoms = view.atoms(start.key[0] for start in starts)
    # A statement with evidence is shown with its source passage, so what it led to would rank before it.
    starts = [
        start for start in starts if (atom := atoms.get(start.key[0])) and not atom.is_segment and not atom.evidence
    ]
    if not starts:
        return {}
    chain_search = _Way(asked, _Meeting(asked, lens, view, {start.near.scope for start in starts}), view, search)
    return chain_search.reached(chain_search.begun(starts))


def add_hops(candidates: Iterable[Candidate], reached: dict[Key, Reached]) -> None:
    """Add the hop term to the chained facts, never so much that one ranks before the fact that led to it."""
    for candidate in candidates:
        if candidate.key in reached:
            chained_fact = reached[candidate.key]
            room = BEHIND ** len(chained_fact.links) * chained_fact.start.relevance - candidate.relevance
            if (amount := min(HOP * chained_fact.gain, room)) > 0:
                candidate.terms["hop"] = amount
                candidate.links = (*candidate.links, *chained_fact.links)


class _Meeting:
    """How much of a question facts cover; tokens count by their rarity, and the weights add up to 1."""

    def __init__(self, asked: Asked, lens: Lens, view: View, scopes: set[Scope]) -> None:
        self._terms = [term.token for term in asked.terms]
        self._store, self._states, self._thawed = view.store, lens.states, lens.thawed
        rarities = view.store.encodings.rarity(sorted(scopes), sorted(set(self._terms))).values()
        rarity = {
            token: max(idf(passages, holding.get(token, 0)) for passages, holding in rarities) for token in self._terms
        }
        self._probe = self._states.question(asked.meant) if self._states is not None else None
        words = [word_at(asked.meant, span) for span in self._probe.spans] if self._probe else self._terms
        # A word that a model splits into pieces counts once.
        parts = [
            max((rarity.get(token, 0.0) for token in analyse(word)), default=0.0) / words.count(word)
            if self._probe
            else rarity[word]
            for word in words
        ]
        self._weights = np.array(parts, dtype=np.float64) / max(sum(parts), 1e-9)

    def of(self, atoms: Sequence[Atom]) -> list[Met]:
        """Return for each fact how well it matches each token."""
        if self._states is None or self._probe is None:
            token_sets = [frozenset(analyse(passages_of(atom)[0].text)) for atom in atoms]
            return [np.array([float(term in tokens) for term in self._terms]) for tokens in token_sets]
        texts = [unencoded(atom, passages_of(atom)[0]) for atom in atoms]
        states = self._store.encodings.states(self._states.model.id, [text.digest for text in texts])
        states |= self._thawed.states(self._states, [text for text in texts if text.digest not in states])
        matches = meeting(
            self._probe, self._states.model.states, [states.get(text.digest, NO_STATES) for text in texts]
        )
        return list(matches.astype(np.float64).T)

    def whole(self, met: Met) -> float:
        """Return how much of the question is covered."""
        return float((self._weights * met).sum())


class _Way:
    """The search of one question from fact to fact."""

    def __init__(self, asked: Asked, meeting: _Meeting, view: View, search: Search) -> None:
        self._asked = frozenset(term.token for term in asked.terms)
        self._meeting, self._view, self._search = meeting, view, search
        self._facts: dict[Key, _Fact | None] = {}
        self._looked: dict[tuple[str, ...], list[Key]] = {}

    def begun(self, starts: Sequence[Candidate]) -> list[_Chain]:
        """Return chains of one fact each."""
        self._read([start.key for start in starts])
        facts = [(start, fact) for start in starts if (fact := self._facts[start.key]) is not None]
        return [_Chain(start, (fact,), fact.met, self._meeting.whole(fact.met)) for start, fact in facts]

    def reached(self, front: Sequence[_Chain]) -> dict[Key, Reached]:
        """Return every fact that the chains lead to, with the chain from which it gains most."""
        chained_facts: dict[Key, Reached] = {}
        for _ in range(FARTHEST):
            longer: dict[Key, _Chain] = {}
            for chain in (extended for shorter in front for extended in self._longer(shorter)):
                last = chain.facts[-1].key
                if last not in longer or longer[last].ahead < chain.ahead:
                    longer[last] = chain
            front = nsmallest(WIDTH, longer.values(), key=lambda extended: (-extended.ahead, extended.facts[-1].key))
            for chain in front:
                gain = self._meeting.whole(chain.met) - self._meeting.whole(chain.facts[-1].met)
                last = chain.facts[-1].key
                if last not in chained_facts or chained_facts[last].gain < gain:
                    chained_facts[last] = Reached(chain.start, gain, chain.links)
        return chained_facts

    def _longer(self, chain: _Chain) -> Iterator[_Chain]:
        """Yield the chain with one more fact, for each fact that adds enough."""
        last = chain.facts[-1]
        covered = self._meeting.whole(chain.met)
        known_tokens = self._asked | {word for fact in chain.facts[:-1] for word in fact.words}
        unmatched = sorted(self._asked - {word for fact in chain.facts for word in fact.words})
        for written, name in [
            found_name for found_name in names_in(last.text) if not known_tokens.issuperset(found_name[1])
        ][:NAMES]:
            for fact in self._naming(name, unmatched):
                together = np.maximum(chain.met, fact.met)
                gain = self._meeting.whole(together) - covered
                if gain >= LEAST and fact not in chain.facts:
                    priority = chain.ahead + gain + (TOPIC if fact.words[-len(name) :] != name else 0.0)
                    link = Edge(last.key[0], f"names {written}", fact.key[0], min(1.0, gain))
                    yield _Chain(chain.start, (*chain.facts, fact), together, priority, (*chain.links, link))

    def _naming(self, name: tuple[str, ...], unmet: Sequence[str]) -> list[_Fact]:
        """Return facts that contain a name, those first that contain words nothing has matched so far."""
        tokens = tuple(dict.fromkeys((*name, *unmet)))
        if tokens not in self._looked:
            matches = self._search(tokens, name, SHARING)
            self._looked[tokens] = [(match.atom_id, match.n) for match in matches if match.status in RECALL_WEIGHT]
            self._read(self._looked[tokens])
        facts = (self._facts[key] for key in self._looked[tokens])
        return [fact for fact in facts if fact is not None and _holds(fact.words, name)]

    def _read(self, keys: Iterable[Key]) -> None:
        """Read facts that were not read before."""
        unread = [key for key in keys if key not in self._facts]
        atoms = self._view.atoms(key[0] for key in unread) if unread else dict[AtomId, Atom]()
        stated = {key: atom for key in unread if (atom := atoms.get(key[0])) is not None and not atom.is_segment}
        self._facts.update(dict.fromkeys(unread))
        for (key, atom), met in zip(stated.items(), self._meeting.of(list(stated.values())), strict=True):
            text = passages_of(atom)[0].text
            self._facts[key] = _Fact(key, text, _content(text), met)


@lru_cache(maxsize=4096)
def names_in(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the names in a sentence, as written and as tokens, and its last words, which may be no name: "… of
    chess"."""
    tokens = tokenise(text)
    runs = [run for run in (*_runs(tokens), _ending(tokens)) if run]
    named = {(text[run[0].start : run[-1].end], _content(text[run[0].start : run[-1].end])) for run in runs}
    order = {text[run[0].start : run[-1].end]: run[0].start for run in reversed(runs)}
    return tuple(
        sorted(((written, name) for written, name in named if name), key=lambda pair: (order[pair[0]], pair[0]))
    )


def _runs(found: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield runs of name tokens, with the small words between them."""
    run: list[Token] = []
    for token in found:
        if _is_name(token) or (run and (_joins(run[-1], token) or _follows_initial(run[-1], token))):
            run.append(token)
        else:
            yield _trimmed(run)
            run = []
    yield _trimmed(run)


def _is_name(token: Token) -> bool:
    opening = token.start == 0 and token.text[0].isupper() and token.lower not in NEVER_NAMES | QUESTION_STOP
    return token.kind is TokenKind.NAME or opening


def _joins(before: Token, token: Token) -> bool:
    return token.lower in _JOINING or (token.text == "." and len(before.text) == 1)


def _follows_initial(before: Token, token: Token) -> bool:
    return before.text == "." and token.text[0].isupper()


def _trimmed(run: list[Token]) -> list[Token]:
    while run and (run[-1].is_mark or run[-1].lower in _JOINING):
        run = run[:-1]
    return run


def _ending(found: Sequence[Token]) -> list[Token]:
    ending: list[Token] = []
    for token in reversed([word for word in found if not word.is_mark]):
        if token.lower in QUESTION_STOP:
            break
        ending.insert(0, token)
    return ending


def _content(text: str) -> tuple[str, ...]:
    return tuple(token for token in analyse(text) if token not in _STOP)


def _holds(words: tuple[str, ...], name: tuple[str, ...]) -> bool:
    return any(words[at : at + len(name)] == name for at in range(len(words) - len(name) + 1))


_JOINING = frozenset({"of", "the", "de", "la", "von", "van"})
_STOP = QUESTION_STOP | frozenset(analyse(" ".join(sorted(QUESTION_STOP))))
