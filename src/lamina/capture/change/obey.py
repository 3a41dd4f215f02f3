"""Doing what somebody asks who wants something forgotten: what says it is taken back, and its sentences with it.

Nothing is lost by it: statements become tombstones, and a sentence of which no statement was made becomes one, so that
recall no longer shows it. All of it is one commit with the words of the request, and is undone with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lamina.atom.atom import Atom, Evidence, kind_defaults
from lamina.atom.identity import AtomId
from lamina.atom.passage import passage_of, passages_of
from lamina.atom.status import Status
from lamina.atom.trust import TRUST, statements_wait
from lamina.capture.change.dependants import may_end
from lamina.capture.change.echo import repeated
from lamina.capture.change.forgetting import Request, requests
from lamina.capture.change.items import ME, items
from lamina.capture.change.known import STANDS, Known
from lamina.capture.change.meant import LOOKED_AT, Place, Target, goes_on, is_question, spelt, terms
from lamina.capture.current import ASKED_AT, asked_at, ended_at
from lamina.capture.found import Said
from lamina.capture.rules.classes import is_pasted
from lamina.store.base import Store
from lamina.text.analyse import QUESTION_STOP, analyse
from lamina.text.normal import normal_form, one_line
from lamina.text.roles import is_assistant, is_role
from lamina.text.sentences import sentences
from lamina.text.times import format_time

LIVE = STANDS | {Status.CONSTRAINED, Status.CHALLENGED}
"""What can be taken back."""
REASON = "taken back, as somebody asked to forget it"
_TAKEN_BACK = frozenset({Status.TOMBSTONED})
_FEW = 10


def obey(turns: Sequence[Said], known: Known, store: Store, ids: Iterator[AtomId]) -> None:
    """Take back what people ask in these turns to have forgotten."""
    for turn in turns:
        segment = known.get(AtomId(turn.segment))
        if segment is None or is_assistant(turn.speaker) or statements_wait(segment.origin):
            continue  # what is pasted is told by the grammar, sentence by sentence
        before = _before(turn, segment)
        asked = requests(turn.text, before.text if before else "")
        for request in [each for each in asked if not _is_obeyed(each, turn, known)]:
            _Obeying(turn, segment, request, known, store, ids).do(before)


def _is_obeyed(request: Request, turn: Said, known: Known) -> bool:
    """Whether it was carried out when it was heard first."""
    place = Evidence(turn.segment, turn.n, request.start, request.end)
    return any(each.status is Status.TOMBSTONED for each in known.on(place))


def hushed(turns: Sequence[Said], known: Known, store: Store) -> None:
    """Keep back sentences that were taken back before and come again, unless somebody says them anew later."""
    for turn in turns:
        segment = known.get(AtomId(turn.segment))
        words = [each for each in analyse(turn.text[:4000]) if each not in QUESTION_STOP]
        if segment is None or not words:
            continue
        ended = [atom for atom, _ in known.search(words, _TAKEN_BACK, _FEW) if not atom.is_segment]
        for start, end in sentences(turn.text) if ended else ():
            place = Evidence(turn.segment, turn.n, start, end)
            form = normal_form(turn.text[start:end])
            same = [each for each in ended if form and form in _forms(each, known)]
            anew = _is_own(turn, segment)
            for each in same:
                at = _taken_back_at(each, store)
                if at is not None and (not anew or turn.at <= at):
                    _rest(known, each, (place,))
        for start, end in sentences(turn.text):
            _silence(Evidence(turn.segment, turn.n, start, end), known)


def _is_own(turn: Said, segment: Atom) -> bool:
    """Whether somebody says it here and now: only then can what was taken back be said anew."""
    return not (is_assistant(turn.speaker) or statements_wait(segment.origin) or is_pasted(turn.text))


def _silence(place: Evidence, known: Known) -> None:
    """Let what was only now made of a sentence that is taken back be taken back with it."""
    resting = known.on(place)
    if not any(each.status is Status.TOMBSTONED and each.value is not None for each in resting):
        return
    for each in resting:
        if each.status in LIVE and not each.revision and len(each.evidence) == 1 and each.is_searched:
            known.put(each.with_(status=Status.TOMBSTONED))


def _rest(known: Known, atom: Atom, places: Sequence[Evidence]) -> None:
    current = known.get(atom.id) or atom
    fresh = tuple(each for each in places if each not in current.evidence)
    if fresh:
        known.put(current.with_(evidence=(*current.evidence, *fresh)))


def _forms(ended: Atom, known: Known) -> Iterator[str]:
    """The sentences that say what was taken back."""
    yield normal_form(ended.content)
    for each in ended.evidence:
        words = known.get(AtomId(each.segment))
        passage = passage_of(words, each.passage) if words else None
        if passage is not None:
            yield normal_form(passage.text[each.start : each.end])


def _taken_back_at(ended: Atom, store: Store) -> datetime | None:
    return ended_at(ended, store) if ended.revision else asked_at(ended)


def _before(turn: Said, segment: Atom) -> Said | None:
    """What the same person said last before a turn."""
    own = [each for each in passages_of(segment) if each.n < turn.n and each.speaker == turn.speaker]
    if not own:
        return None
    return Said(segment.id, own[-1].n, own[-1].text, own[-1].speaker, own[-1].at or segment.observed_at)


@dataclass(frozen=True, slots=True)
class _Obeying:
    """One request being carried out."""

    turn: Said
    segment: Atom
    request: Request
    known: Known
    store: Store
    ids: Iterator[AtomId]

    def do(self, before: Said | None) -> None:
        target = Target(self.request)
        places = self._pointed(before) if not self.request.target else self._named(target)
        gone = self._closed(places, target)
        if not gone:
            return
        tombstones = [made for place in gone.values() for made in self._take_back(place, gone, target)]
        if tombstones:
            asked = Evidence(self.turn.segment, self.turn.n, self.request.start, self.request.end)
            _rest(self.known, tombstones[0], (asked,))

    def _pointed(self, before: Said | None) -> list[Place]:
        told = before if self.request.turn_before else self.turn
        if told is None:
            return []
        spans = [(start, end) for start, end in self.request.back]
        return [Place(Evidence(told.segment, told.n, a, b), told.text[a:b], told.speaker, told.at) for a, b in spans]

    def _named(self, target: Target) -> list[Place]:
        """The sentences that say best what the request names."""
        found = {each.at: each for each in self._candidates(target)}
        weighed = target.weighed([*found.values()])
        chosen = [each for each in target.best(weighed, self.turn.speaker) if self._may_touch(each.at)]
        if self.request.everything and target.is_name:
            chosen += [more for each in chosen for more in self._going_on(each, target)]
        return chosen

    def _going_on(self, place: Place, target: Target) -> Iterator[Place]:
        """The sentences behind one that go on with whoever it names: "Berta is a nurse. She works nights." """
        words = self.known.get(AtomId(place.at.segment))
        passage = passage_of(words, place.at.passage) if words else None
        if passage is None or not target.is_only_name_in(place.text):
            return
        for start, end in sentences(passage.text):
            if start < place.at.end:
                continue
            said = passage.text[start:end]
            if not goes_on(said):
                return
            yield replace(place, at=replace(place.at, start=start, end=end), text=said, more="")

    def _candidates(self, target: Target) -> Iterator[Place]:
        asked = Evidence(self.turn.segment, self.turn.n, self.request.start, self.request.end)
        for atom, passage in self.known.search(target.words, LIVE, LOOKED_AT):
            if atom.is_segment:
                at = passage.at or atom.observed_at
                yield from self._earlier(Said(atom.id, passage.n, passage.text, passage.speaker, at), asked)
            elif atom.status in LIVE and atom.is_searched and atom.observed_at <= self.turn.at:
                yield from self._of_statement(atom, asked)
        for passage in passages_of(self.segment):
            at = passage.at or self.segment.observed_at
            yield from self._earlier(Said(self.segment.id, passage.n, passage.text, passage.speaker, at), asked)

    def _earlier(self, told: Said, asked: Evidence) -> Iterator[Place]:
        """The sentences of a turn that were said before the request."""
        if told.at > self.turn.at or (told.segment == self.turn.segment and told.n > self.turn.n):
            return
        for start, end in sentences(told.text):
            at = Evidence(told.segment, told.n, start, end)
            if (told.segment, told.n) == (asked.segment, asked.passage) and start >= asked.start:
                return
            resting = [each for each in self.known.on(at) if each.is_searched]
            if resting and all(each.status is Status.TOMBSTONED for each in resting):
                continue
            more = " ".join(each.attribute or "" for each in resting)
            yield Place(at, told.text[start:end], told.speaker, told.at, more)

    def _of_statement(self, atom: Atom, asked: Evidence) -> Iterator[Place]:
        """The sentences a statement rests on, told in its own words; a statement without any is its own."""
        text = f"{atom.content} {atom.attribute or ''}"
        for each in atom.evidence or (Evidence(atom.id, 1, 0, len(atom.content)),):
            words = self.known.get(AtomId(each.segment))
            passage = passage_of(words, each.passage) if words else None
            if passage is None or each == asked:
                continue
            at = passage.at or (words.observed_at if words else atom.observed_at)
            if at <= self.turn.at and not (each.segment == asked.segment and each.passage > asked.passage):
                own = passage.speaker if atom.evidence else self.turn.speaker
                yield Place(each, passage.text[each.start : each.end] if atom.evidence else atom.content, own, at, text)

    def _closed(self, places: Sequence[Place], target: Target) -> dict[Evidence, Place]:
        """The sentences with all others that statements on them rest on: to leave one would be to leave it said."""
        gone = {each.at: each for each in places}
        for place in places:
            for statement in self._said_by(place, target):
                for each in statement.evidence:
                    words = self.known.get(AtomId(each.segment))
                    passage = passage_of(words, each.passage) if words else None
                    if passage is not None and each not in gone and self._may_touch(each):
                        at = passage.at or statement.observed_at
                        gone[each] = Place(each, passage.text[each.start : each.end], passage.speaker, at)
        return gone

    def _said_by(self, place: Place, target: Target) -> list[Atom]:
        """The statements of a sentence that say what is to be forgotten, not those that say something else."""
        live = [each for each in self._resting(place.at) if self._may_end(each)]
        if len(live) == 1 or not target.words:
            return live
        shares = [target.share(each) for each in live]
        best = max(shares, default=0.0)
        return [each for each, share in zip(live, shares, strict=True) if share == best]

    def _resting(self, at: Evidence) -> list[Atom]:
        return [each for each in self.known.on(at) if each.status in LIVE and each.is_searched and not each.is_segment]

    def _take_back(self, place: Place, gone: dict[Evidence, Place], target: Target) -> Iterator[Atom]:
        own = self._said_by(place, target)
        ended = [self._ended(each, target, place) for each in own]
        for sibling in self._resting(place.at):
            left = tuple(each for each in sibling.evidence if each not in gone)
            if (
                sibling.id not in {each.id for each in own}
                and self._may_end(sibling)
                and sibling.id != place.at.segment
            ):
                self.known.put(sibling.with_(evidence=left))
        if not ended and place.at.segment not in {each.id for each in self.known.on(place.at)}:
            ended = [self._made(place.narrowed(target), target)]
        yield from ended

    def _ended(self, atom: Atom, target: Target, place: Place) -> Atom:
        value = atom.value or place.valued(target) or None
        told = {**atom.metadata, ASKED_AT: format_time(self.turn.at)}
        return self._put(atom.with_(status=Status.TOMBSTONED, value=value, metadata=told))

    def _made(self, place: Place, target: Target) -> Atom:
        """A tombstone in the very words of a sentence."""
        words = self.known.get(AtomId(place.at.segment)) or self.segment
        speaker = place.speaker if place.speaker and not is_role(place.speaker) else "user"
        origin = min(self.segment.origin, words.origin, key=lambda each: TRUST[each])
        return self._put(
            Atom(
                id=next(self.ids), scope=self.segment.scope, kind="fact", content=one_line(place.text),
                observed_at=place.time, subject=speaker, value=place.valued(target) or None, evidence=(place.at,),
                origin=origin, principal=self.segment.principal, status=Status.TOMBSTONED,
                metadata={ASKED_AT: format_time(self.turn.at)}, session_id=words.session_id,
                source_id=words.source_id, **kind_defaults("fact", 1.0, origin),
            )
        )  # fmt: skip

    def _put(self, ended: Atom) -> Atom:
        self.known.put(ended)
        if ended.value and not self._lives_elsewhere(ended):
            ended = repeated(ended, self.known)
            self.known.put(ended)
        return ended

    def _lives_elsewhere(self, ended: Atom) -> bool:
        """Whether somebody's own words say the same value of something else, so that an echo may mean that."""
        value = {each.root for each in items(spelt(ended.value or "")) if each.root != ME}
        for atom, passage in self.known.search(analyse(ended.value or ""), STANDS, LOOKED_AT):
            if atom.is_segment and (is_assistant(passage.speaker) or statements_wait(atom.origin)):
                continue
            for start, end in sentences(passage.text) if atom.is_segment else ((0, len(passage.text)),):
                if atom.id == ended.id or not value <= terms(passage.text[start:end]):
                    continue
                at = Evidence(atom.id, passage.n, start, end)
                if not any(each.id == ended.id for each in self.known.on(at)) and not is_question(
                    passage.text[start:end]
                ):
                    return atom.is_segment or atom.status in STANDS
        return False

    def _may_touch(self, at: Evidence) -> bool:
        """Whoever asks has no say over words of somebody more trusted."""
        words = self.known.get(AtomId(at.segment))
        return words is not None and TRUST[words.origin] <= TRUST[self.segment.origin]

    def _may_end(self, atom: Atom) -> bool:
        return may_end(atom, self.segment.origin, self.store)
