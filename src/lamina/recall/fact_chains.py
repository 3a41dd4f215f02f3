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

from lamina.atom.atom import Atom, AtomId
from lamina.atom.passage import passages_of
from lamina.atom.provenance import Scope
from lamina.atom.status import RECALL_WEIGHT
from lamina.recall.candidate_scoring import Candidate
from lamina.recall.late_interaction import NO_STATES, find_word, idf, match_tokens
from lamina.recall.name_recognition import NEVER_NAMES, SentenceToken, SentenceTokenKind, tokenise_sentence
from lamina.recall.recall_view import RecallView
from lamina.recall.request_and_question import RecallQuery
from lamina.recall.selected_models import SelectedModels
from lamina.store.base import Edge, TextMatch
from lamina.store.encodings import PassageKey, to_unencoded_text
from lamina.text.analyser import STOP_WORDS, analyse

MAX_GAIN, SHARE_PER_HOP = 0.5, 0.9
"""The most a fact can gain from its chain, and the share of the relevance of the chain's first fact that it can reach,
per hop: small enough that a better layer does not rank it first."""
MAX_STARTS, MAX_CHAINS, MAX_HOPS = 4, 4, 3
"""How many facts chains start from, how many chains are followed, and how many hops they make."""
MAX_NAMES, MAX_FACTS_PER_NAME = 4, 30
"""How many names of a fact are looked up, and how many facts for each."""
MIN_GAIN, TOPIC_BONUS = 0.03, 0.08
"""How much of the question a fact must add to a chain, and the bonus for a fact that is about the name instead of
ending with it: a sentence ends with its new information."""

FactSearch = Callable[[tuple[str, ...], tuple[str, ...], int], Sequence[TextMatch]]
"""Returns the best passages for some tokens, among those that contain all of some others."""
TokenMatches = NDArray[np.float64]
"""How well each token of a question is matched."""


@dataclass(frozen=True, slots=True)
class ChainedFact:
    """A fact at the end of a chain: where the chain started, what the fact gains, and the links that led to it."""

    start: Candidate
    gain: float
    links: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class _Fact:
    """A fact with its content tokens and how well it matches the question."""

    key: PassageKey
    text: str
    words: tuple[str, ...]
    matches: TokenMatches


@dataclass(frozen=True, slots=True)
class _Chain:
    """Facts that lead from one to the next; `matches` is what they match together, `priority` orders chains."""

    start: Candidate
    facts: tuple[_Fact, ...]
    matches: TokenMatches
    priority: float
    links: tuple[Edge, ...] = ()


def find_chained_facts(
    query: RecallQuery, candidates: Sequence[Candidate], models: SelectedModels, view: RecallView, search: FactSearch
) -> dict[PassageKey, ChainedFact]:
    """Return the facts that names lead to, from the best candidates on; none if a single fact contains every word of
    the question."""
    tokens = set(query.tokens)
    best = nsmallest(MAX_STARTS, candidates, key=lambda candidate: (-candidate.relevance, candidate.key))
    starts = [candidate for candidate in best if candidate.match is not None and candidate.near.status in RECALL_WEIGHT]
    if any(start.match is not None and len(start.match.token_scores) == len(tokens) for start in starts):
        return {}
    atoms = view.atoms(start.key[0] for start in starts)
    # A statement with evidence is shown with its source passage, so what it led to would rank before it.
    starts = [
        start for start in starts if (atom := atoms.get(start.key[0])) and not atom.is_segment and not atom.evidence
    ]
    if not starts:
        return {}
    chain_search = _ChainSearch(
        query, _QuestionCoverage(query, models, view, {start.near.scope for start in starts}), view, search
    )
    return chain_search.find_reached(chain_search.start_chains(starts))


def add_hop_terms(candidates: Iterable[Candidate], chained_facts: dict[PassageKey, ChainedFact]) -> None:
    """Add the hop term to the chained facts, never so much that one ranks before the fact that led to it."""
    for candidate in candidates:
        if candidate.key in chained_facts:
            chained_fact = chained_facts[candidate.key]
            room = SHARE_PER_HOP ** len(chained_fact.links) * chained_fact.start.relevance - candidate.relevance
            if (amount := min(MAX_GAIN * chained_fact.gain, room)) > 0:
                candidate.terms["hop"] = amount
                candidate.links = (*candidate.links, *chained_fact.links)


