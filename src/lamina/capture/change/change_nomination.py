"""Changes and relations that a language model names: what it is shown, and what becomes of those it names.

A nomination only says that a sentence replaces another, a relation only leads to a memory. Valid times decide which one
holds when, and trust decides whether it may, as with every other change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lamina.atom.atom import Atom, AtomId, Evidence, Relation, RelationName
from lamina.capture.change.repetitions import is_hearsay, is_trusted_passage
from lamina.capture.extractors import CapturedTurn, ExtractedStatement, StatedRelation, StoredStatement
from lamina.capture.prose import find_statable_sentences
from lamina.capture.store_reads import CURRENT_STATUSES, WorkingSet, WriteContext
from lamina.text.analyser import content_tokens
from lamina.text.normal_form import one_line

MAX_NEW_SENTENCES, MAX_EARLIER_SENTENCES = 20, 40
"""How many new and how many earlier sentences are shown."""
_MAX_CANDIDATES = 25


@dataclass(frozen=True, slots=True)
class SentenceLine:
    """A sentence as it is shown, and where it is."""

    evidence: Evidence
    text: str
    speaker: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Nomination:
    """A new sentence replaces an old one; the words of each that differ are the old and the new value.

    If it is not sure, it only relates the two: both stay active.
    """

    new_evidence: Evidence
    old_evidence: Evidence
    old_value: str
    new_value: str
    is_sure: bool = False


@dataclass(frozen=True, slots=True)
class Nominations:
    """The changes that a nominator found, the number of pairs it compared, and the calls it made."""

    changes: tuple[Nomination, ...] = ()
    pairs: int = 0
    calls: int = 0


class Nominator(Protocol):
    """Decides which new sentences replace which earlier ones, usually by a language model."""

    def nominate(self, earlier: Sequence[SentenceLine], new: Sequence[SentenceLine]) -> Nominations:
        """Return the changes among the sentences; ModelError if the model gives no answer."""


def nominate_changes(
    nominator: Nominator, turns: Sequence[CapturedTurn], segments: Mapping[str, Atom], context: WriteContext
) -> Nominations:
    """Return the changes that the nominator finds among the turns; it is not called if there is nothing to compare."""
    working_set = WorkingSet(context.reads, context.scope, context.now)
    working_set.add(segments.values())
    trusted_turns = [turn for turn in turns if _is_trusted_turn(turn, segments)]
    new_sentences = [line for turn in trusted_turns for line in _sentences_of_turn(turn)][:MAX_NEW_SENTENCES]
    earlier = list(_find_earlier_sentences(new_sentences, working_set))[:MAX_EARLIER_SENTENCES]
    new_passages = {(sentence.evidence.segment, sentence.evidence.passage) for sentence in new_sentences}
    return (
        nominator.nominate(earlier, new_sentences)
        if new_sentences and (earlier or len(new_passages) > 1)
        else Nominations()
    )


def _is_trusted_turn(turn: CapturedTurn, segments: Mapping[str, Atom]) -> bool:
    """Return whether a turn is a trusted statement of a user."""
    segment = segments.get(turn.segment)
    return segment is not None and not is_hearsay(segment, turn.speaker, turn.text)


def _sentences_of_turn(turn: CapturedTurn) -> Iterator[SentenceLine]:
    """Yield the sentences of a turn that may state something."""
    for sentence in find_statable_sentences(turn.text):
        yield SentenceLine(
            Evidence(turn.segment, turn.n, sentence.start, sentence.end), sentence.text, turn.speaker, turn.at
        )


def _find_earlier_sentences(new_sentences: Sequence[SentenceLine], working_set: WorkingSet) -> Iterator[SentenceLine]:
    """Yield the current sentences that share most words with new ones, in the order they were said."""
    words = [word for sentence in new_sentences for word in content_tokens(sentence.text)]
    new_passages = {(sentence.evidence.segment, sentence.evidence.passage) for sentence in new_sentences}
    matches = working_set.search(words, CURRENT_STATUSES, _MAX_CANDIDATES, is_trusted_passage) if words else []
    for atom, passage in matches:
        if (atom.id, passage.n) in new_passages:
            continue
        if atom.is_segment:
            turn = CapturedTurn(atom.id, passage.n, passage.text, passage.speaker, passage.at or atom.observed_at)
            yield from (line for line in _sentences_of_turn(turn) if working_set.is_sentence_current(line.evidence))
        elif not atom.evidence:
            whole_statement = Evidence(atom.id, 1, 0, len(atom.content))
            yield SentenceLine(whole_statement, one_line(atom.content), atom.subject, atom.observed_at)


MAX_STORED = 6
"""How many stored statements a language model is shown; they have to fit into its context window."""
STATED_CONFIDENCE = 0.5
"""The confidence of a relation that a language model names."""
MAX_CHANGE_COUNT, MAX_CHANGE_SHARE = 2, 0.5
"""A model that calls more and a larger share of its statements changes is not believed: most change nothing."""
_CHANGES = frozenset({RelationName.CONTRADICTS, RelationName.SUPERSEDES})

StatementPair = tuple[ExtractedStatement, Atom]
"""An extracted statement, and the atom made of it."""


def find_stored_statements(turns: Sequence[CapturedTurn], context: WriteContext) -> list[StoredStatement]:
    """Return the stored statements that share most words with the turns."""
    words = [word for turn in turns for word in content_tokens(turn.text)]
    if not words:
        return []
    working_set = WorkingSet(context.reads, context.scope, context.now)
    matches = working_set.search(words, CURRENT_STATUSES, MAX_STORED, lambda atom, passage: not atom.is_segment)
    return [
        StoredStatement(
            atom.id, atom.content, atom.evidence[0] if atom.evidence else Evidence(atom.id, 1, 0, len(atom.content))
        )
        for atom, _ in matches
    ]


def link_stated_relations(pairs: Sequence[StatementPair], now: datetime) -> list[Atom]:
    """Return the atoms with the relations that their statements name, without those that are likely changes."""
    linked: list[Atom] = []
    for statement, atom in pairs:
        targets = [
            (relation.name, relation.stored_id or _find_extracted(relation, pairs))
            for relation in statement.relations
            if relation.name not in _CHANGES
        ]
        relations = [
            Relation(name, target, STATED_CONFIDENCE, now) for name, target in targets if target and target != atom.id
        ]
        linked.append(atom.with_(relations=(*atom.relations, *relations)) if relations else atom)
    return linked


def nominate_stated_changes(pairs: Sequence[StatementPair]) -> tuple[Nomination, ...]:
    """Return the likely changes among the relations that statements name; none if it calls most of them changes."""
    changes = [
        Nomination(statement.evidence, relation.evidence, relation.content, statement.content)
        for statement, _ in pairs
        for relation in statement.relations
        if relation.name in _CHANGES and relation.evidence != statement.evidence
    ]
    is_believed = len(changes) <= max(MAX_CHANGE_COUNT, MAX_CHANGE_SHARE * len(pairs))
    return tuple(changes) if is_believed else ()


def _find_extracted(relation: StatedRelation, pairs: Sequence[StatementPair]) -> AtomId | None:
    """Return the atom of the extracted statement that a relation leads to; None if it was left out."""
    on_sentence = [(statement, atom) for statement, atom in pairs if statement.evidence == relation.evidence]
    same_words = [atom.id for statement, atom in on_sentence if statement.content == relation.content]
    return next(iter(same_words or [atom.id for _, atom in on_sentence]), None)
