"""Ending statements that later ones replace.

A sentence without a statement becomes one when a sure link ends it, so that recall can withhold it. All decisions are
changes to atoms in the commit of the new words, and are undone with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta

import numpy as np

from lamina.atom.atom import Atom, AtomId, Evidence, Relation, RelationName, effective_from, kind_defaults
from lamina.atom.claim import claim_of
from lamina.atom.passage import Passage, passages_of
from lamina.atom.proposals_and_pairs import LIKELY_CHANGE_CONFIDENCE, are_both_valid
from lamina.atom.provenance import statements_need_review
from lamina.atom.status import Status
from lamina.capture.change.change_nomination import Nomination
from lamina.capture.change.repetitions import add_repetitions, is_hearsay, is_trusted_passage
from lamina.capture.classification import DOUBTFUL, SURE
from lamina.capture.extractors import speaker_subject
from lamina.capture.prose import find_statable_sentences
from lamina.capture.store_reads import CURRENT_STATUSES, WorkingSet, find_passage
from lamina.states.replacement_verdict import ReplacementCertainty, find_surest_state, judge_replacements
from lamina.states.sentence_models import StateReader
from lamina.text.analyser import content_tokens
from lamina.text.date_mentions import find_dates
from lamina.text.normal_form import normal_form, one_line

MAX_CANDIDATES = 20
"""How many passages that share words with a new statement are searched."""
MAX_CAPTURED_NOW = 60
"""How many passages of the same capture, before the new statement, are searched as well."""
MAX_COMPARED = 4
"""How many of their sentences the pair model compares with it."""
RECENT_STATEMENTS, MAX_SAME_SLOT, MIN_SLOT_SIMILARITY = 200, 2, 0.5
"""How many of the speaker's last statements are searched for the same slot, how many of those are compared as well,
and how similar their slots must be."""
MOMENT = timedelta(seconds=1)
LATE_STATEMENT_CONFIDENCE = 0.85
"""The confidence of a statement that was made of a sentence only when a later one ended it."""


@dataclass(frozen=True, slots=True)
class _EarlierSentence:
    """A sentence that a new statement may replace: its evidence, text and time, and its statement if known."""

    evidence: Evidence
    text: str
    said_at: datetime
    statement: Atom | None = None

    def sort_key(self) -> tuple[datetime, str, int, int]:
        """Return the key by which sentences are sorted in the order they were said."""
        return self.said_at, self.evidence.segment, self.evidence.passage, self.evidence.start


class Supersession:
    """Ends the statements that new ones replace; each decision is visible to the next."""

    def __init__(
        self,
        working_set: WorkingSet,
        ids: Iterator[AtomId],
        now: datetime,
        state_reader: StateReader | None,
        segments: Sequence[Atom] = (),
    ) -> None:
        self._working_set, self._ids, self._now, self._state_reader = working_set, ids, now, state_reader
        captured_now = [(segment, passage) for segment in segments for passage in passages_of(segment)]
        self._captured_now = [pair for pair in captured_now if is_trusted_passage(*pair)]
        self._order: dict[tuple[str, int], int] = {
            (segment.id, passage.n): n for n, (segment, passage) in enumerate(self._captured_now)
        }

    def compare(self, new: Atom) -> None:
        """End the earlier statements that a new one surely replaces, and relate it to those that it likely replaces.

        The pair model compares the new statement with those of the same speaker that share most words with it or have a
        similar slot.
        """
        if self._state_reader is None or not new.evidence or new.status is not Status.ACTIVE:
            return
        sentence, earlier = one_line(new.content), self._find_earlier(new)
        verdicts = judge_replacements(sentence, [candidate.text for candidate in earlier], self._state_reader)
        for candidate, certainty in zip(earlier, verdicts, strict=True):
            successor = self._working_set.get(new.id) or new
            if successor.status is not Status.ACTIVE:
                break
            if certainty is ReplacementCertainty.NONE or not self._working_set.is_sentence_current(candidate.evidence):
                continue
            old = (
                self._working_set.get(candidate.statement.id)
                if candidate.statement is not None
                else self._find_statement(candidate.evidence, "")
            )
            if old is None and certainty is ReplacementCertainty.SURE:
                old = self._make_statement(candidate.evidence, "")
            if (
                old is None
                or old.status not in CURRENT_STATUSES
                or old.id == successor.id
                or _depends_on(successor, old)
            ):
                continue
            if certainty is ReplacementCertainty.SURE:
                valid_from = successor.valid_from or _parse_effective_date(sentence, successor.observed_at)
                self._replace(old, successor.with_(valid_from=valid_from), is_sure=True)
            elif self._working_set.required_trust(successor) >= self._working_set.required_trust(old):
                self._relate(old, successor, LIKELY_CHANGE_CONFIDENCE)

    def _find_earlier(self, new: Atom) -> list[_EarlierSentence]:
        """Return the earlier sentences of the same speaker that a new statement may replace, oldest first."""
        by_words = self._find_by_words(new)
        by_slot = [
            earlier_sentence
            for earlier_sentence in self._find_by_slot(new)
            if not any(earlier_sentence.evidence.overlaps(other.evidence) for other in by_words)
        ]
        return sorted([*by_words, *by_slot], key=_EarlierSentence.sort_key)

    def _find_by_words(self, new: Atom) -> list[_EarlierSentence]:
        """Return the sentences that share most words with a new statement."""
        words = content_tokens(one_line(new.content))
        passages = self._working_set.search(words, CURRENT_STATUSES, MAX_CANDIDATES, is_trusted_passage)
        passages += self._passages_captured_before(new)
        sentences = {
            sentence.evidence: sentence
            for atom, passage in passages
            if (passage.at or atom.observed_at) < new.observed_at
            for sentence in _sentences_of(atom, passage, new.subject)
        }
        sentence_words = {place: set(content_tokens(sentence.text)) for place, sentence in sentences.items()}
        rarity = {
            word: 1.0 / (1 + sum(word in own_words for own_words in sentence_words.values())) for word in set(words)
        }
        shared = {
            place: sum(rarity[word] for word in own_words & rarity.keys())
            for place, own_words in sentence_words.items()
        }
        best = sorted((place for place in sentences if shared[place] > 0), key=lambda place: -shared[place])
        return [sentences[place] for place in best[:MAX_COMPARED]]

    def _passages_captured_before(self, new: Atom) -> list[tuple[Atom, Passage]]:
        """Return the passages of this capture before a new statement: of many, the nearest ones."""
        place = new.evidence[-1]
        end = self._order.get((place.segment, place.passage), len(self._captured_now))
        return self._captured_now[max(0, end - MAX_CAPTURED_NOW) : end]

    def _find_by_slot(self, new: Atom) -> list[_EarlierSentence]:
        """Return the speaker's last statements that are nearest to a new one by their slots.

        They may share no word with it.
        """
        state = find_surest_state(one_line(new.content), self._state_reader) if self._state_reader is not None else None
        if self._state_reader is None or state is None:
            return []
        similar: list[tuple[float, Atom]] = []
        for old in self._working_set.statements_about(new.subject, RECENT_STATEMENTS):
            if old.id == new.id or old.observed_at >= new.observed_at:
                continue
            old_state = find_surest_state(one_line(old.content), self._state_reader)
            similarity = float(np.dot(old_state.slot, state.slot)) if old_state is not None else 0.0
            if similarity >= MIN_SLOT_SIMILARITY:
                similar.append((similarity, old))
        similar.sort(key=lambda pair: (-pair[0], pair[1].id))
        return [
            _EarlierSentence(old.evidence[-1], one_line(old.content), old.observed_at, old)
            for _, old in similar[:MAX_SAME_SLOT]
        ]

    def apply_nominations(self, nominations: Sequence[Nomination], segments: Iterable[Atom]) -> None:
        """Apply the changes that a language model nominated: as sure if the pair model agrees, else as likely."""
        segments_by_id = {segment.id: segment for segment in segments}
        for nomination in nominations:
            source = segments_by_id.get(AtomId(nomination.new_evidence.segment))
            if source is None or not self._working_set.is_sentence_current(nomination.old_evidence):
                continue
            new, old = (
                self._find_statement(evidence, value) or self._make_statement(evidence, value)
                for evidence, value in (
                    (nomination.new_evidence, nomination.new_value),
                    (nomination.old_evidence, nomination.old_value),
                )
            )
            if new is not None and old is not None and new.id != old.id and not _depends_on(new, old):
                same_speaker = normal_form(new.subject) == normal_form(old.subject)
                is_sure = nomination.is_sure and same_speaker
                self._replace(old, new, is_sure=is_sure, unsure_confidence=LIKELY_CHANGE_CONFIDENCE)

    def _find_statement(self, evidence: Evidence, value: str) -> Atom | None:
        """Return the statement of a sentence, the one with this value if there are several; None if it has none."""
        source = self._working_set.get(AtomId(evidence.segment))
        if source is None or not source.is_segment:
            return source if source is not None and source.status in CURRENT_STATUSES else None
        current = [
            statement for statement in self._working_set.statements_on(evidence) if statement.status in CURRENT_STATUSES
        ]
        value_words = set(content_tokens(value))
        with_value = [statement for statement in current if value_words <= set(content_tokens(statement.content))]
        return next(iter(with_value or current), None)

    def _make_statement(self, evidence: Evidence, value: str) -> Atom | None:
        """Return a new statement made of a sentence; None if the sentence is not trusted."""
        segment = self._working_set.get(AtomId(evidence.segment))
        passage = find_passage(segment, evidence.passage) if segment is not None and segment.is_segment else None
        if segment is None or passage is None:
            return None
        if is_hearsay(segment, passage.speaker, passage.text) or statements_need_review(segment.origin):
            return None
        statement = Atom(
            id=next(self._ids),
            scope=segment.scope,
            kind="fact",
            value=one_line(value) or None,
            content=one_line(passage.text[evidence.start : evidence.end]),
            observed_at=passage.at or segment.observed_at,
            subject=speaker_subject(passage.speaker),
            evidence=(evidence,),
            origin=segment.origin,
            principal=segment.principal,
            session_id=segment.session_id,
            source_id=segment.source_id,
            agents=segment.agents,
            confidence=LATE_STATEMENT_CONFIDENCE,
            **kind_defaults("fact", LATE_STATEMENT_CONFIDENCE, segment.origin),
        )
        self._working_set.record_change(statement)
        return statement

    def _replace(self, old: Atom, new: Atom, *, is_sure: bool, unsure_confidence: float = DOUBTFUL) -> Atom:
        """End one statement in favour of another, or relate them if the change is not sure or not allowed.

        A relation of a change that is not sure has the confidence `unsure_confidence`.
        """
        if (
            not is_sure
            or self._working_set.required_trust(new) < self._working_set.required_trust(old)
            or old.is_episode
            or _is_multi_valued(old)
        ):
            return self._relate(old, new, unsure_confidence)
        start = effective_from(new)
        if new.observed_at > old.observed_at:  # the old value still held when it was last said
            start = max(start, min(old.observed_at + MOMENT, new.observed_at))
        if start == effective_from(old):
            return self._relate(old, new)
        if start < effective_from(old):
            return self._insert_as_history(old, new)
        is_archived = old.status is Status.ARCHIVED
        status = Status.SUPERSEDED if start <= self._now and not is_archived else old.status
        until = min(old.valid_until, start) if old.valid_until else start
        self._end(old.with_(status=status, valid_until=until, superseded_by=_with_id(old.superseded_by, new.id)))
        successor = new.with_(valid_from=start, supersedes=_with_id(new.supersedes, old.id))
        self._working_set.record_change(successor)
        return successor

    def _insert_as_history(self, current: Atom, earlier: Atom) -> Atom:
        """Record as superseded a statement that is captured later but held earlier than the current value."""
        self._working_set.record_change(current.with_(supersedes=_with_id(current.supersedes, earlier.id)))
        until = min(earlier.valid_until, effective_from(current)) if earlier.valid_until else effective_from(current)
        successors = _with_id(earlier.superseded_by, current.id)
        history = earlier.with_(status=Status.SUPERSEDED, valid_until=until, superseded_by=successors)
        self._working_set.record_change(history)
        return history

    def _end(self, old: Atom) -> None:
        """Record an ended statement, with its repetitions as evidence."""
        self._working_set.record_change(
            old if self._working_set.is_current(old) else add_repetitions(old, self._working_set)
        )

    def _relate(self, old: Atom, new: Atom, confidence: float = DOUBTFUL) -> Atom:
        """Relate two statements as a possible contradiction; a `confidence` below SURE leaves both active."""
        if any(relation.target == old.id for relation in new.relations) or are_both_valid(old, new):
            return new
        is_less_trusted = self._working_set.required_trust(new) < self._working_set.required_trust(old)
        contradiction = Relation(RelationName.CONTRADICTS, old.id, SURE if is_less_trusted else confidence, self._now)
        status = Status.CHALLENGED if is_less_trusted else new.status
        related = new.with_(relations=(*new.relations, contradiction), status=status)
        self._working_set.record_change(related)
        return related


def _sentences_of(atom: Atom, passage: Passage, subject: str) -> list[_EarlierSentence]:
    """Return the sentences of one speaker in a passage; a statement without evidence is one sentence."""
    at = passage.at or atom.observed_at
    if not atom.is_segment:
        is_same_subject = normal_form(atom.subject) == normal_form(subject)
        whole_statement = Evidence(atom.id, 1, 0, len(atom.content))
        return [] if atom.evidence or not is_same_subject else [_EarlierSentence(whole_statement, atom.content, at)]
    if normal_form(speaker_subject(passage.speaker)) != normal_form(subject):
        return []
    sentences = find_statable_sentences(passage.text)
    return [
        _EarlierSentence(Evidence(atom.id, passage.n, sentence.start, sentence.end), sentence.text, at)
        for sentence in sentences
    ]


def _parse_effective_date(sentence: str, said_at: datetime) -> datetime | None:
    """Return when the value of a sentence began to hold, if it names one past day or period: "ten days ago"."""
    mentions = find_dates(sentence, said_at.date())
    days = mentions[0].span if len(mentions) == 1 else None
    if days is None or days[0] >= said_at.date():
        return None
    return datetime.combine(days[0], time(), said_at.tzinfo)


def _depends_on(new: Atom, old: Atom) -> bool:
    return any(relation.name is RelationName.DEPENDS_ON and relation.target == old.id for relation in new.relations)


def _is_multi_valued(atom: Atom) -> bool:
    claim = claim_of(atom)
    return claim is not None and not claim.is_single_valued


def _with_id(ids: tuple[AtomId, ...], added: AtomId) -> tuple[AtomId, ...]:
    return ids if added in ids else (*ids, added)