class _QuestionCoverage:
    """The share of a question that facts cover; tokens count by their rarity, and the weights add up to 1."""

    def __init__(self, query: RecallQuery, models: SelectedModels, view: RecallView, scopes: set[Scope]) -> None:
        self._terms = query.tokens
        self._view, self._state_model = view, models.token_state_model
        self._recomputed_states = models.recomputed_states
        counts = view.token_statistics(self._terms)
        rarity = {
            token: max(idf(passages, holding.get(token, 0)) for passages, holding in map(counts.__getitem__, scopes))
            for token in self._terms
        }
        self._encoded_question = (
            self._state_model.encode_question(query.text_without_names) if self._state_model is not None else None
        )
        words = (
            [find_word(query.text_without_names, span) for span in self._encoded_question.spans]
            if self._encoded_question
            else self._terms
        )
        # A word that a model splits into pieces counts once.
        parts = [
            max((rarity.get(token, 0.0) for token in analyse(word)), default=0.0) / words.count(word)
            if self._encoded_question
            else rarity[word]
            for word in words
        ]
        self._weights = np.array(parts, dtype=np.float64) / max(sum(parts), 1e-9)

    def match_facts(self, atoms: Sequence[Atom]) -> list[TokenMatches]:
        """Return for each fact how well it matches each token."""
        if self._state_model is None or self._encoded_question is None:
            token_sets = [frozenset(analyse(passages_of(atom)[0].text)) for atom in atoms]
            return [np.array([float(term in tokens) for term in self._terms]) for tokens in token_sets]
        texts = [to_unencoded_text(atom, passages_of(atom)[0]) for atom in atoms]
        states = self._view.token_states(self._state_model.model.id, (text.digest for text in texts))
        states |= self._recomputed_states.states(
            self._state_model, [text for text in texts if text.digest not in states]
        )
        matches = match_tokens(
            self._encoded_question,
            self._state_model.model.states,
            [states.get(text.digest, NO_STATES) for text in texts],
        )
        return list(matches.astype(np.float64).T)

    def coverage_of(self, matches: TokenMatches) -> float:
        """Return how much of the question is covered."""
        return float((self._weights * matches).sum())


class _ChainSearch:
    """The search of one question from fact to fact."""

    def __init__(self, query: RecallQuery, coverage: _QuestionCoverage, view: RecallView, search: FactSearch) -> None:
        self._question_tokens = frozenset(query.tokens)
        self._coverage, self._view, self._search = coverage, view, search
        self._facts: dict[PassageKey, _Fact | None] = {}
        self._searched: dict[tuple[str, ...], list[PassageKey]] = {}

    def start_chains(self, starts: Sequence[Candidate]) -> list[_Chain]:
        """Return chains of one fact each."""
        self._read([start.key for start in starts])
        facts = [(start, fact) for start in starts if (fact := self._facts[start.key]) is not None]
        return [_Chain(start, (fact,), fact.matches, self._coverage.coverage_of(fact.matches)) for start, fact in facts]

    def find_reached(self, chains: Sequence[_Chain]) -> dict[PassageKey, ChainedFact]:
        """Return every fact that the chains lead to, with the chain from which it gains most."""
        chained_facts: dict[PassageKey, ChainedFact] = {}
        for _ in range(MAX_HOPS):
            longer: dict[PassageKey, _Chain] = {}
            for chain in (extended for shorter in chains for extended in self._extend(shorter)):
                last = chain.facts[-1].key
                if last not in longer or longer[last].priority < chain.priority:
                    longer[last] = chain
            chains = nsmallest(
                MAX_CHAINS, longer.values(), key=lambda extended: (-extended.priority, extended.facts[-1].key)
            )
            for chain in chains:
                gain = self._coverage.coverage_of(chain.matches) - self._coverage.coverage_of(chain.facts[-1].matches)
                last = chain.facts[-1].key
                if last not in chained_facts or chained_facts[last].gain < gain:
                    chained_facts[last] = ChainedFact(chain.start, gain, chain.links)
        return chained_facts

    def _extend(self, chain: _Chain) -> Iterator[_Chain]:
        """Yield the chain with one more fact, for each fact that adds enough."""
        last = chain.facts[-1]
        covered = self._coverage.coverage_of(chain.matches)
        known_tokens = self._question_tokens | {word for fact in chain.facts[:-1] for word in fact.words}
        unmatched = sorted(self._question_tokens - {word for fact in chain.facts for word in fact.words})
        for written, name in [
            found_name for found_name in names_in(last.text) if not known_tokens.issuperset(found_name[1])
        ][:MAX_NAMES]:
            for fact in self._find_facts_naming(name, unmatched):
                together = np.maximum(chain.matches, fact.matches)
                gain = self._coverage.coverage_of(together) - covered
                if gain >= MIN_GAIN and fact not in chain.facts:
                    priority = chain.priority + gain + (TOPIC_BONUS if fact.words[-len(name) :] != name else 0.0)
                    link = Edge(last.key[0], f"names {written}", fact.key[0], min(1.0, gain))
                    yield _Chain(chain.start, (*chain.facts, fact), together, priority, (*chain.links, link))

    def _find_facts_naming(self, name: tuple[str, ...], unmatched: Sequence[str]) -> list[_Fact]:
        """Return facts that contain a name, those first that contain words nothing has matched so far."""
        tokens = tuple(dict.fromkeys((*name, *unmatched)))
        if tokens not in self._searched:
            matches = self._search(tokens, name, MAX_FACTS_PER_NAME)
            self._searched[tokens] = [(match.atom_id, match.n) for match in matches if match.status in RECALL_WEIGHT]
            self._read(self._searched[tokens])
        facts = (self._facts[key] for key in self._searched[tokens])
        return [fact for fact in facts if fact is not None and _contains_name(fact.words, name)]

    def _read(self, keys: Iterable[PassageKey]) -> None:
        """Read facts that were not read before."""
        unread = [key for key in keys if key not in self._facts]
        atoms = self._view.atoms(key[0] for key in unread) if unread else dict[AtomId, Atom]()
        stated = {key: atom for key in unread if (atom := atoms.get(key[0])) is not None and not atom.is_segment}
        self._facts.update(dict.fromkeys(unread))
        for (key, atom), met in zip(stated.items(), self._coverage.match_facts(list(stated.values())), strict=True):
            text = passages_of(atom)[0].text
            self._facts[key] = _Fact(key, text, _content_tokens(text), met)


