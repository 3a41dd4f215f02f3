"""Renders a passage for readers: sentences that no longer hold are replaced by a label that points to their
successor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lamina.atom.atom import Atom, EffectiveStatus, RelationName, effective_from
from lamina.atom.passage import passages_of
from lamina.recall.evidence_status import EvidenceStatus, StatementSpan
from lamina.recall.marks import HitMark, ValueTransition, is_flagged, short_id
from lamina.text.analyser import STOP_WORDS, analyse
from lamina.text.sentences import find_sentences


@dataclass(frozen=True, slots=True)
class RenderedPassage:
    """The shown part of a passage. `ended_statements` are those of the best matching sentence, if it no longer holds;
    `statements` those that answer; `has_text_left` says whether anything that could answer remains."""

    text: str
    marks: tuple[str, ...] = ()
    transitions: tuple[ValueTransition, ...] = ()
    ended_statements: tuple[Atom, ...] = ()
    statements: tuple[Atom, ...] = ()
    has_text_left: bool = True


@dataclass(frozen=True, slots=True)
class _RenderedPart:
    """A part of a passage, its replacement (None if it is shown as it is), and its marks."""

    start: int
    end: int
    replacement: str | None = None
    marks: tuple[str, ...] = ()
    transitions: tuple[ValueTransition, ...] = ()
    ended_statements: tuple[Atom, ...] = ()
    statements: tuple[Atom, ...] = ()
    has_text_left: bool = True


def render_passage(
    text: str,
    evidence_spans: Sequence[StatementSpan],
    evidence: EvidenceStatus,
    weights: Mapping[str, float],
    about: Atom | None = None,
) -> RenderedPassage:
    """Render a passage with the statements that rest on it. `weights` says what each word of the question is worth
    here; `about` is a statement whose sentence answers, whatever words it shares with the question."""
    spans = [
        span
        for span in evidence_spans
        if span.end <= len(text) and evidence.standing_of(span.statement) is not EffectiveStatus.PENDING
    ]
    if not spans:
        return RenderedPassage(text)
    parts = [_render_part(text, group, evidence) for group in _group_overlapping(spans)]
    if not any(part.replacement is not None or part.marks or part.transitions for part in parts):
        return RenderedPassage(text, statements=tuple(atom for part in parts for atom in part.statements))
    return _join_parts(text, _fill_gaps(text, parts), weights, about)


def render_segment(atom: Atom, evidence: EvidenceStatus) -> RenderedPassage:
    """Render all the passages of a segment as one text."""
    text, position, rendered_passages = "", 0, list[RenderedPassage]()
    for passage in passages_of(atom):
        rendered_passages.append(render_passage(passage.text, evidence.spans_on((atom.id, passage.n)), evidence, {}))
        block, rendered_text = atom.content[passage.start : passage.end], rendered_passages[-1].text
        block = (
            block.replace(passage.text, rendered_text)
            if passage.text in block or rendered_text == passage.text
            else rendered_text
        )
        text += atom.content[position : passage.start] + block
        position = passage.end
    return RenderedPassage(
        text + atom.content[position:],
        tuple(dict.fromkeys(mark for rendered in rendered_passages for mark in rendered.marks)),
        tuple(transition for rendered in rendered_passages for transition in rendered.transitions),
        has_text_left=not rendered_passages or any(rendered.has_text_left for rendered in rendered_passages),
    )


def _fill_gaps(text: str, parts: Sequence[_RenderedPart]) -> list[_RenderedPart]:
    """Return the parts that statements rest on, and the sentences between them."""
    all_parts: list[_RenderedPart] = []
    position = 0
    for part in parts:
        all_parts += [*_plain_parts(text, position, part.start), part]
        position = part.end
    return all_parts + _plain_parts(text, position, len(text))


def _group_overlapping(spans: Sequence[StatementSpan]) -> list[list[StatementSpan]]:
    """Group spans that overlap."""
    groups: list[list[StatementSpan]] = []
    end = -1
    for span in sorted(spans, key=lambda item: (item.start, item.end, item.statement.id)):
        if span.start < end:
            groups[-1].append(span)
        else:
            groups.append([span])
        end = max(end, span.end)
    return groups


def _plain_parts(text: str, start: int, end: int) -> list[_RenderedPart]:
    """Return the sentences in a range that no statement rests on."""
    return [_RenderedPart(start + first, start + last) for first, last in find_sentences(text[start:end])]


def _render_part(text: str, group: Sequence[StatementSpan], evidence: EvidenceStatus) -> _RenderedPart:
    """Render the words that a group of statements rests on."""
    start, end = group[0].start, max(span.end for span in group)
    atoms = list({span.statement.id: span.statement for span in group}.values())
    ended = [atom for atom in atoms if evidence.is_ended(atom) and not evidence.is_shown_after_end(atom)]
    current = [atom for atom in atoms if atom not in ended]
    if not current:
        return _RenderedPart(
            start, end, _end_label(ended, evidence), ended_statements=tuple(ended), has_text_left=False
        )
    transitions = _find_transitions(text[start:end], current, atoms, evidence)
    marks = _shared_marks(current, evidence)
    if transitions or not ended:
        return _RenderedPart(start, end, None, marks, tuple(transitions), statements=tuple(current))
    return _RenderedPart(
        start, end, _cut_ended(text, start, end, group, ended, current, evidence), marks, statements=tuple(current)
    )


def _shared_marks(current: Sequence[Atom], evidence: EvidenceStatus) -> tuple[str, ...]:
    """Return the marks if every statement has some; if one simply holds, the whole sentence does."""
    marks_by_statement = [evidence.marks_of(atom) for atom in current]
    return (
        tuple(dict.fromkeys(mark.value for marks in marks_by_statement for mark in marks))
        if all(marks_by_statement)
        else ()
    )


def _end_label(ended: Sequence[Atom], evidence: EvidenceStatus) -> str:
    """Return the label that replaces an ended sentence: that it ended, and what to read instead."""
    successor_ids = dict.fromkeys(
        short_id(successor.id) for atom in ended for successor in evidence.successors_of(atom)
    )
    if successor_ids:
        return f"[{HitMark.SUPERSEDED}, see {', '.join(successor_ids)}]"
    reasons = dict.fromkeys(mark for atom in ended for mark in evidence.marks_of(atom)[:1])
    return f"[{', '.join(reasons)}]"


def _cut_ended(
    text: str,
    start: int,
    end: int,
    group: Sequence[StatementSpan],
    ended: Sequence[Atom],
    current: Sequence[Atom],
    evidence: EvidenceStatus,
) -> str:
    """Return a sentence of which one part holds and another does not: the ended part is cut out if it is a clause, else
    the current statements are given in their own words."""
    current_spans = [(item.start, item.end) for item in group if item.statement in current]
    ended_spans = sorted({(item.start, item.end) for item in group if item.statement in ended})
    clauses = [
        span
        for span in ended_spans
        if any(outer <= span[0] and span[1] <= other and (outer, other) != span for outer, other in current_spans)
    ]
    if clauses != ended_spans or any(outer[1] > other[0] for outer, other in pairwise(ended_spans)):
        return " ".join(dict.fromkeys(atom.content for atom in current))
    result, position = "", start
    for first, last in ended_spans:
        ended_here = [
            item.statement for item in group if (item.start, item.end) == (first, last) and item.statement in ended
        ]
        result += text[position:first] + _clause_label(ended_here, current, evidence)
        position = last
    return result + text[position:end]


def _clause_label(ended: Sequence[Atom], current: Sequence[Atom], evidence: EvidenceStatus) -> str:
    """Return the label that replaces an ended clause; it points to the new reason, if the clause was the reason for the
    rest."""
    needed = {
        relation.target
        for atom in current
        for relation in atom.relations
        if relation.name in (RelationName.DEPENDS_ON, RelationName.IMPLEMENTS)
    }
    successor_ids = [successor.id for atom in ended if atom.id in needed for successor in evidence.successors_of(atom)]
    if successor_ids:
        return f"[reason superseded, see …{successor_ids[0][-6:]}]"
    return _end_label(ended, evidence)


def _find_transitions(
    sentence: str, current: Sequence[Atom], atoms: Sequence[Atom], evidence: EvidenceStatus
) -> list[ValueTransition]:
    """Return the changes that a sentence makes: a statement superseded something that the sentence names as well."""
    transitions: list[ValueTransition] = []
    for atom in current:
        for old in evidence.predecessors_of(atom):
            if evidence.standing_of(atom) is EffectiveStatus.CURRENT and (
                old in atoms or _names_old_value(sentence, old, atom)
            ):
                transitions.append(_make_transition(old, atom))
    return transitions


def _names_old_value(sentence: str, old: Atom, new: Atom) -> bool:
    """Return whether a sentence contains what distinguishes the old statement from its successor."""
    distinct = _value_words(old) - _value_words(new) - frozenset(analyse(old.subject))
    return bool(distinct) and distinct <= frozenset(analyse(sentence))


def _value_words(atom: Atom) -> frozenset[str]:
    return frozenset(analyse(atom.value or atom.content)) - STOP_WORDS


def _make_transition(old: Atom, new: Atom) -> ValueTransition:
    if old.value and new.value and old.attribute == new.attribute:
        return ValueTransition(old.value, new.value, effective_from(new))
    return ValueTransition(old.content.rstrip(". "), new.content.rstrip(". "), effective_from(new))


def _join_parts(
    text: str, parts: Sequence[_RenderedPart], weights: Mapping[str, float], about: Atom | None
) -> RenderedPassage:
    """Join the rendered parts into a passage, with the marks of the parts that answer best."""
    scores = [_shared_weight(text[piece.start : piece.end], weights) for piece in parts]
    best = _best_parts(parts, scores, about)
    answering = [part for part in best if part.has_text_left]
    is_marked_as_whole = bool(answering) and all(is_flagged(part.marks) for part in answering)
    transitions = tuple(dict.fromkeys(transition for piece in parts for transition in piece.transitions))
    marks = tuple(dict.fromkeys(mark for part in answering for mark in part.marks)) if is_marked_as_whole else ()
    parts_left = [(part, score) for part, score in zip(parts, scores, strict=True) if part.has_text_left]
    return RenderedPassage(
        _write_text(text, parts, best if is_marked_as_whole else []),
        (*marks, *([HitMark.TRANSITION.value] if transitions else [])),
        transitions,
        tuple(atom for part in best for atom in part.ended_statements),
        tuple(atom for part in best for atom in part.statements),
        any(score for _, score in parts_left) if any(scores) else bool(parts_left),
    )


def _best_parts(parts: Sequence[_RenderedPart], shares: Sequence[float], about: Atom | None) -> list[_RenderedPart]:
    """Return the parts that share most words with the question. If none shares any, every part that is left may be
    meant."""
    about_parts = [
        piece for piece in parts if about is not None and any(atom.id == about.id for atom in piece.statements)
    ]
    if about_parts:
        return about_parts
    if any(shares):
        return [part for part, share in zip(parts, shares, strict=True) if share == max(shares)]
    return [piece for piece in parts if piece.has_text_left] or list(parts)


def _shared_weight(words: str, weights: Mapping[str, float]) -> float:
    tokens = frozenset(analyse(words)) if weights else frozenset()
    return sum(weight for word, weight in weights.items() if word in tokens)


def _write_text(text: str, parts: Sequence[_RenderedPart], marked_as_whole: Sequence[_RenderedPart]) -> str:
    """Return the text with the replacements, and with marks behind the parts, unless they are stated for the whole."""
    result, position, previous = "", 0, ""
    for piece in parts:
        words = text[piece.start : piece.end] if piece.replacement is None else piece.replacement
        note = "" if piece in marked_as_whole or not piece.marks else f" [{', '.join(piece.marks)}]"
        if piece.has_text_left or words != previous:
            result += text[position : piece.start] + words + note
        position, previous = piece.end, words
    return (result + text[position:]).strip()
