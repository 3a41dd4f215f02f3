"""Applying requests to forget or not to store: statements become tombstones, and so do sentences without a statement.

The words stay in the journal and are only withheld from recall; undoing the commit brings them back. If it is unclear
which memory it refers to, one question is pending review instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lamina.atom.atom import Atom, AtomId, Evidence, kind_defaults
from lamina.atom.passage import is_assistant, is_system, is_tool
from lamina.atom.proposals_and_pairs import (
    FORGET_PLACES_KEY,
    PROPOSAL_TYPE_KEY,
    ProposalType,
    format_places,
    proposal_type_of,
)
from lamina.atom.provenance import TRUST, is_summary, statements_need_review
from lamina.atom.status import Status
from lamina.capture.change.dependants import may_challenge
from lamina.capture.change.forget_target import ForgetCandidate, ForgetTarget
from lamina.capture.change.repetitions import add_evidence, add_repetitions, text_of_evidence
from lamina.capture.existing_statements import FORGET_REQUESTED_AT
from lamina.capture.extractors import CapturedTurn, speaker_subject
from lamina.capture.memory_requests import (
    MIN_PROBABILITY,
    MIN_PROBABILITY_LIGHT,
    ForgetRequest,
    RequestKind,
    find_forget_requests,
)
from lamina.capture.prose import is_pasted, is_question
from lamina.capture.segment import turns_of
from lamina.capture.store_reads import CURRENT_STATUSES, FORGETTABLE_STATUSES, WorkingSet
from lamina.states.sentence_models import StateReader
from lamina.text.analyser import content_tokens
from lamina.text.normal_form import one_line
from lamina.text.sentences import find_sentences
from lamina.text.timestamps import format_time

REASON = "withheld: a user asked to forget it or not to store it, or it is a secret"
QUESTION_REASON = "it is unclear which memory is to be forgotten; waiting for review"
MAX_REQUESTS = 20
"""How many requests of one capture are applied; text with more of them is no conversation."""
MAX_CANDIDATES = 60
"""How many passages are searched for the target of a request."""
_MIN_WORDS = 3
"""Shorter sentences state nothing that "forget that" could mean."""


def apply_forget_requests(
    turns: Sequence[CapturedTurn], working_set: WorkingSet, ids: Iterator[AtomId], state_reader: StateReader | None
) -> None:
    """Withhold what users ask in these turns to forget or not to store.

    What people say to each other is no request to the memory: if several people speak, only direct orders count.
    """
    count = 0
    have_several_people: dict[str, bool] = {}
    for turn in turns:
        segment = working_set.get(AtomId(turn.segment))
        if (
            segment is None
            or count >= MAX_REQUESTS
            or is_assistant(turn.speaker)
            or statements_need_review(segment.origin)
            or is_pasted(turn.text)
        ):
            continue
        min_probability = (
            MIN_PROBABILITY_LIGHT if state_reader is not None and state_reader.is_light else MIN_PROBABILITY
        )
        if segment.id not in have_several_people:
            have_several_people[segment.id] = _has_several_people(segment)
        states = state_reader.read(turn.text) if state_reader and not have_several_people[segment.id] else ()
        requests = find_forget_requests(turn.text, states, min_probability)[: MAX_REQUESTS - count]
        count += len(requests)
        spans = [(request.start, request.end) for request in requests]
        actions = [
            _RequestInProgress(turn, segment, request, spans, working_set, ids, state_reader) for request in requests
        ]
        for action in [action for action in actions if not action.is_applied]:
            action.apply()


def _has_several_people(segment: Atom) -> bool:
    """Return whether more than one person speaks in a segment; assistants, tools and prompts are no people."""
    people = {turn.speaker for turn in turns_of(segment)}
    return sum(not (is_assistant(name) or is_tool(name) or is_system(name)) for name in people) > 1


@dataclass(frozen=True, slots=True)
class _RequestInProgress:
    """One request while it is applied; `request_spans` are the spans of all requests of its turn."""

    turn: CapturedTurn
    segment: Atom
    request: ForgetRequest
    request_spans: Sequence[tuple[int, int]]
    working_set: WorkingSet
    ids: Iterator[AtomId]
    state_reader: StateReader | None

    @property
    def evidence(self) -> Evidence:
        """The sentence that asks, as evidence."""
        return Evidence(self.turn.segment, self.turn.n, self.request.start, self.request.end)

    @property
    def _request_text(self) -> str:
        return self.turn.text[self.request.start : self.request.end]

    @property
    def is_applied(self) -> bool:
        """Return whether it was applied, or became a question, when the turn was read before."""
        return any(
            statement.status is Status.TOMBSTONED or proposal_type_of(statement) is ProposalType.FORGET
            for statement in self.working_set.statements_on(self.evidence)
        )

    def apply(self) -> None:
        """Withhold the target, or put a question into review."""
        if self.request.kind is RequestKind.SECRET:
            self._withhold([ForgetCandidate(self.evidence, self._request_text, self.turn.speaker, self.turn.at)], None)
        elif self.request.kind is RequestKind.KEEP_OUT:
            self._withhold(self._sentences_to_keep_out(), None)
        elif not self.request.topic:
            preceding = self._preceding_statements()
            self._withhold(preceding if self.request.is_everything else preceding[-1:], None)
        else:
            target = ForgetTarget(self.request, self._request_text, self.state_reader)
            choice = target.choose(
                [candidate for candidate in self._candidates(target) if self._has_sufficient_trust(candidate.evidence)]
            )
            if choice.is_clear:
                self._withhold(choice.sentences, target)
            elif choice.sentences:
                self._ask_reviewer(choice.sentences)

    def _sentences_to_keep_out(self) -> list[ForgetCandidate]:
        """Return the sentences of the turn, including the request if it has a topic; else those of the turn before."""
        to_withhold = [
            sentence
            for sentence in self._split_turn(self.turn)
            if (sentence.evidence.start, sentence.evidence.end) not in self.request_spans
        ]
        if self.request.topic:
            to_withhold.append(ForgetCandidate(self.evidence, self._request_text, self.turn.speaker, self.turn.at))
        return to_withhold or self._previous_turn_sentences()

    def _preceding_statements(self) -> list[ForgetCandidate]:
        """Return what the speaker stated before the request, in the same turn or in the one before."""
        earlier = [sentence for sentence in self._split_turn(self.turn) if sentence.evidence.end <= self.request.start]
        stated = [
            sentence
            for sentence in earlier
            if _states_something(sentence.text)
            and (sentence.evidence.start, sentence.evidence.end) not in self.request_spans
        ]
        return stated or [place for place in self._previous_turn_sentences() if _states_something(place.text)]

    def _previous_turn_sentences(self) -> list[ForgetCandidate]:
        """Return the sentences of the speaker's previous turn in the segment."""
        earlier = [
            turn for turn in turns_of(self.segment) if turn.n < self.turn.n and turn.speaker == self.turn.speaker
        ]
        return self._split_turn(earlier[-1]) if earlier else []

    def _split_turn(self, turn: CapturedTurn) -> list[ForgetCandidate]:
        return [
            ForgetCandidate(Evidence(turn.segment, turn.n, start, end), turn.text[start:end], turn.speaker, turn.at)
            for start, end in find_sentences(turn.text)
        ]

    def _candidates(self, target: ForgetTarget) -> Iterator[ForgetCandidate]:
        """Yield the speaker's sentences and statements from before the request that are not forgotten yet."""
        candidates: dict[Evidence, ForgetCandidate] = {}
        for atom, passage in self.working_set.search(target.words, FORGETTABLE_STATUSES, MAX_CANDIDATES):
            if atom.is_segment:
                at = passage.at or atom.observed_at
                turn = CapturedTurn(atom.id, passage.n, passage.text, passage.speaker, at)
                candidates |= {candidate.evidence: candidate for candidate in self._earlier_candidates(turn)}
            elif self._may_be_forgotten_itself(atom):
                whole_statement = Evidence(atom.id, 1, 0, len(atom.content))
                slot_text = f"{atom.subject} {atom.attribute or ''}"
                candidates.setdefault(
                    whole_statement,
                    ForgetCandidate(whole_statement, atom.content, self.turn.speaker, atom.observed_at, slot_text),
                )
        for turn in (*self._recently_stated_turns(), *turns_of(self.segment)):
            candidates |= {candidate.evidence: candidate for candidate in self._earlier_candidates(turn)}
        yield from candidates.values()

    def _may_be_forgotten_itself(self, atom: Atom) -> bool:
        """Return whether a statement rests on no words and on no other statements, whose retraction it follows."""
        is_original = not atom.evidence and not is_summary(atom)
        return is_original and atom.is_searched and atom.observed_at <= self.turn.at

    def _recently_stated_turns(self) -> Iterator[CapturedTurn]:
        """Yield the turns of the speaker's last statements: the model may recognise the topic in other words."""
        recent = (
            self.working_set.statements_about(speaker_subject(self.turn.speaker), MAX_CANDIDATES)
            if self.state_reader is not None
            else []
        )
        turn_keys = {(evidence.segment, evidence.passage) for atom in recent for evidence in atom.evidence}
        for segment, n in sorted(turn_keys):
            segment_atom = self.working_set.get(AtomId(segment))
            if segment_atom is not None:
                yield from (turn for turn in turns_of(segment_atom) if turn.n == n)

    def _earlier_candidates(self, turn: CapturedTurn) -> Iterator[ForgetCandidate]:
        """Yield the sentences of a turn of the same speaker from before the request that are not forgotten yet."""
        is_same_turn = (turn.segment, turn.n) == (self.turn.segment, self.turn.n)
        is_later = turn.at > self.turn.at or (turn.segment == self.turn.segment and turn.n > self.turn.n)
        if is_later or turn.speaker != self.turn.speaker:
            return
        for sentence in self._split_turn(turn):
            if is_same_turn and (sentence.evidence.start, sentence.evidence.end) in self.request_spans:
                continue
            statements = [
                statement for statement in self.working_set.statements_on(sentence.evidence) if statement.is_searched
            ]
            if not statements or any(statement.status is not Status.TOMBSTONED for statement in statements):
                statement_text = " ".join(
                    f"{statement.attribute or ''} {statement.content}" for statement in statements
                )
                yield ForgetCandidate(
                    sentence.evidence, sentence.text, sentence.speaker, sentence.said_at, statement_text
                )

    def _withhold(self, candidates: Sequence[ForgetCandidate], target: ForgetTarget | None) -> None:
        """Make tombstones of the statements on these sentences, or of the sentences themselves."""
        permitted = [candidate for candidate in candidates if self._has_sufficient_trust(candidate.evidence)]
        by_evidence = {candidate.evidence: candidate for candidate in (*permitted, *self._other_evidence(permitted))}
        tombstones = [
            tombstone for sentence in by_evidence.values() for tombstone in self._make_tombstones(sentence, target)
        ]
        if tombstones:
            add_evidence(self.working_set, tombstones[0], (self.evidence,))

    def _other_evidence(self, candidates: Sequence[ForgetCandidate]) -> Iterator[ForgetCandidate]:
        """Yield the other evidence of the statements on these sentences, as it would still say the same."""
        for place in candidates:
            for statement in self._forgettable_statements(place.evidence):
                for evidence in statement.evidence:
                    text = text_of_evidence(evidence, self.working_set)
                    if text is not None and self._has_sufficient_trust(evidence):
                        yield ForgetCandidate(evidence, text, place.speaker, place.said_at)

    def _forgettable_statements(self, evidence: Evidence) -> list[Atom]:
        """Return the statements on a sentence that can be forgotten and that the request may end."""
        statements = (
            statement
            for statement in self.working_set.statements_on(evidence)
            if statement.status in FORGETTABLE_STATUSES and statement.is_searched
        )
        return [
            statement
            for statement in statements
            if not statement.is_segment and may_challenge(statement, self.segment.origin, self.working_set.store)
            if proposal_type_of(statement) is not ProposalType.FORGET
        ]

    def _make_tombstones(self, candidate: ForgetCandidate, target: ForgetTarget | None) -> list[Atom]:
        """Return the tombstones of the statements on a sentence, or one of the sentence itself."""
        request_time = {FORGET_REQUESTED_AT: format_time(self.turn.at)}
        tombstones = [
            self._record_tombstone(
                atom.with_(
                    status=Status.TOMBSTONED,
                    value=atom.value or candidate.key_words(target),
                    metadata={**atom.metadata, **request_time},
                )
            )
            for atom in self._forgettable_statements(candidate.evidence)
        ]
        is_statement = not self._is_segment(candidate.evidence)
        return (
            tombstones
            if tombstones or is_statement
            else [self._record_tombstone(self._make_sentence_tombstone(candidate, target))]
        )

    def _is_segment(self, evidence: Evidence) -> bool:
        atom = self.working_set.get(AtomId(evidence.segment))
        return atom is not None and atom.is_segment

    def _make_sentence_tombstone(self, candidate: ForgetCandidate, target: ForgetTarget | None) -> Atom:
        """Return a new tombstone with the words of a sentence."""
        segment = self.working_set.get(AtomId(candidate.evidence.segment)) or self.segment
        origin = min(self.segment.origin, segment.origin, key=lambda origin: TRUST[origin])
        return Atom(
            id=next(self.ids),
            scope=self.segment.scope,
            kind="fact",
            content=one_line(candidate.text),
            observed_at=candidate.said_at,
            subject=speaker_subject(candidate.speaker),
            value=candidate.key_words(target),
            evidence=(candidate.evidence,),
            origin=origin,
            principal=self.segment.principal,
            status=Status.TOMBSTONED,
            metadata={FORGET_REQUESTED_AT: format_time(self.turn.at)},
            session_id=segment.session_id,
            source_id=segment.source_id,
            **kind_defaults("fact", 1.0, origin),
        )

    def _record_tombstone(self, tombstone: Atom) -> Atom:
        """Record a tombstone and return it, with repetitions of its value as evidence.

        They are left out if another sentence states the value too.
        """
        self.working_set.record_change(tombstone)
        if tombstone.value and not self._is_stated_elsewhere(tombstone):
            tombstone = add_repetitions(tombstone, self.working_set)
            self.working_set.record_change(tombstone)
        return tombstone

    def _is_stated_elsewhere(self, tombstone: Atom) -> bool:
        """Return whether the speaker states the same value in another sentence, which a repetition may mean."""
        value = set(content_tokens(tombstone.value or ""))
        for atom, passage in self.working_set.search(sorted(value), CURRENT_STATUSES, MAX_CANDIDATES):
            if not atom.is_segment or is_assistant(passage.speaker) or statements_need_review(atom.origin):
                continue
            for start, end in find_sentences(passage.text):
                text, evidence = passage.text[start:end], Evidence(atom.id, passage.n, start, end)
                is_other = evidence != self.evidence and not any(
                    statement.id == tombstone.id for statement in self.working_set.statements_on(evidence)
                )
                if is_other and value <= set(content_tokens(text)) and not is_question(text):
                    return True
        return False

    def _ask_reviewer(self, candidates: Sequence[ForgetCandidate]) -> None:
        """Put one question into review: are these the sentences to forget?"""
        sentence_texts = " / ".join(one_line(sentence.text) for sentence in candidates)
        statements = {atom.id for place in candidates for atom in self._forgettable_statements(place.evidence)}
        question = Atom(
            id=next(self.ids),
            scope=self.segment.scope,
            kind="fact",
            content=f"Forget this? {sentence_texts}",
            observed_at=self.turn.at,
            subject=speaker_subject(self.turn.speaker),
            evidence=(self.evidence,),
            origin=self.segment.origin,
            principal=self.segment.principal,
            status=Status.CONSTRAINED,
            derived_from=tuple(sorted(statements)),
            session_id=self.segment.session_id,
            confidence=0.5,
            metadata={
                PROPOSAL_TYPE_KEY: ProposalType.FORGET.value,
                FORGET_REQUESTED_AT: format_time(self.turn.at),
                FORGET_PLACES_KEY: format_places(
                    [sentence.evidence for sentence in candidates if self._is_segment(sentence.evidence)]
                ),
            },
            **kind_defaults("fact", 0.5, self.segment.origin),
        )
        self.working_set.record_change(question)

    def _has_sufficient_trust(self, evidence: Evidence) -> bool:
        """Return whether the words of a sentence are no more trusted than those of the request."""
        atom = self.working_set.get(AtomId(evidence.segment))
        return atom is not None and TRUST[atom.origin] <= TRUST[self.segment.origin]


def _states_something(sentence: str) -> bool:
    """Return whether a sentence may state something: no question, and not too short."""
    return not is_question(sentence) and len(sentence.split()) >= _MIN_WORDS
