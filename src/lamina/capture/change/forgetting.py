"""Carrying out requests to forget or not to keep: statements become tombstones, and so do sentences without one.

Nothing is lost: the words are only withheld from recall, in one commit with the request, and come back when it is
undone. Where it is unclear which memory is meant, one question waits in review instead.
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
"""What can be forgotten."""
REASON = "withheld: somebody asked to forget it or not to keep it, or it is a secret"
QUESTION_REASON = "it is unclear which memory is to be forgotten; waiting for review"
LOOKED_AT = 60
_TAKEN_BACK = frozenset({Status.TOMBSTONED})
_FEW = 10
_FEWEST_WORDS = 3
"""Shorter sentences tell nothing that "forget that" could mean."""


def carry_out_requests(
    turns: Sequence[Said], known: Known, store: Store, ids: Iterator[AtomId], states: StateReader | None
) -> None:
    """Withhold what people ask in these turns to have forgotten or not kept."""
    for turn in turns:
        segment = known.get(AtomId(turn.segment))
        if segment is None or is_assistant(turn.speaker) or statements_wait(segment.origin) or is_pasted(turn.text):
            continue
        least = LEAST_LIGHT if states is not None and states.is_light else LEAST
        requests = forget_requests(turn.text, states.read(turn.text) if states else (), least)
        spans = [(request.start, request.end) for request in requests]
        work = [_Request(turn, segment, request, spans, known, store, ids, states) for request in requests]
        for each in [each for each in work if not each.is_done]:
            each.carry_out()


def withhold_repetitions(turns: Sequence[Said], known: Known, store: Store) -> None:
    """Withhold sentences that were taken back before and come again, unless a person says them anew later."""
    for turn in turns:
        segment = known.get(AtomId(turn.segment))
        words = content_words(turn.text[:4000])
        if segment is None or not words:
            continue
        ended = [atom for atom, _ in known.search(words, _TAKEN_BACK, _FEW) if not atom.is_segment]
        is_anew = not (is_assistant(turn.speaker) or statements_wait(segment.origin) or is_pasted(turn.text))
        for start, end in sentences(turn.text):
            place, form = Evidence(turn.segment, turn.n, start, end), normal_form(turn.text[start:end])
            for tombstone in (each for each in ended if form and form in _forms(each, known)):
                at = ended_at(tombstone, store) if tombstone.revision else asked_at(tombstone)
                if at is not None and (not is_anew or turn.at <= at):
                    _rest(known, tombstone, (place,))
            _withhold_new_statements(place, known)


def _withhold_new_statements(place: Evidence, known: Known) -> None:
    """Take back what was only now made of a sentence that is taken back."""
    resting = known.on(place)
    if not any(each.status is Status.TOMBSTONED and each.value is not None for each in resting):
        return
    for each in resting:
        is_new = not each.revision and len(each.evidence) == 1 and proposal_of(each) is not Proposal.FORGET
        if is_new and each.status in LIVE and each.is_searched:
            known.put(each.with_(status=Status.TOMBSTONED))


def _rest(known: Known, atom: Atom, places: Sequence[Evidence]) -> None:
    current = known.get(atom.id) or atom
    fresh = tuple(place for place in places if place not in current.evidence)
    if fresh:
        known.put(current.with_(evidence=(*current.evidence, *fresh)))


def _forms(ended: Atom, known: Known) -> Iterator[str]:
    """The sentences that say what was taken back."""
    yield normal_form(ended.content)
    for each in ended.evidence:
        text = _text_at(each, known)
        if text is not None:
            yield normal_form(text)


def _text_at(place: Evidence, known: Known) -> str | None:
    words = known.get(AtomId(place.segment))
    passage = passage_of(words, place.passage) if words else None
    return passage.text[place.start : place.end] if passage else None


@dataclass(frozen=True, slots=True)
class _Request:
    """One request being carried out; `asking` are the spans of all requests of its turn."""

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
        return Evidence(self.turn.segment, self.turn.n, self.request.start, self.request.end)

    @property
    def _asking(self) -> str:
        return self.turn.text[self.request.start : self.request.end]

    @property
    def is_done(self) -> bool:
        """Whether it was carried out, or its question asked, when the words were read before."""
        return any(
            each.status is Status.TOMBSTONED or proposal_of(each) is Proposal.FORGET
            for each in self.known.on(self.place)
        )

    def carry_out(self) -> None:
        """Withhold what is meant, or ask."""
        if self.request.kind is RequestKind.SECRET:
            self._withhold([Place(self.place, self._asking, self.turn.speaker, self.turn.at)], None)
        elif self.request.kind is RequestKind.KEEP_OUT:
            self._withhold(self._being_said(), None)
        elif not self.request.topic:
            said = self._said_last()
            self._withhold(said if self.request.is_all else said[-1:], None)
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
        """The sentences of the turn itself, the asking one too if it says more; else those of the turn before."""
        own = [
            sentence
            for sentence in self._sentences(self.turn)
            if (sentence.at.start, sentence.at.end) not in self.asking
        ]
        if self.request.topic:
            own.append(Place(self.place, self._asking, self.turn.speaker, self.turn.at))
        return own or self._sentences_before()

    def _said_last(self) -> list[Place]:
        """What the speaker told before the request, in the same turn or in the one before."""
        own = [sentence for sentence in self._sentences(self.turn) if sentence.at.end <= self.request.start]
        telling = [each for each in own if _tells(each.text) and (each.at.start, each.at.end) not in self.asking]
        return telling or [place for place in self._sentences_before() if _tells(place.text)]

    def _sentences_before(self) -> list[Place]:
        own = [
            passage
            for passage in passages_of(self.segment)
            if passage.n < self.turn.n and passage.speaker == self.turn.speaker
        ]
        if not own:
            return []
        at = own[-1].at or self.segment.observed_at
        return self._sentences(Said(self.segment.id, own[-1].n, own[-1].text, own[-1].speaker, at))

    def _sentences(self, said: Said) -> list[Place]:
        return [
            Place(Evidence(said.segment, said.n, start, end), said.text[start:end], said.speaker, said.at)
            for start, end in sentences(said.text)
        ]

    def _candidates(self, target: ForgetTarget) -> Iterator[Place]:
        """The speaker's sentences and statements that were said before the request and still stand."""
        found: dict[Evidence, Place] = {}
        for atom, passage in self.known.search(target.words, LIVE, LOOKED_AT):
            if atom.is_segment:
                at = passage.at or atom.observed_at
                said = Said(atom.id, passage.n, passage.text, passage.speaker, at)
                found |= {each.at: each for each in self._earlier(said)}
            elif not atom.evidence and atom.is_searched and atom.observed_at <= self.turn.at:
                whole = Evidence(atom.id, 1, 0, len(atom.content))
                more = f"{atom.subject} {atom.attribute or ''}"
                found.setdefault(whole, Place(whole, atom.content, self.turn.speaker, atom.observed_at, more))
        for said in (*self._stated_lately(), *self._said_in(self.segment)):
            found |= {each.at: each for each in self._earlier(said)}
        yield from found.values()

    def _stated_lately(self) -> Iterator[Said]:
        """The turns of the speaker's last statements: the model may see the topic in other words."""
        recent = self.known.about(subject_of(self.turn.speaker), LOOKED_AT) if self.states is not None else []
        places = {(each.segment, each.passage) for atom in recent for each in atom.evidence}
        for segment, n in sorted(places):
            words = self.known.get(AtomId(segment))
            if words is not None:
                yield from (said for said in self._said_in(words) if said.n == n)

    def _said_in(self, segment: Atom) -> Iterator[Said]:
        for passage in passages_of(segment):
            yield Said(segment.id, passage.n, passage.text, passage.speaker, passage.at or segment.observed_at)

    def _earlier(self, said: Said) -> Iterator[Place]:
        is_same_turn = (said.segment, said.n) == (self.turn.segment, self.turn.n)
        is_later = said.at > self.turn.at or (said.segment == self.turn.segment and said.n > self.turn.n)
        if is_later or said.speaker != self.turn.speaker:
            return
        for place in self._sentences(said):
            if is_same_turn and (place.at.start, place.at.end) in self.asking:
                continue
            resting = [each for each in self.known.on(place.at) if each.is_searched]
            if not resting or any(each.status is not Status.TOMBSTONED for each in resting):
                more = " ".join(f"{each.attribute or ''} {each.content}" for each in resting)
                yield Place(place.at, place.text, place.speaker, place.time, more)

    def _withhold(self, places: Sequence[Place], target: ForgetTarget | None) -> None:
        """Make tombstones of the statements on these sentences, or of the sentences themselves."""
        touched = [each for each in places if self._may_touch(each.at)]
        every = {each.at: each for each in (*touched, *self._said_elsewhere(touched))}
        ended = [tombstone for place in every.values() for tombstone in self._tombstones(place, target)]
        if ended:
            _rest(self.known, ended[0], (self.place,))

    def _said_elsewhere(self, places: Sequence[Place]) -> Iterator[Place]:
        """The other sentences that the statements on these rest on: to leave one would be to leave it said."""
        for place in places:
            for statement in self._live_on(place.at):
                for each in statement.evidence:
                    text = _text_at(each, self.known)
                    if text is not None and self._may_touch(each):
                        yield Place(each, text, place.speaker, place.time)

    def _live_on(self, place: Evidence) -> list[Atom]:
        resting = (each for each in self.known.on(place) if each.status in LIVE and each.is_searched)
        return [
            each
            for each in resting
            if not each.is_segment and may_end(each, self.segment.origin, self.store)
            if proposal_of(each) is not Proposal.FORGET
        ]

    def _tombstones(self, place: Place, target: ForgetTarget | None) -> list[Atom]:
        told = {ASKED_AT: format_time(self.turn.at)}
        ended = [
            self._put(
                atom.with_(
                    status=Status.TOMBSTONED,
                    value=atom.value or place.value(target),
                    metadata={**atom.metadata, **told},
                )
            )
            for atom in self._live_on(place.at)
        ]
        is_statement = not self._is_segment(place.at)
        return ended if ended or is_statement else [self._put(self._tombstone(place, target))]

    def _is_segment(self, place: Evidence) -> bool:
        words = self.known.get(AtomId(place.segment))
        return words is not None and words.is_segment

    def _tombstone(self, place: Place, target: ForgetTarget | None) -> Atom:
        """A tombstone in the very words of a sentence."""
        words = self.known.get(AtomId(place.at.segment)) or self.segment
        origin = min(self.segment.origin, words.origin, key=lambda each: TRUST[each])
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
            session_id=words.session_id,
            source_id=words.source_id,
            **kind_defaults("fact", 1.0, origin),
        )

    def _put(self, ended: Atom) -> Atom:
        self.known.put(ended)
        if ended.value and not self._is_said_otherwise(ended):
            ended = repeated(ended, self.known)
            self.known.put(ended)
        return ended

    def _is_said_otherwise(self, ended: Atom) -> bool:
        """Whether the speaker's own words name the same value in another sentence, which an echo may mean."""
        value = set(content_words(ended.value or ""))
        for atom, passage in self.known.search(sorted(value), STANDS, LOOKED_AT):
            if not atom.is_segment or is_assistant(passage.speaker) or statements_wait(atom.origin):
                continue
            for start, end in sentences(passage.text):
                text, place = passage.text[start:end], Evidence(atom.id, passage.n, start, end)
                is_other = place != self.place and not any(each.id == ended.id for each in self.known.on(place))
                if is_other and value <= set(content_words(text)) and not is_question(text):
                    return True
        return False

    def _ask(self, places: Sequence[Place]) -> None:
        """Put one question into review: are these the words to forget?"""
        told = " / ".join(one_line(each.text) for each in places)
        statements = {atom.id for place in places for atom in self._live_on(place.at)}
        question = Atom(
            id=next(self.ids),
            scope=self.segment.scope,
            kind="fact",
            content=f"Forget this? {told}",
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
                PLACES: write_places([each.at for each in places if self._is_segment(each.at)]),
            },
            **kind_defaults("fact", 0.5, self.segment.origin),
        )
        self.known.put(question)

    def _may_touch(self, at: Evidence) -> bool:
        """Whoever asks has no say over words of somebody more trusted."""
        words = self.known.get(AtomId(at.segment))
        return words is not None and TRUST[words.origin] <= TRUST[self.segment.origin]


def _tells(sentence: str) -> bool:
    return not is_question(sentence) and len(sentence.split()) >= _FEWEST_WORDS
