"""Extractors: what finds statements in text, what it receives and returns, and the guidelines that it follows.

Without a language model, the sentences that assert a current value become statements, verbatim."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lamina.atom.atom import (
    GUIDELINES_PAGE,
    AtomId,
    Evidence,
    RelationName,
    extract_generated_section,
    extract_user_text,
    root_page_name,
)
from lamina.atom.passage import is_assistant, is_role
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import Status
from lamina.capture.memory_requests import find_labelled_statements, find_remember_requests, is_direct_order
from lamina.capture.prose import find_fenced_code, is_in_code, is_pasted, is_prose, is_question
from lamina.capture.receipt import ModelCounts
from lamina.models.state_model import SentenceState
from lamina.states.sentence_models import StateReader
from lamina.store.base import AtomFilter, Store
from lamina.text.normal_form import one_line


@dataclass(frozen=True, slots=True)
class CapturedTurn:
    """One stored turn or paragraph: its segment and number, its text, its speaker and its time."""

    segment: str
    n: int
    text: str
    speaker: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class StoredStatement:
    """A stored statement that an extractor may relate new ones to, and the sentence it rests on."""

    id: AtomId
    content: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class StatedRelation:
    """The relation of a statement to another: a stored one, `stored_id`, or one extracted from the same turns."""

    name: RelationName
    evidence: Evidence
    content: str
    stored_id: AtomId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedStatement:
    """One extracted statement, with the sentence it came from as evidence.

    Its claim ends other values of the slot only if `may_end_others`; otherwise it is added beside them.
    """

    content: str
    kind: str
    evidence: Evidence
    subject: str = ""
    attribute: str | None = None
    value: str | None = None
    confidence: float = 0.95
    valid_from: datetime | None = None
    may_end_others: bool = True
    relations: tuple[StatedRelation, ...] = ()


class Extractor(Protocol):
    """Extracts statements from turns. An `instant` one calls no service and never fails."""

    @property
    def name(self) -> str:
        """The name that receipts show."""

    @property
    def instant(self) -> bool:
        """Return whether it works without calling a service."""

    def extract(self, turns: Sequence[CapturedTurn], before: Sequence[CapturedTurn] = ()) -> list[ExtractedStatement]:
        """Return every statement of the turns, in their order; `before` are the turns before them, as context."""


class ExplicitRequestExtractor:
    """Extracts nothing, for when no model can be loaded: only explicit requests to remember become statements."""

    name = "explicit requests only"
    instant = True

    def extract(self, turns: Sequence[CapturedTurn], before: Sequence[CapturedTurn] = ()) -> list[ExtractedStatement]:
        """Return an empty list."""
        return []


class DisabledExtractor(ExplicitRequestExtractor):
    """Switched off: only explicit requests to remember become statements, and changes are not detected."""

    name = "no extractor"


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """The statements that an extractor found, and its name.

    `failure` says why the language model, or the extractor itself, contributed nothing; `counts` is None if no language
    model was called.
    """

    statements: tuple[ExtractedStatement, ...]
    extractor_name: str
    failure: str | None = None
    counts: ModelCounts | None = None


class CountingExtractor(ABC):
    """An extractor that also counts what a language model contributed."""

    @abstractmethod
    def extract_with_counts(
        self, turns: Sequence[CapturedTurn], before: Sequence[CapturedTurn] = (), stored: Sequence[StoredStatement] = ()
    ) -> ExtractionResult:
        """Return every statement of the turns, in their order, with its relations to `stored` ones, and counts."""


def run_extractor(
    extractor: Extractor,
    turns: Sequence[CapturedTurn],
    before: Sequence[CapturedTurn] = (),
    stored: Sequence[StoredStatement] = (),
) -> ExtractionResult:
    """Return what any extractor finds, with relations and counts if a language model was called."""
    if isinstance(extractor, CountingExtractor):
        return extractor.extract_with_counts(turns, before, stored)
    return ExtractionResult(tuple(extractor.extract(turns, before)), extractor.name)


MIN_PROBABILITY = 0.5
"""The least probability at which the state model is believed."""
MAX_SENTENCE_CHARS = 600
MAX_STATEMENTS_PER_TURN = 12
"""The most statements of one turn; the most probable ones are taken."""


class StateExtractor:
    """Selects the sentences that assert something, by the state model; nothing is rewritten."""

    name = "state model"
    instant = True

    def __init__(self, state_reader: StateReader) -> None:
        self._reader = state_reader

    def extract(self, turns: Sequence[CapturedTurn], before: Sequence[CapturedTurn] = ()) -> list[ExtractedStatement]:
        """Return one statement for each sentence that asserts something; assistants and pasted text state nothing."""
        return [
            statement
            for turn in turns
            if not is_assistant(turn.speaker) and not is_pasted(turn.text)
            for statement in self._extract_turn(turn)
        ]

    def _extract_turn(self, turn: CapturedTurn) -> list[ExtractedStatement]:
        most_probable = sorted(self._find_statements(turn), key=lambda statement: -statement.confidence)[
            :MAX_STATEMENTS_PER_TURN
        ]
        return sorted(most_probable, key=lambda statement: statement.evidence.start)

    def _find_statements(self, turn: CapturedTurn) -> Iterator[ExtractedStatement]:
        states = self._reader.read(turn.text)
        labelled = find_labelled_statements(turn.text)
        requested = {end: start for end, (start, _) in labelled.items()}
        requested |= {end: start for start, end in find_remember_requests(turn.text)}
        is_kept_out = any(state.keep_out >= MIN_PROBABILITY for state in states)
        code_spans = find_fenced_code(turn.text)
        seen_contents: set[str] = set()
        for state in states:
            is_requested = state.end in requested
            start = requested.get(state.end, state.start)
            content = turn.text[start : state.end].strip()
            in_code = is_in_code(state.start, state.start + 1, code_spans)
            is_statement = is_requested or (not is_kept_out and not in_code and asserts_value(state, content))
            if not is_statement or content in seen_contents:
                continue
            seen_contents.add(content)
            has_value = state.value is not None and state.value[0] >= start
            yield ExtractedStatement(
                content=content,
                kind=labelled[state.end][1] if state.end in labelled else "fact",
                evidence=Evidence(turn.segment, turn.n, start, state.end),
                subject=speaker_subject(turn.speaker),
                value=(turn.text[slice(*state.value)].strip() or None) if state.value and has_value else None,
                confidence=1.0 if is_requested else round(state.asserts, 2),
            )


def asserts_value(state: SentenceState, sentence: str) -> bool:
    """Return whether a sentence becomes a statement: it asserts a current value and is no secret and no request."""
    if state.asserts < MIN_PROBABILITY or max(state.secret, state.keep_out, state.forget) >= MIN_PROBABILITY:
        return False
    if len(sentence) > MAX_SENTENCE_CHARS or is_question(sentence) or is_direct_order(sentence):
        return False
    return is_prose(sentence)


def speaker_subject(speaker: str | None) -> str:
    """Return the subject of what a speaker says: the name, or "user" if only a role is known."""
    return "user" if speaker is None or is_role(speaker) else one_line(speaker)


MAX_GUIDELINES = 20
MAX_GUIDELINE_CHARS = 200


class GuidedExtractor(ABC):
    """An extractor that can follow guidelines."""

    @abstractmethod
    def following(self, guidelines: Sequence[str]) -> Extractor:
        """Return the extractor that follows these lines."""


def follow_guidelines(extractor: Extractor, store: Store, scope: Scope) -> Extractor:
    """Return the extractor with the guidelines of a scope; one that words nothing itself stays as it is."""
    if not isinstance(extractor, GuidedExtractor):
        return extractor
    guidelines = read_guidelines(store, scope)
    return extractor.following(guidelines) if guidelines else extractor


def read_guidelines(store: Store, scope: Scope) -> tuple[str, ...]:
    """Return the lines of the guidelines page, a person's first. No agent can write on it: dreams and people do."""
    pages = store.atoms.read(
        AtomFilter(
            scopes=(scope,), kinds=frozenset({"entity"}), subject=GUIDELINES_PAGE, statuses=frozenset({Status.ACTIVE})
        )
    )
    own_pages = (page for page in pages if root_page_name(page.metadata) == GUIDELINES_PAGE)
    page = next((page for page in own_pages if page.origin is Origin.DREAM), None)
    if page is None:
        return ()
    texts = extract_user_text(page.content), extract_generated_section(page.content)
    return tuple(line for text in texts for line in _list_lines(text))[:MAX_GUIDELINES]


def _list_lines(text: str) -> Iterator[str]:
    """Yield the list items of a text."""
    for line in text.splitlines():
        if line.startswith(("- ", "* ")) and (item := one_line(line[2:])):
            yield item[:MAX_GUIDELINE_CHARS]
