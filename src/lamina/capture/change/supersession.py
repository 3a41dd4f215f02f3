"""Ending statements that later ones replace.

A sentence without a statement becomes one when a sure link ends it, so that recall can withhold it. All decisions are
changes to atoms in the commit of the new words, and are undone with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta

import numpy as np

from lamina.atom.atom import Atom, Evidence, kind_defaults
from lamina.atom.claim import claim_of
from lamina.atom.identity import AtomId
from lamina.atom.pair import LIKELY_CHANGE, hold_both
from lamina.atom.passage import Passage, passages_of
from lamina.atom.relation import Relation, RelationName
from lamina.atom.standing import begins
from lamina.atom.status import Status
from lamina.atom.trust import statements_wait
from lamina.capture.change.echo import is_hearsay, repeated
from lamina.capture.change.known import STANDS, Known, passage_in
from lamina.capture.change.nomination import Nomination
from lamina.capture.change.sentence import is_vouched_for, statable_sentences
from lamina.capture.classify import DOUBTFUL, SURE
from lamina.capture.state_extractor import subject_of
from lamina.states.replacement_verdict import Certainty, judge_replacements, surest_state
from lamina.states.state_reader import StateReader
from lamina.text.analyse import content_words
from lamina.text.days import absolute, find_days
from lamina.text.normal import normal_form, one_line

LOOKED_AT = 20
"""How many passages that share words with a new statement are looked at."""
MOST_COMPARED = 4
"""How many of their sentences the pair model reads beside it."""
RECENT_STATEMENTS, MOST_OF_SLOT, NEAR_SLOT = 200, 2, 0.5
"""How many of the speaker's last statements are looked at for the same slot, how many of them are read too, and how
similar their slots are at least."""
MOMENT = timedelta(seconds=1)
MADE_LATE = 0.85
"""The confidence of a statement that was made of a sentence only when a later one ended it."""


@dataclass(frozen=True, slots=True)
class _EarlierSentence:
    """A sentence that a new statement may replace: where it stands, when it was said, and its statement if known."""

    place: Evidence
    text: str
    at: datetime
    statement: Atom | None = None

    def order(self) -> tuple[datetime, str, int, int]:
        return self.at, self.place.segment, self.place.passage, self.place.start


class Supersession:
    """Ends what new statements replace; earlier decisions count for later ones."""

    def __init__(
        self, known: Known, ids: Iterator[AtomId], now: datetime, states: StateReader | None, words: Sequence[Atom] = ()
    ) -> None:
        self._known, self._ids, self._now, self._states, self._words = known, ids, now, states, words

    def compare(self, new: Atom) -> None:
        """End the earlier statements of the same speaker that a new statement surely replaces, and relate it to those
        that it likely replaces.

        The pair model reads the new statement beside those that share most words with it or state the same slot.
        """
        if self._states is None or not new.evidence or new.status is not Status.ACTIVE:
            return
        said, earlier = one_line(new.content), self._earlier(new)
        verdicts = judge_replacements(said, [each.text for each in earlier], self._states)
        for each, certainty in zip(earlier, verdicts, strict=True):
            heir = self._known.get(new.id) or new
            if heir.status is not Status.ACTIVE:
                break
            if certainty is Certainty.NONE or not self._known.holds(each.place):
                continue
            old = self._known.get(each.statement.id) if each.statement is not None else self._existing(each.place, "")
            if old is None and certainty is Certainty.SURE:
                old = self._make_statement(each.place, "")
            if old is None or old.status not in STANDS or old.id == heir.id or _rests_on(heir, old):
                continue
            if certainty is Certainty.SURE:
                since = heir.valid_from or _held_since(said, heir.observed_at)
                self._replace(old, heir.with_(valid_from=since), sure=True)
            elif self._known.guard(heir) >= self._known.guard(old):
                self._doubt(old, heir, LIKELY_CHANGE)

    def _earlier(self, new: Atom) -> list[_EarlierSentence]:
        """Return the earlier sentences of the same speaker that a new statement may replace, oldest first."""
        sharing = self._sharing_words(new)
        of_slot = [
            earlier_sentence
            for earlier_sentence in self._of_same_slot(new)
            if not any(_overlap(earlier_sentence, other) for other in sharing)
        ]
        return sorted([*sharing, *of_slot], key=_EarlierSentence.order)

    def _sharing_words(self, new: Atom) -> list[_EarlierSentence]:
        """Return the sentences that share most words with a new statement."""
        words = content_words(one_line(new.content))
        found = self._known.search(words, STANDS, LOOKED_AT, is_vouched_for)
        captured_now = ((segment, passage) for segment in self._words for passage in passages_of(segment))
        found += [each for each in captured_now if is_vouched_for(*each)]
        sentences = {
            sentence.place: sentence
            for atom, passage in found
            if (passage.at or atom.observed_at) < new.observed_at
            for sentence in _sentences_of(atom, passage, new.subject)
        }
        held = {place: set(content_words(each.text)) for place, each in sentences.items()}
        rarity = {word: 1.0 / (1 + sum(word in each for each in held.values())) for word in set(words)}
        shared = {place: sum(rarity[word] for word in each & rarity.keys()) for place, each in held.items()}
        best = sorted((place for place in sentences if shared[place] > 0), key=lambda place: -shared[place])
        return [sentences[place] for place in best[:MOST_COMPARED]]

    def _of_same_slot(self, new: Atom) -> list[_EarlierSentence]:
        """Return the speaker's last statements that are nearest to a new one by their slots.

        They may share no word with it.
        """
        state = surest_state(one_line(new.content), self._states) if self._states is not None else None
        if self._states is None or state is None:
            return []
        near: list[tuple[float, Atom]] = []
        for old in self._known.about(new.subject, RECENT_STATEMENTS):
            if old.id == new.id or old.observed_at >= new.observed_at:
                continue
            known = surest_state(one_line(old.content), self._states)
            similarity = float(np.dot(known.slot, state.slot)) if known is not None else 0.0
            if similarity >= NEAR_SLOT:
                near.append((similarity, old))
        near.sort(key=lambda each: (-each[0], each[1].id))
        return [
            _EarlierSentence(old.evidence[-1], one_line(old.content), old.observed_at, old)
            for _, old in near[:MOST_OF_SLOT]
        ]

    def take(self, nominated: Sequence[Nomination], segments: Iterable[Atom]) -> None:
        """Put down the changes that a language model named: sure where the pair model agrees, else likely."""
        words = {segment.id: segment for segment in segments}
        for named in nominated:
            source = words.get(AtomId(named.new.segment))
            if source is None or not self._known.holds(named.old):
                continue
            new, old = (
                self._existing(place, value) or self._make_statement(place, value)
                for place, value in ((named.new, named.now), (named.old, named.was))
            )
            if new is not None and old is not None and new.id != old.id and not _rests_on(new, old):
                same_speaker = normal_form(new.subject) == normal_form(old.subject)
                is_sure = named.is_sure and same_speaker
                self._replace(old, new, sure=is_sure, otherwise=LIKELY_CHANGE)

    def _existing(self, place: Evidence, value: str) -> Atom | None:
        """Return the statement of a sentence, the one with this value if there are several; None if it has none."""
        words = self._known.get(AtomId(place.segment))
        if words is None or not words.is_segment:
            return words if words is not None and words.status in STANDS else None
        standing = [each for each in self._known.on(place) if each.status in STANDS]
        wanted = set(content_words(value))
        named = [each for each in standing if wanted <= set(content_words(each.content))]
        return next(iter(named or standing), None)

    def _make_statement(self, place: Evidence, value: str) -> Atom | None:
        """Make a statement of a sentence; None where nobody vouches for it."""
        words = self._known.get(AtomId(place.segment))
        passage = passage_in(words, place.passage) if words is not None and words.is_segment else None
        if words is None or passage is None:
            return None
        if is_hearsay(words, passage.speaker, passage.text) or statements_wait(words.origin):
            return None
        made = Atom(
            id=next(self._ids),
            scope=words.scope,
            kind="fact",
            value=one_line(value) or None,
            content=one_line(passage.text[place.start : place.end]),
            observed_at=passage.at or words.observed_at,
            subject=subject_of(passage.speaker),
            evidence=(place,),
            origin=words.origin,
            principal=words.principal,
            session_id=words.session_id,
            source_id=words.source_id,
            agents=words.agents,
            confidence=MADE_LATE,
            **kind_defaults("fact", MADE_LATE, words.origin),
        )
        self._known.put(made)
        return made

    def _replace(self, old: Atom, new: Atom, *, sure: bool, otherwise: float = DOUBTFUL) -> Atom:
        """End one statement in favour of another; a link that is not sure only relates them, with the confidence
        `otherwise`."""
        if not sure or self._known.guard(new) < self._known.guard(old) or old.is_episode or _holds_several(old):
            return self._doubt(old, new, otherwise)
        start = begins(new)
        if new.observed_at > old.observed_at:  # when the old value was last said it still held
            start = max(start, min(old.observed_at + MOMENT, new.observed_at))
        if start == begins(old):
            return self._doubt(old, new)
        if start < begins(old):
            return self._come_late(old, new)
        archived = old.status is Status.ARCHIVED
        status = Status.SUPERSEDED if start <= self._now and not archived else old.status
        until = min(old.valid_until, start) if old.valid_until else start
        self._end(old.with_(status=status, valid_until=until, superseded_by=_with(old.superseded_by, new.id)))
        heir = new.with_(valid_from=start, supersedes=_with(new.supersedes, old.id))
        self._known.put(heir)
        return heir

    def _come_late(self, current: Atom, late: Atom) -> Atom:
        """Put down as history what is told later but held earlier than the current value."""
        self._known.put(current.with_(supersedes=_with(current.supersedes, late.id)))
        until = min(late.valid_until, begins(current)) if late.valid_until else begins(current)
        heirs = _with(late.superseded_by, current.id)
        history = late.with_(status=Status.SUPERSEDED, valid_until=until, superseded_by=heirs)
        self._known.put(history)
        return history

    def _end(self, old: Atom) -> None:
        self._known.put(old if self._known.stands(old) else repeated(old, self._known))

    def _doubt(self, old: Atom, new: Atom, confidence: float = DOUBTFUL) -> Atom:
        """Relate two statements as a possible contradiction; a `confidence` below SURE leaves both standing."""
        if any(relation.target == old.id for relation in new.relations) or hold_both(old, new):
            return new
        beyond = self._known.guard(new) < self._known.guard(old)
        doubt = Relation(RelationName.CONTRADICTS, old.id, SURE if beyond else confidence, self._now)
        status = Status.CHALLENGED if beyond else new.status
        doubted = new.with_(relations=(*new.relations, doubt), status=status)
        self._known.put(doubted)
        return doubted


def _sentences_of(atom: Atom, passage: Passage, subject: str) -> list[_EarlierSentence]:
    """Return the sentences of a passage of one speaker; a statement that was not captured from words is one."""
    at = passage.at or atom.observed_at
    if not atom.is_segment:
        is_own = normal_form(atom.subject) == normal_form(subject)
        whole = Evidence(atom.id, 1, 0, len(atom.content))
        return [] if atom.evidence or not is_own else [_EarlierSentence(whole, atom.content, at)]
    if normal_form(subject_of(passage.speaker)) != normal_form(subject):
        return []
    sentences = statable_sentences(passage.text)
    return [
        _EarlierSentence(Evidence(atom.id, passage.n, sentence.start, sentence.end), sentence.text, at)
        for sentence in sentences
    ]


def _overlap(one: _EarlierSentence, other: _EarlierSentence) -> bool:
    a, b = one.place, other.place
    return (a.segment, a.passage) == (b.segment, b.passage) and a.start < b.end and b.start < a.end


def _held_since(sentence: str, said_at: datetime) -> datetime | None:
    """When the value of a sentence began to hold, where it names one past day or span: "ten days ago"."""
    named = find_days(sentence, said_at.date())
    days = absolute(named[0].days, said_at.date()) if len(named) == 1 else None
    if days is None or days[0] >= said_at.date():
        return None
    return datetime.combine(days[0], time(), said_at.tzinfo)


def _rests_on(new: Atom, old: Atom) -> bool:
    return any(relation.name is RelationName.DEPENDS_ON and relation.target == old.id for relation in new.relations)


def _holds_several(atom: Atom) -> bool:
    claim = claim_of(atom)
    return claim is not None and not claim.single_valued


def _with(ids: tuple[AtomId, ...], added: AtomId) -> tuple[AtomId, ...]:
    return ids if added in ids else (*ids, added)
