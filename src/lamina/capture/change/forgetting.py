"""Applying requests to forget or not to store: statements become tombstones, and so do sentences without a statement.

The words stay in the journal and are only withheld from recall; undoing the commit brings them back. If it is unclear
which memory is meant, one question waits in review instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lamina.atom.atom import Atom, Evidence, kind_defaults
from lamina.atom.identity import AtomId
from lamina.atom.passage import passage_of, passages_of
from lamina.atom.proposal import PLACES, TYPE, Proposal, proposal_of, write_places
from lamina.atom.status import Status
from lamina.atom.trust import TRUST, statements_wait
from lamina.capture.change.dependants import may_end
from lamina.capture.change.echo import repeated
from lamina.capture.change.forget_target import ForgetTarget, Place
from lamina.capture.change.known import STANDS, Known
from lamina.capture.current import ASKED_AT, asked_at, ended_at
from lamina.capture.forget_requests import LEAST, LEAST_LIGHT, ForgetRequest, RequestKind, forget_requests
from lamina.capture.found import Said
from lamina.capture.prose import is_pasted, is_question
from lamina.capture.state_extractor import subject_of
from lamina.states.state_reader import StateReader
from lamina.store.base import Store
from lamina.text.analyse import content_words
from lamina.text.normal import normal_form, one_line
from lamina.text.roles import is_assistant
from lamina.text.sentences import sentences
from lamina.text.times import format_time

LIVE = STANDS | {Status.CONSTRAINED, Status.CHALLENGED}
"""The statuses of statements that can be forgotten."""
REASON = "withheld: a user asked to forget it or not to store it, or it is a secret"
QUESTION_REASON = "it is unclear which memory is to be forgotten; waiting for review"
LOOKED_AT = 60
"""How many passages are searched for the target of a request."""
_TAKEN_BACK = frozenset({Status.TOMBSTONED})
_FEW = 10
_FEWEST_WORDS = 3
"""Shorter sentences state nothing that "forget that" could mean."""


def carry_out_requests(
    turns: Sequence[Said], known: Known, store: Store, ids: Iterator[AtomId], states: StateReader | None
) -> None:
    """Withhold what users ask in these turns to forget or not to store."""
    for turn in turns:
        segment = known.get(AtomId(turn.segment))
        if segment is None or is_assistant(turn.speaker) or statements_wait(segment.origin) or is_pasted(turn.text):
            continue
        min_probability = LEAST_LIGHT if states is not None and states.is_light else LEAST
        requests = forget_requests(turn.text, states.read(turn.text) if states else (), min_probability)
        spans = [(request.start, request.end) for request in requests]
        actions = [_Request(turn, segment, request, spans, known, store, ids, states) for request in requests]
        for action in [action for action in actions if not action.is_done]:
            action.carry_out()


def withhold_repetitions(turns: Sequence[Said], known: Known, store: Store) -> None:
    """Withhold repetitions of forgotten sentences, unless a user says them again later."""
    for turn in turns:
        segment = known.get(AtomId(turn.segment))
        words = content_words(turn.text[:4000])
        if segment is None or not words:
            continue
        tombstones = [atom for atom, _ in known.search(words, _TAKEN_BACK, _FEW) if not atom.is_segment]
        is_trusted = not (is_assistant(turn.speaker) or statements_wait(segment.origin) or is_pasted(turn.text))
        for start, end in sentences(turn.text):
            evidence, form = Evidence(turn.segment, turn.n, start, end), normal_form(turn.text[start:end])
            for tombstone in (atom for atom in tombstones if form and form in _forms(atom, known)):
                at = ended_at(tombstone, store) if tombstone.revision else asked_at(tombstone)
                if at is not None and (not is_trusted or turn.at <= at):
                    _rest(known, tombstone, (evidence,))
            _withhold_new_statements(evidence, known)


def _withhold_new_statements(place: Evidence, known: Known) -> None:
    """Forget new statements whose only evidence is a forgotten sentence."""
    statements = known.on(place)
    if not any(statement.status is Status.TOMBSTONED and statement.value is not None for statement in statements):
        return
    for statement in statements:
        is_new = (
            not statement.revision and len(statement.evidence) == 1 and proposal_of(statement) is not Proposal.FORGET
        )
        if is_new and statement.status in LIVE and statement.is_searched:
            known.put(statement.with_(status=Status.TOMBSTONED))


def _rest(known: Known, atom: Atom, places: Sequence[Evidence]) -> None:
    """Add evidence to an atom."""
    latest = known.get(atom.id) or atom
    new_evidence = tuple(evidence for evidence in places if evidence not in latest.evidence)
    if new_evidence:
        known.put(latest.with_(evidence=(*latest.evidence, *new_evidence)))


def _forms(ended: Atom, known: Known) -> Iterator[str]:
    """Yield the normal forms of the sentences that say what was forgotten."""
    yield normal_form(ended.content)
    for evidence in ended.evidence:
        text = _text_at(evidence, known)
        if text is not None:
            yield normal_form(text)


def _text_at(place: Evidence, known: Known) -> str | None:
    """Return the text of a sentence; None if its passage is gone."""
    segment = known.get(AtomId(place.segment))
    passage = passage_of(segment, place.passage) if segment else None
    return passage.text[place.start : place.end] if passage else None


@dataclass(frozen=True, slots=True)
class _Request:
    """One request while it is applied; `request_spans` are the spans of all requests of its turn."""

    turn: Said
    segment: Atom
    request: ForgetRequest
    asking: Sequence[tuple[int, int]]
    known: Known
    store: Store
    ids: Iterator[AtomId]
    states: StateReader | None

    @property
    def place(self) -> Evidence:
        """The sentence that asks, as evidence."""
        return Evidence(self.turn.segment, self.turn.n, self.request.start, self.request.end)

    @property
    def _asking(self) -> str:
        return self.turn.text[self.request.start : self.request.end]

    @property
    def is_done(self) -> bool:
        """Whether it was applied, or its question asked, when the turn was read before."""
        return any(
            statement.status is Status.TOMBSTONED or proposal_of(statement) is Proposal.FORGET
            for statement in self.known.on(self.place)
        )

    def carry_out(self) -> None:
        """Withhold the target, or put a question into review."""
        if self.request.kind is RequestKind.SECRET:
            self._withhold([Place(self.place, self._asking, self.turn.speaker, self.turn.at)], None)
        elif self.request.kind is RequestKind.KEEP_OUT:
            self._withhold(self._being_said(), None)
        elif not self.request.topic:
            preceding = self._said_last()
            self._withhold(preceding if self.request.is_all else preceding[-1:], None)
        else:
            target = ForgetTarget(self.request, self._asking, self.states)
            choice = target.choose(
                [candidate for candidate in self._candidates(target) if self._may_touch(candidate.at)]
            )
            if choice.is_clear:
                self._withhold(choice.places, target)
            elif choice.places:
                self._ask(choice.places)

    def _being_said(self) -> list[Place]:
        """Return the sentences of the turn, including the request if it has a topic; else those of the turn before."""
        to_withhold = [
            sentence
            for sentence in self._sentences(self.turn)
            if (sentence.at.start, sentence.at.end) not in self.asking
        ]
        if self.request.topic:
            to_withhold.append(Place(self.place, self._asking, self.turn.speaker, self.turn.at))
        return to_withhold or self._sentences_before()

    def _said_last(self) -> list[Place]:
        """Return what the speaker stated before the request, in the same turn or in the one before."""
        earlier = [sentence for sentence in self._sentences(self.turn) if sentence.at.end <= self.request.start]
        stated = [
            sentence
            for sentence in earlier
            if _tells(sentence.text) and (sentence.at.start, sentence.at.end) not in self.asking
        ]
        return stated or [place for place in self._sentences_before() if _tells(place.text)]

    def _sentences_before(self) -> list[Place]:
        """Return the sentences of the speaker's previous turn in the segment."""
        earlier_turns = [
            passage
            for passage in passages_of(self.segment)
            if passage.n < self.turn.n and passage.speaker == self.turn.speaker
        ]
        if not earlier_turns:
            return []
        at = earlier_turns[-1].at or self.segment.observed_at
        return self._sentences(
            Said(self.segment.id, earlier_turns[-1].n, earlier_turns[-1].text, earlier_turns[-1].speaker, at)
        )

    def _sentences(self, said: Said) -> list[Place]:
        return [
            Place(Evidence(said.segment, said.n, start, end), said.text[start:end], said.speaker, said.at)
            for start, end in sentences(said.text)
        ]

    def _candidates(self, target: ForgetTarget) -> Iterator[Place]:
        """Yield the speaker's sentences and statements from before the request that are not forgotten yet."""
        candidates: dict[Evidence, Place] = {}
        for atom, passage in self.known.search(target.words, LIVE, LOOKED_AT):
            if atom.is_segment:
                at = passage.at or atom.observed_at
                turn = Said(atom.id, passage.n, passage.text, passage.speaker, at)
                candidates |= {candidate.at: candidate for candidate in self._earlier(turn)}
            elif not atom.evidence and atom.is_searched and atom.observed_at <= self.turn.at:
                whole_statement = Evidence(atom.id, 1, 0, len(atom.content))
                slot_text = f"{atom.subject} {atom.attribute or ''}"
                candidates.setdefault(
                    whole_statement,
                    Place(whole_statement, atom.content, self.turn.speaker, atom.observed_at, slot_text),
                )
        for turn in (*self._stated_lately(), *self._said_in(self.segment)):
            candidates |= {candidate.at: candidate for candidate in self._earlier(turn)}
        yield from candidates.values()

    def _stated_lately(self) -> Iterator[Said]:
        """Yield the turns of the speaker's last statements: the model may recognise the topic in other words."""
        recent = self.known.about(subject_of(self.turn.speaker), LOOKED_AT) if self.states is not None else []
        turn_keys = {(evidence.segment, evidence.passage) for atom in recent for evidence in atom.evidence}
        for segment, n in sorted(turn_keys):
            segment_atom = self.known.get(AtomId(segment))
            if segment_atom is not None:
                yield from (turn for turn in self._said_in(segment_atom) if turn.n == n)

    def _said_in(self, segment: Atom) -> Iterator[Said]:
        for passage in passages_of(segment):
            yield Said(segment.id, passage.n, passage.text, passage.speaker, passage.at or segment.observed_at)

    def _earlier(self, said: Said) -> Iterator[Place]:
        """Yield the sentences of a turn of the same speaker from before the request that are not forgotten yet."""
        is_same_turn = (said.segment, said.n) == (self.turn.segment, self.turn.n)
        is_later = said.at > self.turn.at or (said.segment == self.turn.segment and said.n > self.turn.n)
        if is_later or said.speaker != self.turn.speaker:
            return
        for sentence in self._sentences(said):
            if is_same_turn and (sentence.at.start, sentence.at.end) in self.asking:
                continue
            statements = [statement for statement in self.known.on(sentence.at) if statement.is_searched]
            if not statements or any(statement.status is not Status.TOMBSTONED for statement in statements):
                statement_text = " ".join(
                    f"{statement.attribute or ''} {statement.content}" for statement in statements
                )
                yield Place(sentence.at, sentence.text, sentence.speaker, sentence.time, statement_text)

    def _withhold(self, places: Sequence[Place], target: ForgetTarget | None) -> None:
        """Make tombstones of the statements on these sentences, or of the sentences themselves."""
        permitted = [candidate for candidate in places if self._may_touch(candidate.at)]
        by_evidence = {candidate.at: candidate for candidate in (*permitted, *self._said_elsewhere(permitted))}
        tombstones = [
            tombstone for sentence in by_evidence.values() for tombstone in self._tombstones(sentence, target)
        ]
        if tombstones:
            _rest(self.known, tombstones[0], (self.place,))

    def _said_elsewhere(self, places: Sequence[Place]) -> Iterator[Place]:
        """Yield the other evidence of the statements on these sentences, as it would still say the same."""
        for place in places:
            for statement in self._live_on(place.at):
                for evidence in statement.evidence:
                    text = _text_at(evidence, self.known)
                    if text is not None and self._may_touch(evidence):
                        yield Place(evidence, text, place.speaker, place.time)

    def _live_on(self, place: Evidence) -> list[Atom]:
        """Return the statements on a sentence that can be forgotten and that the request may end."""
        statements = (
            statement for statement in self.known.on(place) if statement.status in LIVE and statement.is_searched
        )
        return [
            statement
            for statement in statements
            if not statement.is_segment and may_end(statement, self.segment.origin, self.store)
            if proposal_of(statement) is not Proposal.FORGET
        ]

    def _tombstones(self, place: Place, target: ForgetTarget | None) -> list[Atom]:
        """Return the tombstones of the statements on a sentence, or one of the sentence itself."""
        request_time = {ASKED_AT: format_time(self.turn.at)}
        tombstones = [
            self._put(
                atom.with_(
                    status=Status.TOMBSTONED,
                    value=atom.value or place.value(target),
                    metadata={**atom.metadata, **request_time},
                )
            )
            for atom in self._live_on(place.at)
        ]
        is_statement = not self._is_segment(place.at)
        return tombstones if tombstones or is_statement else [self._put(self._tombstone(place, target))]

    def _is_segment(self, place: Evidence) -> bool:
        atom = self.known.get(AtomId(place.segment))
        return atom is not None and atom.is_segment

    def _tombstone(self, place: Place, target: ForgetTarget | None) -> Atom:
        """Return a new tombstone with the words of a sentence."""
        segment = self.known.get(AtomId(place.at.segment)) or self.segment
        origin = min(self.segment.origin, segment.origin, key=lambda origin: TRUST[origin])
        return Atom(
            id=next(self.ids),
            scope=self.segment.scope,
            kind="fact",
            content=one_line(place.text),
            observed_at=place.time,
            subject=subject_of(place.speaker),
            value=place.value(target),
            evidence=(place.at,),
            origin=origin,
            principal=self.segment.principal,
            status=Status.TOMBSTONED,
            metadata={ASKED_AT: format_time(self.turn.at)},
            session_id=segment.session_id,
            source_id=segment.source_id,
            **kind_defaults("fact", 1.0, origin),
        )

    def _put(self, ended: Atom) -> Atom:
        """Record a tombstone and return it, with repetitions of its value as evidence.

        They are left out if another sentence states the value too.
        """
        self.known.put(ended)
        if ended.value and not self._is_said_otherwise(ended):
            ended = repeated(ended, self.known)
            self.known.put(ended)
        return ended

    def _is_said_otherwise(self, ended: Atom) -> bool:
        """Return whether the speaker states the same value in another sentence, which a repetition may mean."""
        value = set(content_words(ended.value or ""))
        for atom, passage in self.known.search(sorted(value), STANDS, LOOKED_AT):
            if not atom.is_segment or is_assistant(passage.speaker) or statements_wait(atom.origin):
                continue
            for start, end in sentences(passage.text):
                text, evidence = passage.text[start:end], Evidence(atom.id, passage.n, start, end)
                is_other = evidence != self.place and not any(
                    statement.id == ended.id for statement in self.known.on(evidence)
                )
                if is_other and value <= set(content_words(text)) and not is_question(text):
                    return True
        return False

    def _ask(self, places: Sequence[Place]) -> None:
        """Put one question into review: are these the sentences to forget?"""
        sentence_texts = " / ".join(one_line(sentence.text) for sentence in places)
        statements = {atom.id for place in places for atom in self._live_on(place.at)}
        question = Atom(
            id=next(self.ids),
            scope=self.segment.scope,
            kind="fact",
            content=f"Forget this? {sentence_texts}",
            observed_at=self.turn.at,
            subject=subject_of(self.turn.speaker),
            evidence=(self.place,),
            origin=self.segment.origin,
            principal=self.segment.principal,
            status=Status.CONSTRAINED,
            derived_from=tuple(sorted(statements)),
            session_id=self.segment.session_id,
            confidence=0.5,
            metadata={
                TYPE: Proposal.FORGET.value,
                ASKED_AT: format_time(self.turn.at),
                PLACES: write_places([sentence.at for sentence in places if self._is_segment(sentence.at)]),
            },
            **kind_defaults("fact", 0.5, self.segment.origin),
        )
        self.known.put(question)

    def _may_touch(self, at: Evidence) -> bool:
        """Return whether the words of a sentence are no more trusted than those of the request."""
        atom = self.known.get(AtomId(at.segment))
        return atom is not None and TRUST[atom.origin] <= TRUST[self.segment.origin]


def _tells(sentence: str) -> bool:
    """Return whether a sentence may state something: no question, and not too short."""
    return not is_question(sentence) and len(sentence.split()) >= _FEWEST_WORDS
