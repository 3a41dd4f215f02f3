"""Text that was captured before and comes again: it states nothing new.

A replay is a whole transcript that comes again, under the same or another id: the statements of the first time get the
repetition as further evidence. A repetition in untrusted text (an assistant's answer, an import, a pasted note) of an
ended statement ends with it. It contains the whole value of the statement and, depending on the text around it, a word
of its slot. A sentence that is evidence of a current statement is never taken for a repetition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from lamina.atom.atom import Atom, AtomId, Evidence
from lamina.atom.passage import Passage, is_assistant, passage_of, passages_of
from lamina.atom.proposals_and_pairs import ProposalType, proposal_type_of
from lamina.atom.provenance import TRUST, Origin, Scope, statements_need_review, trust_of
from lamina.atom.status import Status
from lamina.capture.existing_statements import ended_at, forget_requested_at
from lamina.capture.extractors import CapturedTurn
from lamina.capture.pieces import TextPiece
from lamina.capture.prose import is_pasted
from lamina.capture.store_reads import CURRENT_STATUSES, FORGETTABLE_STATUSES, WorkingSet, WriteContext
from lamina.store.base import AtomFilter
from lamina.text.analyser import analyse, content_tokens
from lamina.text.normal_form import normal_form
from lamina.text.sentences import find_sentences

MAX_CANDIDATES = 20
"""How many passages are searched for repetitions."""
ENDED_STATUSES = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.TOMBSTONED})
MAX_WITH_REPETITIONS = 50
"""The most evidence of an ended statement, with the repetitions by others."""
MAX_REPLAY_CANDIDATES = 10
MIN_REPLAY_TURNS = 2
"""One turn may be said twice; this many turns and nothing new are a transcript."""
_TOMBSTONED = frozenset({Status.TOMBSTONED})
_MAX_TOMBSTONES = 10
_OPENING_CHARS = 4000
"""How many characters of a long turn show what it is about."""
_MIN_WORD_CHARS = 4
_SHORT_SENTENCE_CHARS = 40
"""A sentence this short says hardly more than the value it repeats."""

TurnKey = tuple[str, int]
Replays = Mapping[TurnKey, tuple[Atom, Passage]]


def filters_of_ended_statements(scope: Scope) -> list[AtomFilter]:
    """Return the filters that tell whether a scope has ended statements, and forgotten ones, that may come again."""
    return [AtomFilter(scopes=(scope,), statuses=statuses, limit=1) for statuses in (ENDED_STATUSES, _TOMBSTONED)]


def drop_stored_pieces(pieces: Sequence[TextPiece], segments: Sequence[Atom]) -> list[TextPiece]:
    """Return the pieces that the session does not have yet; a stored one has the same speaker, time and text."""
    stored = {(passage.speaker, passage.at, passage.text) for segment in segments for passage in passages_of(segment)}
    return [piece for piece in pieces if piece.at is None or (piece.speaker, piece.at, piece.text) not in stored]


def find_replays(turns: Sequence[CapturedTurn], segments: Iterable[Atom], context: WriteContext) -> Replays:
    """Return the turns that repeat earlier ones, with those; none if any turn of a person is new."""
    working_set = WorkingSet(context.reads, context.scope, context.now)
    working_set.add_new_segments(segments)
    own_keys = {(turn.segment, turn.n) for turn in turns}
    person_turns = [turn for turn in turns if not is_assistant(turn.speaker) and normal_form(turn.text)]
    replays: dict[TurnKey, tuple[Atom, Passage]] = {}
    sessions: set[str] | None = None
    for turn in person_turns:
        same_turns = [pair for pair in _find_same_turns(turn, working_set) if (pair[0].id, pair[1].n) not in own_keys]
        same_time = [pair for pair in same_turns if pair[1].at == turn.at]
        if not same_turns:
            return {}
        turn_sessions = {atom.session_id or atom.id for atom, _ in same_turns}
        sessions = turn_sessions if sessions is None else sessions & turn_sessions
        replays[turn.segment, turn.n] = (same_time or same_turns)[0]
        if not sessions and not same_time:
            return {}
    all_same_time = all(replays[turn.segment, turn.n][1].at == turn.at for turn in person_turns)
    is_transcript = len(person_turns) >= MIN_REPLAY_TURNS and bool(sessions)
    return replays if person_turns and (is_transcript or all_same_time) else {}


def drop_replays(turns: Sequence[CapturedTurn], replays: Replays) -> list[CapturedTurn]:
    """Return the turns that are no replays; only they state anything."""
    return [turn for turn in turns if (turn.segment, turn.n) not in replays]


def cite_replays(replays: Replays, working_set: WorkingSet) -> None:
    """Add the repetitions to the evidence of the statements on the earlier turns."""
    for (segment, n), (atom, passage) in replays.items():
        whole_passage = Evidence(atom.id, passage.n, 0, len(passage.text))
        for statement in working_set.statements_on(whole_passage):
            repetitions = [
                Evidence(segment, n, evidence.start, evidence.end)
                for evidence in statement.evidence
                if (evidence.segment, evidence.passage) == (atom.id, passage.n)
            ]
            add_evidence(working_set, statement, repetitions)


def _find_same_turns(turn: CapturedTurn, working_set: WorkingSet) -> list[tuple[Atom, Passage]]:
    """Return the stored turns of the same speaker with the same words that are at least as trusted."""
    words = content_tokens(turn.text) or analyse(turn.text)
    form, segment = normal_form(turn.text), working_set.get(AtomId(turn.segment))
    # A user who repeats a web page makes a statement of their own: only text as trusted as this counts as said before.
    trust = TRUST[segment.origin] if segment is not None else 0.0
    return [
        (atom, passage)
        for atom, passage in working_set.search(words[:40], CURRENT_STATUSES, MAX_REPLAY_CANDIDATES)
        if atom.is_segment
        and passage.speaker == turn.speaker
        and normal_form(passage.text) == form
        and TRUST[atom.origin] >= trust
    ]


def add_repetitions(ended: Atom, working_set: WorkingSet) -> Atom:
    """Return an ended statement with every sentence that only repeats it added to its evidence."""
    value_words = _value_words(ended)
    if not value_words:
        return ended
    slot_words = _slot_words(ended, value_words)
    words = content_tokens(f"{ended.value} {ended.content}")
    repetitions = [
        repetition
        for atom, passage in (
            *working_set.search(words, CURRENT_STATUSES, MAX_CANDIDATES),
            *working_set.new_passages(_is_hearsay_passage),
        )
        if atom.is_segment and _is_hearsay_passage(atom, passage) and _may_cite(ended, atom)
        for repetition in _find_repetitions(
            atom, passage, value_words, slot_words, working_set, is_specific=_is_specific_value(ended)
        )
    ]
    return ended.with_evidence(repetitions, MAX_WITH_REPETITIONS)


def _may_cite(ended: Atom, segment: Atom) -> bool:
    """Return whether a statement may have evidence in a segment: any for a user, else none that is less trusted."""
    return ended.origin is Origin.HUMAN or trust_of(segment.origin) >= trust_of(ended.origin)


def attach_hearsay(turns: Sequence[CapturedTurn], working_set: WorkingSet) -> None:
    """Attach sentences of untrusted turns to the ended statements that they repeat, so that recall withholds them."""
    if not working_set.has_atoms(ENDED_STATUSES):
        return
    for turn in turns:
        segment = working_set.get(AtomId(turn.segment))
        if segment is None or not is_hearsay(segment, turn.speaker, turn.text):
            continue
        words = content_tokens(turn.text[:_OPENING_CHARS])
        for ended in _find_ended_statements(words, working_set):
            value_words = _value_words(ended)
            if not value_words or _is_restated(ended, value_words, working_set):
                continue
            passage = Passage(turn.n, turn.text, 0, len(turn.text), turn.speaker, turn.at)
            repetitions = _find_repetitions(
                segment,
                passage,
                value_words,
                _slot_words(ended, value_words),
                working_set,
                is_specific=_is_specific_value(ended),
            )
            with_repetitions = ended.with_evidence(repetitions, MAX_WITH_REPETITIONS)
            if with_repetitions is not ended:
                working_set.record_change(with_repetitions)


def _find_ended_statements(words: Sequence[str], working_set: WorkingSet) -> list[Atom]:
    """Return the ended statements that have evidence in passages with such words."""
    ended_by_id: dict[AtomId, Atom] = {}
    for atom, passage in working_set.search(words, CURRENT_STATUSES, MAX_CANDIDATES):
        if atom.is_segment:
            whole_passage = Evidence(atom.id, passage.n, 0, len(passage.text))
            ended_by_id |= {
                statement.id: statement
                for statement in working_set.statements_on(whole_passage)
                if statement.status in ENDED_STATUSES
            }
    return list(ended_by_id.values())


def is_hearsay(segment: Atom, speaker: str | None, text: str) -> bool:
    """Return whether text is not a trusted statement of a user: said by an assistant, from a document, or pasted."""
    return is_assistant(speaker) or statements_need_review(segment.origin) or is_pasted(text)


def _is_hearsay_passage(atom: Atom, passage: Passage) -> bool:
    return is_hearsay(atom, passage.speaker, passage.text)


def is_trusted_passage(atom: Atom, passage: Passage) -> bool:
    """Return whether a passage is a trusted statement of a user; text of assistants and tools is not compared."""
    return not atom.is_segment or not is_hearsay(atom, passage.speaker, passage.text)


def _value_words(ended: Atom) -> frozenset[str]:
    """Return the words by which a value is recognised; none if they are too common."""
    words = frozenset(content_tokens(ended.value or ""))
    return words if any(len(word) >= _MIN_WORD_CHARS or not word.isalpha() for word in words) else frozenset()


def _is_specific_value(ended: Atom) -> bool:
    """Return whether a value is a name, a number or several words.

    One common word occurs in many sentences that do not repeat the statement.
    """
    value = ended.value or ""
    return len(content_tokens(value)) > 1 or any(char.isdigit() or char.isupper() for char in value)


def _slot_words(ended: Atom, value_words: frozenset[str]) -> frozenset[str]:
    return frozenset(content_tokens(f"{ended.subject} {ended.attribute or ''} {ended.content}")) - value_words


def _find_repetitions(
    atom: Atom,
    passage: Passage,
    value_words: frozenset[str],
    slot_words: frozenset[str],
    working_set: WorkingSet,
    *,
    is_specific: bool,
) -> Iterator[Evidence]:
    """Yield the sentences of a passage that repeat a value and are evidence of no current statement."""
    passage_words = _passage_words(passage.text)
    if not value_words <= passage_words.all_words:
        return
    for start, end, sentence_words in passage_words.sentences:
        is_short = end - start <= _SHORT_SENTENCE_CHARS and ":" not in passage.text[start:end]
        is_in_context = (is_specific or is_short) and (
            is_assistant(passage.speaker) or bool(passage_words.opening_words & slot_words)
        )
        if not value_words <= sentence_words or not (sentence_words & slot_words or is_in_context):
            continue
        evidence = Evidence(atom.id, passage.n, start, end)
        if not any(statement.status in CURRENT_STATUSES for statement in working_set.statements_on(evidence)):
            yield evidence


class _PassageWords(NamedTuple):
    """The content words of a passage: by sentence, of the whole, and of its opening."""

    sentences: tuple[tuple[int, int, frozenset[str]], ...]
    all_words: frozenset[str]
    opening_words: frozenset[str]


@lru_cache(maxsize=512)
def _passage_words(text: str) -> _PassageWords:
    """Return the content words of a passage; cached, as a long answer is compared with many ended statements."""
    by_sentence = tuple((start, end, _word_set(text[start:end])) for start, end in find_sentences(text))
    return _PassageWords(
        by_sentence, frozenset().union(*(words for _, _, words in by_sentence)), _word_set(text[:_OPENING_CHARS])
    )


def _word_set(text: str) -> frozenset[str]:
    return frozenset(content_tokens(text))


def _is_restated(ended: Atom, value_words: frozenset[str], working_set: WorkingSet) -> bool:
    """Return whether a current successor has the same value again."""
    successor_ids, visited = list(ended.superseded_by), set()
    while successor_ids:
        successor = working_set.get(successor_ids.pop())
        if successor is None or successor.id in visited:
            continue
        visited.add(successor.id)
        if successor.status in CURRENT_STATUSES and value_words <= _word_set(successor.value or successor.content):
            return True
        successor_ids += successor.superseded_by
    return False


def withhold_repetitions(turns: Sequence[CapturedTurn], working_set: WorkingSet) -> None:
    """Withhold repetitions of forgotten sentences, unless a user says them again later."""
    has_tombstones = working_set.has_atoms(_TOMBSTONED)
    sentences: dict[AtomId, frozenset[str]] = {}
    for turn in turns:
        segment = working_set.get(AtomId(turn.segment))
        words = content_tokens(turn.text[:_OPENING_CHARS])
        if segment is None or not words:
            continue
        matches = working_set.search(words, _TOMBSTONED, _MAX_TOMBSTONES) if has_tombstones else []
        tombstones = [atom for atom, _ in matches if not atom.is_segment]
        for tombstone in tombstones:
            if tombstone.id not in sentences:
                sentences[tombstone.id] = frozenset(_tombstone_sentences(tombstone, working_set))
        is_trusted = not (is_assistant(turn.speaker) or statements_need_review(segment.origin) or is_pasted(turn.text))
        for start, end in find_sentences(turn.text):
            evidence, form = Evidence(turn.segment, turn.n, start, end), normal_form(turn.text[start:end])
            for tombstone in (atom for atom in tombstones if form and form in sentences[atom.id]):
                at = ended_at(tombstone, working_set.store) if tombstone.revision else forget_requested_at(tombstone)
                if at is not None and (not is_trusted or turn.at <= at):
                    add_evidence(working_set, tombstone, (evidence,))
            _withhold_new_statements(evidence, working_set)


def _withhold_new_statements(evidence: Evidence, working_set: WorkingSet) -> None:
    """Forget new statements whose only evidence is a forgotten sentence."""
    statements = working_set.statements_on(evidence)
    if not any(statement.status is Status.TOMBSTONED and statement.value is not None for statement in statements):
        return
    for statement in statements:
        is_new = (
            not statement.revision
            and len(statement.evidence) == 1
            and proposal_type_of(statement) is not ProposalType.FORGET
        )
        if is_new and statement.status in FORGETTABLE_STATUSES and statement.is_searched:
            working_set.record_change(statement.with_(status=Status.TOMBSTONED))


def add_evidence(working_set: WorkingSet, atom: Atom, added: Sequence[Evidence]) -> None:
    """Add evidence to an atom."""
    latest = working_set.get(atom.id) or atom
    changed = latest.with_evidence(added)
    if changed is not latest:
        working_set.record_change(changed)


def _tombstone_sentences(tombstone: Atom, working_set: WorkingSet) -> Iterator[str]:
    """Yield the normal forms of the sentences that say what was forgotten."""
    yield normal_form(tombstone.content)
    for evidence in tombstone.evidence:
        text = text_of_evidence(evidence, working_set)
        if text is not None:
            yield normal_form(text)


def text_of_evidence(evidence: Evidence, working_set: WorkingSet) -> str | None:
    """Return the text of a sentence; None if its passage is gone."""
    segment = working_set.get(AtomId(evidence.segment))
    passage = passage_of(segment, evidence.passage) if segment else None
    return passage.text[evidence.start : evidence.end] if passage else None
