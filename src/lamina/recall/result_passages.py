"""Result passages: a statement shares a place with the words it was extracted from, and an ended statement gives its
place to its successor.

A statement whose source passage is also a candidate goes with that passage: shown twice it would push others out, and
the ranking was tuned on the original words. If the sentence that answers has ended, its successor is shown with its
score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from lamina.atom.atom import Atom, AtomId
from lamina.atom.passage import Passage, passage_of, passages_of
from lamina.atom.provenance import is_summary
from lamina.atom.status import ENDED, RECALL_WEIGHT, Status
from lamina.recall.candidate_scoring import Candidate
from lamina.recall.evidence_status import EvidenceStatus
from lamina.recall.marks import HitMark, MovedBefore, ReplacedPassage
from lamina.recall.passage_rendering import RenderedPassage, render_passage, render_segment
from lamina.recall.recall_view import RecallView, was_said
from lamina.store.encodings import PassageKey
from lamina.text.analyser import STOP_WORDS, analyse

MAX_FOREIGN_WORDS = 1
"""A statement with more words than this that its source does not contain is shown by itself: it was edited."""


@dataclass(frozen=True, slots=True)
class ResultPassage:
    """A passage that answers, with the candidate that gives its score and the statements that were extracted from it,
    best first.

    `replaced_passage` is the passage whose place and score it took; `moved_before` the results it was moved in front
    of.
    """

    candidate: Candidate
    atom: Atom
    passage: Passage
    rendered: RenderedPassage
    statements: list[Atom]
    replaced_passage: ReplacedPassage | None = None
    moved_before: tuple[MovedBefore, ...] = ()

    @property
    def key(self) -> PassageKey:
        """The key of the passage that is shown."""
        return self.atom.id, self.passage.n


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultOptions:
    """Limits of what is shown. `superseded_keys` are candidates that ordinary recall does not show, `selects` returns
    whether an atom may answer, `include_history` is whether ended statements are requested."""

    superseded_keys: frozenset[PassageKey] = frozenset()
    selects: Callable[[Atom], bool] = lambda atom: True
    include_history: bool = False


def build_results(
    ordered: Sequence[Candidate], count: int, view: RecallView, options: ResultOptions | None = None
) -> tuple[list[ResultPassage], EvidenceStatus]:
    """Return the best candidates that still exist and hold as results, with successors in the places of ended ones, and
    the status of the evidence they rest on."""
    builder = _ResultBuilder(ordered, view, options or ResultOptions())
    for start in range(0, len(ordered), count):
        builder.add_batch(ordered[start : start + count])
        if len(builder.results) >= count:
            break
    return list(builder.results.values())[:count], builder.evidence


def render_atoms(atoms: Sequence[Atom], view: RecallView, *, include_history: bool = False) -> list[RenderedPassage]:
    """Return each atom with all its words, without the sentences that no longer hold."""
    evidence = EvidenceStatus(view, include_history=include_history)
    segments = [atom for atom in atoms if atom.is_segment]
    keys = ((atom.id, passage.n) for atom in segments for passage in passages_of(atom))
    evidence.load(keys, [atom for atom in atoms if not atom.is_segment])
    return [render_segment(atom, evidence) if atom.is_segment else _render_statement(atom, evidence) for atom in atoms]


class _ResultBuilder:
    """Collects results in order."""

    def __init__(self, ordered: Sequence[Candidate], view: RecallView, options: ResultOptions) -> None:
        self.results: dict[PassageKey, ResultPassage] = {}
        self.evidence = EvidenceStatus(view, include_history=options.include_history)
        self._view, self._options = view, options
        self._candidates_by_key = {candidate.key: candidate for candidate in ordered}
        self._passages: dict[PassageKey, tuple[Atom, Passage]] = {}
        self._rendered: dict[PassageKey, RenderedPassage] = {}
        self._pending_statements: dict[PassageKey, list[Atom]] = {}

    def add_batch(self, batch: Sequence[Candidate]) -> None:
        """Add the results for a batch of candidates."""
        self._load_batch(batch)
        for candidate in (entry for entry in batch if entry.key in self._passages):
            atom, passage = self._passages[candidate.key]
            if atom.is_segment:
                self._add_words(candidate, atom, passage)
            elif self._is_outdated_summary(atom):
                continue
            elif self._is_ended(candidate, atom):
                self._add_successors(candidate, [atom], atom.status.value)
            elif (
                candidate.key not in self._options.superseded_keys or atom.status in ENDED or self._is_only_answer(atom)
            ):
                self._add_statement(candidate, atom, passage)

    def _is_ended(self, candidate: Candidate, atom: Atom) -> bool:
        """Return whether a statement has ended and is not shown anyway."""
        ended = candidate.key in self._options.superseded_keys and atom.status in ENDED
        return (ended or self.evidence.is_ended(atom)) and not self.evidence.is_shown_after_end(atom)

    def _is_outdated_summary(self, atom: Atom) -> bool:
        """Return whether a dream's summary rests on something that has changed since: it would repeat outdated values
        until the next dream."""
        if not is_summary(atom) or self._options.include_history:
            return False
        return self.evidence.has_changed_dependency(atom) or self.evidence.is_outdated_summary(atom)

    def _is_only_answer(self, atom: Atom) -> bool:
        """Return whether a challenged statement is shown all the same: nothing better answers, and no current statement
        contradicts it."""
        return not self.results and not self.evidence.contradicts_current(atom)

    def _load_batch(self, batch: Sequence[Candidate]) -> None:
        """Read the batch, those source passages of its statements that are candidates, and the passages of
        successors."""
        self._read_candidates([candidate for candidate in batch if candidate.key not in self._passages])
        atoms = [self._passages[candidate.key][0] for candidate in batch if candidate.key in self._passages]
        sources = {key for atom in atoms for key in _evidence_keys(atom)} & self._candidates_by_key.keys()
        self._read_candidates([self._candidates_by_key[key] for key in sorted(sources - self._passages.keys())])
        existing = [key for key in (*(candidate.key for candidate in batch), *sorted(sources)) if key in self._passages]
        self.evidence.load(
            [key for key in existing if self._passages[key][0].is_segment],
            [self._passages[key][0] for key in existing if not self._passages[key][0].is_segment],
        )
        self._load_successors(existing)

    def _read_candidates(self, candidates: Sequence[Candidate]) -> None:
        """Read the passages of candidates."""
        if candidates:
            self._passages |= self._view.passages(candidate.key for candidate in candidates)

    def _load_successors(self, keys: Iterable[PassageKey]) -> None:
        """Read the passages of successors that places will be given to."""
        segment_keys = [key for key in keys if self._passages[key][0].is_segment]
        replaced = [atom for key in keys if not (atom := self._passages[key][0]).is_segment and atom.superseded_by]
        ended = [*(atom for key in segment_keys for atom in self._render(key).ended_statements), *replaced]
        successors = {successor.id: successor for atom in ended for successor in self.evidence.text_successors_of(atom)}
        if not successors:
            return
        missing = {
            key
            for successor in successors.values()
            for key in _evidence_keys(successor)[:1]
            if key not in self._passages
        }
        segments = self._view.atoms(sorted({key[0] for key in missing})) if missing else {}
        for key in sorted(missing):
            segment = segments.get(key[0])
            passage = passage_of(segment, key[1]) if segment and segment.status in RECALL_WEIGHT else None
            if segment is not None and passage is not None:
                self._passages[key] = segment, passage
        source_keys = {
            key for successor in successors.values() for key in _evidence_keys(successor) if key in self._passages
        }
        self.evidence.load(source_keys, successors.values())
        for key in source_keys:
            self._rendered.pop(key, None)

    def _add_words(self, candidate: Candidate, atom: Atom, passage: Passage) -> None:
        """Add a passage of a conversation or document; if its best sentence has ended, add the successor first."""
        rendered = self._render(candidate.key)
        if rendered.ended_statements:
            self._add_successors(
                candidate, rendered.ended_statements, self.evidence.marks_of(rendered.ended_statements[0])[0].value
            )
        if rendered.has_text_left and candidate.key not in self.results:
            statements = self._pending_statements.pop(candidate.key, [])
            self.results[candidate.key] = ResultPassage(candidate, atom, passage, rendered, statements)

    def _add_statement(self, candidate: Candidate, atom: Atom, passage: Passage) -> None:
        """Add a statement, or attach it to the results that show its source passages."""
        sources = [
            key
            for key in self._find_source_passages(atom)
            if key in self.results or (key in self._candidates_by_key and self._render(key).has_text_left)
        ]
        if not sources and candidate.key not in self.results:
            self.results[candidate.key] = ResultPassage(
                candidate, atom, passage, _render_statement(atom, self.evidence), []
            )
        for key in sources if candidate.key not in self._options.superseded_keys else ():
            attached = (
                self.results[key].statements if key in self.results else self._pending_statements.setdefault(key, [])
            )
            if atom not in attached:
                attached.append(atom)

    def _add_successors(self, candidate: Candidate, ended: Iterable[Atom], reason: str) -> None:
        """Give the place of a candidate to the successors of its ended statements, unless they have a better place
        already."""
        replaced_passage = ReplacedPassage(*candidate.key, reason)
        for successor in {
            successor.id: successor for atom in ended for successor in self.evidence.text_successors_of(atom)
        }.values():
            sources = [
                key for key in self._find_source_passages(successor) if self._options.selects(self._passages[key][0])
            ]
            if (successor.id, 1) in self.results or any(key in self.results for key in sources):
                continue
            is_pending = self.evidence.is_pending(successor)
            if sources and not (is_pending and not self._render(sources[0]).has_text_left):
                key, attached = sources[0], self._pending_statements.pop(sources[0], [])
                attached = (
                    attached
                    if is_pending
                    else [successor, *(statement for statement in attached if statement.id != successor.id)]
                )
                self.results[key] = ResultPassage(
                    candidate, *self._passages[key], self._render(key, successor), attached, replaced_passage
                )
            elif self._options.selects(successor) and not is_pending:
                passage, rendered = passages_of(successor)[0], _render_statement(successor, self.evidence)
                self.results[successor.id, 1] = ResultPassage(
                    candidate, successor, passage, rendered, [], replaced_passage
                )

    def _find_source_passages(self, atom: Atom) -> list[PassageKey]:
        """Return the loaded passages that say what a statement says."""
        return [
            key
            for key in _evidence_keys(atom)
            if key in self._passages
            and was_said(self._view, *self._passages[key])
            and _states_the_same(self._passages[key][1].text, atom.content, atom.subject)
        ]

    def _render(self, key: PassageKey, about: Atom | None = None) -> RenderedPassage:
        """Render a passage; `about` is the statement it is shown for, if not for the question's words."""
        if about is None and key in self._rendered:
            return self._rendered[key]
        atom, passage = self._passages[key]
        match = self._candidates_by_key[key].match if key in self._candidates_by_key else None
        rendered = render_passage(
            passage.text, self.evidence.spans_on(key), self.evidence, dict(match.token_scores) if match else {}, about
        )
        if atom.status is not Status.ACTIVE:
            rendered = replace(rendered, marks=(atom.status.value, *rendered.marks))
        if about is None:
            self._rendered[key] = rendered
        return rendered