@lru_cache(maxsize=4096)
def names_in(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the names in a sentence, as written and as tokens, and its last words, which may be no name: "… of
    chess"."""
    tokens = tokenise_sentence(text)
    runs = [run for run in (*_name_runs(tokens), _last_words(tokens)) if run]
    named = {(text[run[0].start : run[-1].end], _content_tokens(text[run[0].start : run[-1].end])) for run in runs}
    order = {text[run[0].start : run[-1].end]: run[0].start for run in reversed(runs)}
    return tuple(
        sorted(((written, name) for written, name in named if name), key=lambda pair: (order[pair[0]], pair[0]))
    )


def _name_runs(tokens: Sequence[SentenceToken]) -> Iterator[list[SentenceToken]]:
    """Yield runs of name tokens, with the small words between them."""
    run: list[SentenceToken] = []
    for token in tokens:
        if _is_name(token) or (run and (_joins_names(run[-1], token) or _follows_initial(run[-1], token))):
            run.append(token)
        else:
            yield _trim_run(run)
            run = []
    yield _trim_run(run)


def _is_name(token: SentenceToken) -> bool:
    opening = token.start == 0 and token.text[0].isupper() and token.lower not in NEVER_NAMES | STOP_WORDS
    return token.kind is SentenceTokenKind.NAME or opening


def _joins_names(before: SentenceToken, token: SentenceToken) -> bool:
    return token.lower in _JOINING_WORDS or (token.text == "." and len(before.text) == 1)


def _follows_initial(before: SentenceToken, token: SentenceToken) -> bool:
    return before.text == "." and token.text[0].isupper()


def _trim_run(run: list[SentenceToken]) -> list[SentenceToken]:
    while run and (run[-1].is_mark or run[-1].lower in _JOINING_WORDS):
        run = run[:-1]
    return run


def _last_words(tokens: Sequence[SentenceToken]) -> list[SentenceToken]:
    ending: list[SentenceToken] = []
    for token in reversed([word for word in tokens if not word.is_mark]):
        if token.lower in STOP_WORDS:
            break
        ending.insert(0, token)
    return ending


def _content_tokens(text: str) -> tuple[str, ...]:
    return tuple(token for token in analyse(text) if token not in _STOP_TOKENS)


def _contains_name(words: tuple[str, ...], name: tuple[str, ...]) -> bool:
    return any(words[at : at + len(name)] == name for at in range(len(words) - len(name) + 1))


_JOINING_WORDS = frozenset({"of", "the", "de", "la", "von", "van"})
_STOP_TOKENS = STOP_WORDS | frozenset(analyse(" ".join(sorted(STOP_WORDS))))
