"""Putting changes down: the statements a new sentence overtakes are ended, and every sentence that said so goes along.

Sentences are compared, not statements: a sentence nobody made a statement of becomes one when it is overtaken, so that
recall can tell it is over. Everything decided is a change to atoms: one commit with the words, and undone with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

from lamina.atom.atom import Atom, Evidence, kind_defaults
from lamina.atom.claim import claim_of
from lamina.atom.identity import AtomId
from lamina.atom.pair import hold_both
from lamina.atom.passage import Passage
from lamina.atom.relation import Relation, RelationName
from lamina.atom.standing import begins
from lamina.atom.status import Status
from lamina.atom.trust import statements_wait
from lamina.capture.change.cues import Cue
from lamina.capture.change.echo import is_hearsay, repeated
from lamina.capture.change.items import ME, items
from lamina.capture.change.known import STANDS, Known, passage_in
from lamina.capture.change.link import Earlier, Kind, Link
from lamina.capture.change.links import comparable, decide, may_overtake
from lamina.capture.change.meaning import Sense
from lamina.capture.change.nomination import Nomination
from lamina.capture.change.sentence import LONGEST_SENTENCE, is_vouched_for, name_of, told_by
from lamina.capture.change.since import since
from lamina.capture.change.told import Told, tellings, told
from lamina.capture.classify import DOUBTFUL, SURE
from lamina.capture.found import Said
from lamina.capture.rules.classes import corrects, says_wrong
from lamina.text.analyse import QUESTION_STOP, analyse
from lamina.text.closed import AUXILIARIES, word_set
from lamina.text.normal import normal_form, one_line
from lamina.text.verbs import is_past, looks_finite

LOOKED_AT = 40
"""How many passages that share words with a new sentence are compared with it."""
LOOKED_AT_MORE, MOST_MORE = 15, 4
"""How many more for each further sentence of a turn, and for how many of them."""
LATELY = 60
"""How many of the last statements about whoever speaks, and of the last sentences, are compared with it, whatever their
words."""
MOMENT = timedelta(seconds=1)
CLEAR = 0.8
"""How much of the key a statement told by itself must share to replace another that says it in other words."""
LATE = 0.85
"""How sure a statement is that was made of a sentence only when it was overtaken."""
_DOERS = word_set("i you we they it he she that this who which to always never also still usually")
_BARE_NO = 4
_CLAUSES, _ENOUGH = 3, 3
"""A sentence of two clauses has three parts, itself included; a clause with fewer words than this tells nothing."""
_WHICH = re.compile(r"(?<!\bis )(?<!\bat )(?<!\bto )\b(?:number|no\.|#) ?(?P<n>\d+)\b", re.IGNORECASE)
_LAID_ASIDE = frozenset({Status.ARCHIVED})
"""What was laid aside stays so: the table leads from there to no end, and its time tells that it is over."""


class Linking:
    """One go of linking: what was decided so far counts for what comes next."""

    def __init__(
        self, known: Known, ids: Iterator[AtomId], now: datetime, sense: Sense | None = None,
        nominated: Sequence[Nomination] = (),
    ) -> None:  # fmt: skip
        self._known, self._ids, self._now, self._sense = known, ids, now, sense
        self._nominated: Mapping[Evidence, list[Nomination]] = _by_place(nominated)
        self._said: list[Earlier[Evidence]] = []

    def read(self, turns: Sequence[Said]) -> None:
        """Compare what people say in these turns with what was said before."""
        for turn in turns:
            segment = self._known.get(AtomId(turn.segment))
            if segment is not None and not is_hearsay(segment, turn.speaker, turn.text):
                self._read(turn, segment)

    def compare(self, atom: Atom) -> None:
        """Compare a statement that somebody asked to have remembered with what was said before."""
        new = told(one_line(atom.content), None) if len(atom.content) <= LONGEST_SENTENCE else None
        if new is not None and _states(new) and not statements_wait(atom.origin) and atom.status in STANDS:
            self._decide(new, self._alike([new]), _own_place(atom), atom, atom.observed_at)
            self._said.append(Earlier(new, _own_place(atom)))

    def _read(self, turn: Said, segment: Atom) -> None:
        said = told_by(turn.text, name_of(turn.speaker))
        alike = self._alike([new for each in said for new in each.tellings if not new.additive])
        correcting = False
        for start, end, text, before, found in said:
            place = Evidence(turn.segment, turn.n, start, end)
            at, linked = since(text, turn.at, before) or turn.at, False
            news = tellings(text, name_of(turn.speaker), correcting=True, before=before) if correcting else found
            for new in news:
                linked |= self._decide(new, alike, place, segment, at)
                self._said.append(Earlier(new, place, near=True))
            linked |= bool(news) and self._believe(place, news[0], segment, at)
            correcting = _leaves_it_open(text) and not linked

    def _believe(self, place: Evidence, new: Told, source: Atom, at: datetime) -> bool:
        """Put down what somebody clever says the new sentence overtakes, so far as it still holds."""
        linked = False
        for named in self._nominated.get(place, ()):
            old = self._said_at(named.old) if self._known.holds(named.old) else None
            if old is not None:
                link = Link(
                    named.old, named.kind, named.is_sure, _roots(named.was), _roots(named.now), named.was, told=True,
                    way="nominated",
                )  # fmt: skip
                self._put_down(link, old, new, place, source, at)
                linked = True
        return linked

    def _said_at(self, place: Evidence) -> Told | None:
        """The sentence that stands at a place; None where there is none any more."""
        words = self._known.get(AtomId(place.segment))
        passage = passage_in(words, place.passage) if words is not None else None
        if words is None or passage is None:
            return None
        text = one_line(passage.text[place.start : place.end]) if words.is_segment else one_line(words.content)
        return next(iter(tellings(text, name_of(passage.speaker), guess=True)), None)

    def _alike(self, news: Sequence[Told]) -> list[tuple[Atom, Passage]]:
        """The passages that share most words with what is said now, in the order they were said."""
        if not news:
            return []
        words = [word for new in news for word in analyse(new.words) if word not in QUESTION_STOP]
        limit = LOOKED_AT + min(len(news) - 1, MOST_MORE) * LOOKED_AT_MORE
        return self._known.search(words, STANDS, limit, is_vouched_for)

    def _decide(
        self, new: Told, alike: Sequence[tuple[Atom, Passage]], place: Evidence, source: Atom, at: datetime
    ) -> bool:
        if not may_overtake(new):
            return False
        earlier = [each for each in self._earlier(new, alike, source) if each.place != place]
        by_place = {each.place: each for each in earlier}
        links = decide(new, earlier, self._sense)
        if not source.is_segment:  # whoever asks to remember something says what they mean: nothing is doubted for it
            told_so = new.cue >= Cue.STRONG
            links = [
                each
                for each in links
                if each.sure and each.pinned and (each.exact or (told_so and each.strict > CLEAR))
                if told_so or not _tells_which(new.text, each.new_value)
            ]
        links = list({each.place: each for each in reversed(links)}.values())
        if any(each.supersedes for each in self._known.on(place)):
            links = [each for each in links if each.same_shape]  # what it was the value of is known already
        for link in links:
            if (link.place.segment, link.place.passage) == (place.segment, place.passage) and not link.is_correction:
                continue  # a list tells several things in one breath
            self._put_down(link, by_place[link.place].told, new, place, source, at)
        return bool(links)

    def _earlier(self, new: Told, alike: Sequence[tuple[Atom, Passage]], source: Atom) -> Iterator[Earlier[Evidence]]:
        """Sentences that share words with a new one and still hold, the oldest first."""
        here = {(each.place.segment, each.place.passage) for each in self._said}
        for atom in self._known.about(new.speaker or "user", LATELY):
            key = (atom.evidence[-1].segment, atom.evidence[-1].passage)
            old = told(one_line(atom.content), atom.subject)
            if old is not None and key not in here and comparable(old, new, near=False):
                yield Earlier(replace(old, loose=True) if atom.confidence <= LATE else old, atom.evidence[-1])
        for atom, passage in alike:
            if (atom.id, passage.n) not in here:
                yield from self._told_in(atom, passage, new, source)
        lately = len(self._said) - LATELY
        for n, each in enumerate(self._said):
            if (n >= lately or comparable(each.told, new, near=False)) and self._known.holds(each.place):
                yield each if n >= lately else replace(each, near=False)

    def _told_in(self, atom: Atom, passage: Passage, new: Told, source: Atom) -> Iterator[Earlier[Evidence]]:
        if not atom.is_segment:
            other = bool(source.subject and atom.subject) and normal_form(source.subject) != normal_form(atom.subject)
            alone = not atom.evidence and atom.id != source.id and not (other and not source.is_segment)
            old = told(one_line(atom.content), None) if alone else None
            if old is not None and _states(old) and atom.status in STANDS and len(atom.content) <= LONGEST_SENTENCE:
                yield Earlier(old, _own_place(atom))
            return
        near = atom.session_id is not None and atom.session_id == source.session_id
        for start, end, _, _, said in told_by(passage.text, name_of(passage.speaker), guess=True):
            alike = [old for old in said if comparable(old, new, near=near)]
            place = Evidence(atom.id, passage.n, start, end)
            if alike and self._known.holds(place):
                yield from (Earlier(old, place, near) for old in alike)

    def _put_down(
        self, link: Link[Evidence], old: Told, new: Told, place: Evidence, source: Atom, at: datetime
    ) -> None:
        heir = self._statement(place, new, link.new_value or link.old_value, source, at)
        if heir is None:
            return
        if new.ahead and begins(heir) <= at:
            return  # somebody will do it, and does not say when: nothing is over yet
        words = self._known.get(AtomId(link.place.segment))
        if words is None:
            return
        for before in self._overtaken(link, old, words):
            if before.id != heir.id and not _rests_on(heir, before):
                heir = self._overtake(link, before, heir)
        if link.sure and words.is_segment:
            self._rescue(link, old, words)

    def _rescue(self, link: Link[Evidence], old: Told, words: Atom) -> None:
        """What else the earlier sentence said is kept: a clause that the change does not touch becomes a statement."""
        if self._known.holds(link.place) or len(old.parts) < _CLAUSES:
            return
        passage = passage_in(words, link.place.passage)
        at = (passage.at if passage else None) or words.observed_at
        for part in old.parts[1:]:
            roots = [each.root for each in part.items if each.root != ME]
            piece = told(old.text[part.start : part.end], old.speaker)
            touched = any(each in link.old_value for each in roots) or len(roots) < _ENOUGH
            if piece is not None and not touched:
                self._made(link.place, piece, words, at)

    def _statement(self, place: Evidence, said: Told, value: Sequence[str], source: Atom, at: datetime) -> Atom | None:
        """The statement of a sentence that holds a value; made of the sentence where there is none."""
        if not source.is_segment:
            return self._known.get(source.id)
        own = [each for each in self._known.on(place) if each.status in STANDS]
        found = next((each for each in own if _mentions(each, value)), None)
        if found is None and own and not value:
            found = own[0]
        return found or self._made(place, said, source, at)

    def _made(self, place: Evidence, said: Told, words: Atom, at: datetime) -> Atom:
        """A statement in the very words of a sentence."""
        made = Atom(
            id=next(self._ids), scope=words.scope, kind="fact", content=one_line(said.text), observed_at=at,
            subject=said.speaker or "user", evidence=(place,), origin=words.origin, principal=words.principal,
            session_id=words.session_id, source_id=words.source_id, agents=words.agents, confidence=LATE,
            **kind_defaults("fact", LATE, words.origin),
        )  # fmt: skip
        self._known.put(made)
        return made

    def _overtaken(self, link: Link[Evidence], old: Told, words: Atom) -> list[Atom]:
        """The statements of the earlier sentence that the new one ends."""
        if not words.is_segment:
            return [words] if words.status in STANDS else []
        said = self._known.on(link.place)
        live = [each for each in said if each.status in STANDS and not each.is_episode]
        # A claim that rests on what is over is doubted for it; it is not over itself.
        live = [each for each in live if not any(_rests_on(each, other) for other in said)]
        found = [each for each in live if _mentions(each, link.old_value)]
        if found or any(each.status in STANDS for each in said):
            return found or live
        passage = passage_in(words, link.place.passage)
        return [self._made(link.place, old, words, (passage.at if passage else None) or words.observed_at)]

    def _overtake(self, link: Link[Evidence], before: Atom, heir: Atom) -> Atom:
        """End one statement for the sake of another; a doubtful link only tells of the other."""
        if link.is_another_value and _may_be_several(before):
            return heir
        told_before = heir.is_episode and heir.revision
        if not link.sure or self._is_beyond(before, heir) or before.is_episode or told_before:
            return self._doubt(before, heir)
        if heir.is_episode:
            heir = heir.with_(kind="fact", **kind_defaults("fact", heir.confidence, heir.origin))
        if link.kind is Kind.CORRECTED:
            return self._correct(link, before, heir)
        start, other = begins(heir), begins(before)
        if heir.observed_at > before.observed_at:
            still = min(before.observed_at + MOMENT, heir.observed_at)  # when it was last said it still was so
            start = max(start, still)
        if start == other:
            return self._doubt(before, heir)
        if start < other:
            return self._come_late(before, heir)
        status = Status.SUPERSEDED if start <= self._now and before.status not in _LAID_ASIDE else before.status
        ends = min(before.valid_until, start) if before.valid_until else start
        over = before.with_(status=status, valid_until=ends, superseded_by=_with(before.superseded_by, heir.id))
        self._end(over, link)
        return self._put(heir.with_(valid_from=start, supersedes=_with(heir.supersedes, before.id)))

    def _correct(self, link: Link[Evidence], before: Atom, heir: Atom) -> Atom:
        wrong = before.with_(superseded_by=_with(before.superseded_by, heir.id))
        aside = before.status in _LAID_ASIDE  # then it is told by its time: it held at no moment
        self._end(wrong.with_(valid_until=begins(before)) if aside else wrong.with_(status=Status.INVALIDATED), link)
        start = min(begins(before), begins(heir))
        return self._put(heir.with_(valid_from=start, supersedes=_with(heir.supersedes, before.id)))

    def _end(self, over: Atom, link: Link[Evidence]) -> None:
        """Put down what is over, with the value it is told by and all that only repeats it."""
        if not over.value:
            over = over.with_(value=link.old_text)
        self._known.put(over if self._known.stands(over) else repeated(over, self._known))

    def _come_late(self, current: Atom, late: Atom) -> Atom:
        """What is told later but held earlier does not displace what holds."""
        self._known.put(current.with_(supersedes=_with(current.supersedes, late.id)))
        until = min(late.valid_until, begins(current)) if late.valid_until else begins(current)
        return self._put(
            late.with_(status=Status.SUPERSEDED, valid_until=until, superseded_by=_with(late.superseded_by, current.id))
        )

    def _doubt(self, before: Atom, heir: Atom) -> Atom:
        if any(each.target == before.id for each in heir.relations) or hold_both(before, heir):
            return heir
        sure = self._is_beyond(before, heir)
        doubt = Relation(RelationName.CONTRADICTS, before.id, SURE if sure else DOUBTFUL, self._now)
        status = Status.CHALLENGED if sure else heir.status
        return self._put(heir.with_(relations=(*heir.relations, doubt), status=status))

    def _is_beyond(self, before: Atom, heir: Atom) -> bool:
        """Whether somebody more trusted stands behind a statement than behind the one that would take its place."""
        return self._known.guard(heir) < self._known.guard(before)

    def _put(self, atom: Atom) -> Atom:
        self._known.put(atom)
        return atom


def _leaves_it_open(text: str) -> bool:
    """Whether a sentence says that something was wrong and leaves it to the next one what is right; a no to what
    somebody asked does not."""
    if not corrects(text):
        return False
    return says_wrong(text) or len(text.split()) <= _BARE_NO or any(each.is_typed for each in items(text))


def _states(said: Told) -> bool:
    """Whether words say something of something: they have a verb, or a value behind a colon."""
    words = [each.strip(".,;!?\"'()").replace("’", "'").lower() for each in said.text.split()]
    return ":" in said.text or any(_is_verb(word, before) for before, word in pairwise(("", *words)))


def _is_verb(word: str, before: str) -> bool:
    """Whether a word is a verb where it stands; one in its bare form, which may be a noun too, needs who does it."""
    if word in AUXILIARIES or "'" in word:
        return True
    return looks_finite(word) and (
        word.endswith(("s", "ed")) or is_past(word) or before.endswith("s") or before in _DOERS
    )


def _tells_which(text: str, value: Sequence[str]) -> bool:
    """Whether a number behind a noun is all that differs: it tells which one is meant, and there are others."""
    found = _WHICH.search(text)
    return found is not None and list(value) == [found.group("n")]


def _rests_on(heir: Atom, before: Atom) -> bool:
    """Whether one is said to rest on the other: then it says it again, and does not end it."""
    return any(each.name is RelationName.DEPENDS_ON and each.target == before.id for each in heir.relations)


def _by_place(nominated: Sequence[Nomination]) -> dict[Evidence, list[Nomination]]:
    found: dict[Evidence, list[Nomination]] = {}
    for each in nominated:
        found.setdefault(each.new, []).append(each)
    return found


def _roots(words: str) -> tuple[str, ...]:
    return tuple(each.root for each in items(words) if each.root != ME)


def _own_place(atom: Atom) -> Evidence:
    return Evidence(atom.id, 1, 0, len(atom.content))


def _mentions(atom: Atom, value: Sequence[str]) -> bool:
    roots = {each.root for each in items(atom.content)}
    return any(each in roots for each in value)


def _may_be_several(atom: Atom) -> bool:
    """Whether what a statement fills may have several values at once; where somebody is reached changes by rule."""
    claim = claim_of(atom)
    return claim is not None and not claim.single_valued and claim.attribute not in ("email", "phone")


def _with(ids: tuple[AtomId, ...], added: AtomId) -> tuple[AtomId, ...]:
    return ids if added in ids else (*ids, added)