def _render_statement(atom: Atom, evidence: EvidenceStatus) -> RenderedPassage:
    """Render a statement by itself."""
    marks = evidence.marks_of(atom)
    status_marks = () if atom.status is Status.ACTIVE or HitMark.HISTORICAL in marks else (atom.status.value,)
    other_marks = (mark.value for mark in marks if atom.status is Status.ACTIVE or mark not in _MARKS_LIKE_STATUS)
    return RenderedPassage(passages_of(atom)[0].text, (*status_marks, *other_marks), statements=(atom,))


_MARKS_LIKE_STATUS = frozenset({HitMark.SUPERSEDED, HitMark.WRONG, HitMark.RETRACTED, HitMark.DISPUTED})
"""Marks that repeat what the status of a statement says."""


@lru_cache(maxsize=4096)
def _states_the_same(words: str, statement: str, subject: str) -> bool:
    """Return whether words say what a statement says: it may omit the speaker and add a date, not much more."""
    foreign = frozenset(analyse(statement)) - frozenset(analyse(subject)) - frozenset(analyse(words)) - _IGNORED_WORDS
    return sum(not token.isdecimal() for token in foreign) <= MAX_FOREIGN_WORDS


def _evidence_keys(atom: Atom) -> list[PassageKey]:
    """Return the keys of the passages that a statement rests on, without repeats."""
    return list(dict.fromkeys((AtomId(evidence.segment), evidence.passage) for evidence in atom.evidence))


_DATES = """
    january february march april may june july august september october november december
    week month year night morning evening
"""
_IGNORED_WORDS = STOP_WORDS | frozenset(analyse(_DATES))
