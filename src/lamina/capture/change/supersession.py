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
"""How many passages that share words with a new statement are searched."""
MOST_COMPARED = 4
"""How many of their sentences the pair model compares with it."""
RECENT_STATEMENTS, MOST_OF_SLOT, NEAR_SLOT = 200, 2, 0.5
"""How many of the speaker's last statements are searched for the same slot, how many of those are compared as well,
and how similar their slots must be."""
MOMENT = timedelta(seconds=1)
MADE_LATE = 0.85
"""The confidence of a statement that was made of a sentence only when a later one ended it."""


@dataclass(frozen=True, slots=True)
class _EarlierSentence:
    """A sentence that a new statement may replace: its evidence, text and time, and its statement if known."""

    place: Evidence
    text: str
    at: datetime
    statement: Atom | None = None

    def order(self) -> tuple[datetime, str, int, int]:
        """Return the key by which sentences are sorted in the order they were said."""
        return self.at, self.place.segment, self.place.passage, self.place.start


class Supersession:
    """Ends the statements that new ones replace; each decision is visible to the next."""

    def __init__(
        self, known: Known, ids: Iterator[AtomId], now: datetime, states: StateReader | None, words: Sequence[Atom] = ()
    ) -> None:
        self._working_set, self._ids, self._now, self._state_reader, self._segments = known, ids, now, states, words

    def compare(self, new: Atom) -> None:
        """End the earlier statements that a new one surely replaces, and relate it to those that it likely replaces.

        The pair model compares the new statement with those of the same speaker that share most words with it or have a
        similar slot.
        """
        if self._state_reader is None or not new.evidence or new.status is not Status.ACTIVE:
            return
        sentence, earlier = one_line(new.content), self._earlier(new)
        verdicts = judge_replacements(sentence, [candidate.text for candidate in earlier], self._state_reader)
        for candidate, certainty in zip(earlier, verdicts, strict=True):
            successor = self._working_set.get(new.id) or new
            if successor.status is not Status.ACTIVE:
                break
            if certainty is Certainty.NONE or not self._working_set.holds(candidate.place):
                continue
            old = (
                self._working_set.get(candidate.statement.id)
                if candidate.statement is not None
                else self._existing(candidate.place, "")
            )
            if old is None and certainty is Certainty.SURE:
                old = self._make_statement(candidate.place, "")
            if old is None or old.status not in STANDS or old.id == successor.id or _rests_on(successor, old):
                continue
            if certainty is Certainty.SURE:
                valid_from = successor.valid_from or _held_since(sentence, successor.observed_at)
                self._replace(old, successor.with_(valid_from=valid_from), sure=True)
            elif self._working_set.guard(successor) >= self._working_set.guard(old):
                self._doubt(old, successor, LIKELY_CHANGE)

    def _earlier(self, new: Atom) -> list[_EarlierSentence]:
        """Return the earlier sentences of the same speaker that a new statement may replace, oldest first."""
        by_words = self._sharing_words(new)
        by_slot = [
            earlier_sentence
            for earlier_sentence in self._of_same_slot(new)
            if not any(_overlap(earlier_sentence, other) for other in by_words)
        ]
        return sorted([*by_words, *by_slot], key=_EarlierSentence.order)

    def _sharing_words(self, new: Atom) -> list[_EarlierSentence]:
        """Return the sentences that share most words with a new statement."""
        words = content_words(one_line(new.content))
        passages = self._working_set.search(words, STANDS, LOOKED_AT, is_vouched_for)
        captured_now = ((segment, passage) for segment in self._segments for passage in passages_of(segment))
        passages += [pair for pair in captured_now if is_vouched_for(*pair)]
        sentences = {
            sentence.place: sentence
            for atom, passage in passages
            if (passage.at or atom.observed_at) < new.observed_at
            for sentence in _sentences_of(atom, passage, new.subject)
        }
        sentence_words = {place: set(content_words(sentence.text)) for place, sentence in sentences.items()}
        rarity = {
            word: 1.0 / (1 + sum(word in own_words for own_words in sentence_words.values())) for word in set(words)
        }
        shared = {
            place: sum(rarity[word] for word in own_words & rarity.keys())
            for place, own_words in sentence_words.items()
        }
        best = sorted((place for place in sentences if shared[place] > 0), key=lambda place: -shared[place])
        return [sentences[place] for place in best[:MOST_COMPARED]]

    def _of_same_slot(self, new: Atom) -> list[_EarlierSentence]:
        """Return the speaker's last statements that are nearest to a new one by their slots.

        They may share no word with it.
        """
        state = surest_state(one_line(new.content), self._state_reader) if self._state_reader is not None else None
        if self._state_reader is None or state is None:
            return []
        similar: list[tuple[float, Atom]] = []
        for old in self._working_set.about(new.subject, RECENT_STATEMENTS):
            if old.id == new.id or old.observed_at >= new.observed_at:
                continue
            old_state = surest_state(one_line(old.content), self._state_reader)
            similarity = float(np.dot(old_state.slot, state.slot)) if old_state is not None else 0.0
            if similarity >= NEAR_SLOT:
                similar.append((similarity, old))
        similar.sort(key=lambda pair: (-pair[0], pair[1].id))
        return [
            _EarlierSentence(old.evidence[-1], one_line(old.content), old.observed_at, old)
            for _, old in similar[:MOST_OF_SLOT]
        ]

    def take(self, nominated: Sequence[Nomination], segments: Iterable[Atom]) -> None:
        """Apply the changes that a language model nominated: as sure if the pair model agrees, else as likely."""
        segments_by_id = {segment.id: segment for segment in segments}
        for nomination in nominated:
            source = segments_by_id.get(AtomId(nomination.new.segment))
            if source is None or not self._working_set.holds(nomination.old):
                continue
            new, old = (
                self._existing(evidence, value) or self._make_statement(evidence, value)
                for evidence, value in ((nomination.new, nomination.now), (nomination.old, nomination.was))
            )
            if new is not None and old is not None and new.id != old.id and not _rests_on(new, old):
                same_speaker = normal_form(new.subject) == normal_form(old.subject)
                is_sure = nomination.is_sure and same_speaker
                self._replace(old, new, sure=is_sure, otherwise=LIKELY_CHANGE)

    def _existing(self, place: Evidence, value: str) -> Atom | None:
        """Return the statement of a sentence, the one with this value if there are several; None if it has none."""
        source = self._working_set.get(AtomId(place.segment))
        if source is None or not source.is_segment:
            return source if source is not None and source.status in STANDS else None
        current = [statement for statement in self._working_set.on(place) if statement.status in STANDS]
        value_words = set(content_words(value))
        with_value = [statement for statement in current if value_words <= set(content_words(statement.content))]
        return next(iter(with_value or current), None)

    def _make_statement(self, place: Evidence, value: str) -> Atom | None:
        """Return a new statement made of a sentence; None if the sentence is not trusted."""
        segment = self._working_set.get(AtomId(place.segment))
        passage = passage_in(segment, place.passage) if segment is not None and segment.is_segment else None
        if segment is None or passage is None:
            return None
        if is_hearsay(segment, passage.speaker, passage.text) or statements_wait(segment.origin):
            return None
        statement = Atom(
            id=next(self._ids),
            scope=segment.scope,
            kind="fact",
            value=one_line(value) or None,
            content=one_line(passage.text[place.start : place.end]),
            observed_at=passage.at or segment.observed_at,
            subject=subject_of(passage.speaker),
            evidence=(place,),
            origin=segment.origin,
            principal=segment.principal,
            session_id=segment.session_id,
            source_id=segment.source_id,
            agents=segment.agents,
            confidence=MADE_LATE,
            **kind_defaults("fact", MADE_LATE, segment.origin),
        )
        self._working_set.put(statement)
        return statement

    def _replace(self, old: Atom, new: Atom, *, sure: bool, otherwise: float = DOUBTFUL) -> Atom:
        """End one statement in favour of another, or relate them if the change is not sure or not allowed.

        A relation of a change that is not sure has the confidence `unsure_confidence`.
        """
        if (
            not sure
            or self._working_set.guard(new) < self._working_set.guard(old)
            or old.is_episode
            or _holds_several(old)
        ):
            return self._doubt(old, new, otherwise)
        start = begins(new)
        if new.observed_at > old.observed_at:  # the old value still held when it was last said
            start = max(start, min(old.observed_at + MOMENT, new.observed_at))
        if start == begins(old):
            return self._doubt(old, new)
        if start < begins(old):
            return self._come_late(old, new)
        is_archived = old.status is Status.ARCHIVED
        status = Status.SUPERSEDED if start <= self._now and not is_archived else old.status
        until = min(old.valid_until, start) if old.valid_until else start
        self._end(old.with_(status=status, valid_until=until, superseded_by=_with(old.superseded_by, new.id)))
        successor = new.with_(valid_from=start, supersedes=_with(new.supersedes, old.id))
        self._working_set.put(successor)
        return successor

    def _come_late(self, current: Atom, late: Atom) -> Atom:
        """Record as superseded a statement that is captured later but held earlier than the current value."""
        self._working_set.put(current.with_(supersedes=_with(current.supersedes, late.id)))
        until = min(late.valid_until, begins(current)) if late.valid_until else begins(current)
        successors = _with(late.superseded_by, current.id)
        history = late.with_(status=Status.SUPERSEDED, valid_until=until, superseded_by=successors)
        self._working_set.put(history)
        return history

    def _end(self, old: Atom) -> None:
        """Record an ended statement, with its repetitions as evidence."""
        self._working_set.put(old if self._working_set.stands(old) else repeated(old, self._working_set))

    def _doubt(self, old: Atom, new: Atom, confidence: float = DOUBTFUL) -> Atom:
        """Relate two statements as a possible contradiction; a `confidence` below SURE leaves both active."""
        if any(relation.target == old.id for relation in new.relations) or hold_both(old, new):
            return new
        is_less_trusted = self._working_set.guard(new) < self._working_set.guard(old)
        contradiction = Relation(RelationName.CONTRADICTS, old.id, SURE if is_less_trusted else confidence, self._now)
        status = Status.CHALLENGED if is_less_trusted else new.status
        related = new.with_(relations=(*new.relations, contradiction), status=status)
        self._working_set.put(related)
        return related


def _sentences_of(atom: Atom, passage: Passage, subject: str) -> list[_EarlierSentence]:
    """Return the sentences of one speaker in a passage; a statement without evidence is one sentence."""
    at = passage.at or atom.observed_at
    if not atom.is_segment:
        is_same_subject = normal_form(atom.subject) == normal_form(subject)
        whole_statement = Evidence(atom.id, 1, 0, len(atom.content))
        return [] if atom.evidence or not is_same_subject else [_EarlierSentence(whole_statement, atom.content, at)]
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
    """Return when the value of a sentence began to hold, if it names one past day or period: "ten days ago"."""
    mentions = find_days(sentence, said_at.date())
    days = absolute(mentions[0].days, said_at.date()) if len(mentions) == 1 else None
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
