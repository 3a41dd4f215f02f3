"""Renders a passage for readers: sentences that no longer hold are replaced by a label that points to their
successor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lamina.atom.atom import Atom
from lamina.atom.passage import passages_of
from lamina.atom.relation import RelationName
from lamina.atom.standing import Standing, begins
from lamina.recall.grounds import Grounds, Rested
from lamina.recall.marks import Mark, Transition, ending, is_flagged
from lamina.text.analyse import QUESTION_STOP, analyse
from lamina.text.sentences import sentences


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of a passage. `ended_statements` are those of the best matching sentence, if it no longer holds;
    `statements` those that answer; `has_text_left` tells whether anything that could answer remains."""

    text: str
    marks: tuple[str, ...] = ()
    transitions: tuple[Transition, ...] = ()
    gone: tuple[Atom, ...] = ()
    says: tuple[Atom, ...] = ()
    is_left: bool = True


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a passage, its replacement (None if it is shown as it is), and its marks."""

    start: int
    end: int
    instead: str | None = None
    marks: tuple[str, ...] = ()
    transitions: tuple[Transition, ...] = ()
    gone: tuple[Atom, ...] = ()
    says: tuple[Atom, ...] = ()
    is_left: bool = True


def show(
    text: str, rests: Sequence[Rested], grounds: Grounds, weights: Mapping[str, float], about: Atom | None = None
) -> Shown:
    """Render a passage with the statements that rest on it. `weights` says what each word of the question is worth
    here; `about` is a statement whose sentence answers, whatever words it shares with the question."""
    spans = [span for span in rests if span.end <= len(text) and grounds.stands(span.statement) is not Standing.HELD]
    if not spans:
        return Shown(text)
    parts = [_piece(text, group, grounds) for group in _overlapping(spans)]
    if not any(part.instead is not None or part.marks or part.transitions for part in parts):
        return Shown(text, says=tuple(atom for part in parts for atom in part.says))
    return _joined(text, _filled(text, parts), weights, about)


def show_whole(atom: Atom, grounds: Grounds) -> Shown:
    """Render all the passages of a segment as one text."""
    text, position, rendered_passages = "", 0, list[Shown]()
    for passage in passages_of(atom):
        rendered_passages.append(show(passage.text, grounds.on((atom.id, passage.n)), grounds, {}))
        block, rendered_text = atom.content[passage.start : passage.end], rendered_passages[-1].text
        block = (
            block.replace(passage.text, rendered_text)
            if passage.text in block or rendered_text == passage.text
            else rendered_text
        )
        text += atom.content[position : passage.start] + block
        position = passage.end
    return Shown(
        text + atom.content[position:],
        tuple(dict.fromkeys(mark for rendered in rendered_passages for mark in rendered.marks)),
        tuple(transition for rendered in rendered_passages for transition in rendered.transitions),
        is_left=not rendered_passages or any(rendered.is_left for rendered in rendered_passages),
    )


def _filled(text: str, rested: Sequence[_Piece]) -> list[_Piece]:
    """Return the parts that statements rest on, and the sentences between them."""
    all_parts: list[_Piece] = []
    position = 0
    for part in rested:
        all_parts += [*_plain(text, position, part.start), part]
        position = part.end
    return all_parts + _plain(text, position, len(text))


def _overlapping(spans: Sequence[Rested]) -> list[list[Rested]]:
    """Group spans that overlap."""
    groups: list[list[Rested]] = []
    end = -1
    for span in sorted(spans, key=lambda item: (item.start, item.end, item.statement.id)):
        if span.start < end:
            groups[-1].append(span)
        else:
            groups.append([span])
        end = max(end, span.end)
    return groups


def _plain(text: str, start: int, end: int) -> list[_Piece]:
    """Return the sentences in a range that no statement rests on."""
    return [_Piece(start + first, start + last) for first, last in sentences(text[start:end])]


def _piece(text: str, group: Sequence[Rested], grounds: Grounds) -> _Piece:
    """Render the words that a group of statements rests on."""
    start, end = group[0].start, max(span.end for span in group)
    atoms = list({span.statement.id: span.statement for span in group}.values())
    ended = [atom for atom in atoms if grounds.is_gone(atom) and not grounds.is_told(atom)]
    current = [atom for atom in atoms if atom not in ended]
    if not current:
        return _Piece(start, end, _label(ended, grounds), gone=tuple(ended), is_left=False)
    transitions = _transitions(text[start:end], current, atoms, grounds)
    marks = _marks(current, grounds)
    if transitions or not ended:
        return _Piece(start, end, None, marks, tuple(transitions), says=tuple(current))
    return _Piece(start, end, _without(text, start, end, group, ended, current, grounds), marks, says=tuple(current))


def _marks(living: Sequence[Atom], grounds: Grounds) -> tuple[str, ...]:
    """Return the marks if every statement has some; if one simply holds, the whole sentence does."""
    marks_by_statement = [grounds.marks(atom) for atom in living]
    return (
        tuple(dict.fromkeys(mark.value for marks in marks_by_statement for mark in marks))
        if all(marks_by_statement)
        else ()
    )


def _label(gone: Sequence[Atom], grounds: Grounds) -> str:
    """Return the label that replaces an ended sentence: that it ended, and what to read instead."""
    successor_ids = dict.fromkeys(ending(successor.id) for atom in gone for successor in grounds.heirs(atom))
    if successor_ids:
        return f"[{Mark.SUPERSEDED}, see {', '.join(successor_ids)}]"
    reasons = dict.fromkeys(mark for atom in gone for mark in grounds.marks(atom)[:1])
    return f"[{', '.join(reasons)}]"


def _without(
    text: str,
    start: int,
    end: int,
    group: Sequence[Rested],
    gone: Sequence[Atom],
    living: Sequence[Atom],
    grounds: Grounds,
) -> str:
    """Return a sentence of which one part holds and another does not: the ended part is cut out if it is a clause, else
    the current statements are given in their own words."""
    current_spans = [(item.start, item.end) for item in group if item.statement in living]
    ended_spans = sorted({(item.start, item.end) for item in group if item.statement in gone})
    clauses = [
        span
        for span in ended_spans
        if any(outer <= span[0] and span[1] <= other and (outer, other) != span for outer, other in current_spans)
    ]
    if clauses != ended_spans or any(outer[1] > other[0] for outer, other in pairwise(ended_spans)):
        return " ".join(dict.fromkeys(atom.content for atom in living))
    result, position = "", start
    for first, last in ended_spans:
        ended_here = [
            item.statement for item in group if (item.start, item.end) == (first, last) and item.statement in gone
        ]
        result += text[position:first] + _reason(ended_here, living, grounds)
        position = last
    return result + text[position:end]


def _reason(gone: Sequence[Atom], living: Sequence[Atom], grounds: Grounds) -> str:
    """Return the label that replaces an ended clause; it points to the new reason, if the clause was the reason for the
    rest."""
    needed = {
        relation.target
        for atom in living
        for relation in atom.relations
        if relation.name in (RelationName.DEPENDS_ON, RelationName.IMPLEMENTS)
    }
    successor_ids = [successor.id for atom in gone if atom.id in needed for successor in grounds.heirs(atom)]
    if successor_ids:
        return f"[reason superseded, see …{successor_ids[0][-6:]}]"
    return _label(gone, grounds)


def _transitions(sentence: str, living: Sequence[Atom], atoms: Sequence[Atom], grounds: Grounds) -> list[Transition]:
    """Return the changes that a sentence makes: a statement superseded something that the sentence names as well."""
    transitions: list[Transition] = []
    for atom in living:
        for old in grounds.replaced(atom):
            if grounds.stands(atom) is Standing.CURRENT and (old in atoms or _names(sentence, old, atom)):
                transitions.append(_transition(old, atom))
    return transitions


def _names(sentence: str, old: Atom, new: Atom) -> bool:
    """Return whether a sentence contains what distinguishes the old statement from its successor."""
    distinct = _value_words(old) - _value_words(new) - frozenset(analyse(old.subject))
    return bool(distinct) and distinct <= frozenset(analyse(sentence))


def _value_words(atom: Atom) -> frozenset[str]:
    return frozenset(analyse(atom.value or atom.content)) - QUESTION_STOP


def _transition(old: Atom, new: Atom) -> Transition:
    if old.value and new.value and old.attribute == new.attribute:
        return Transition(old.value, new.value, begins(new))
    return Transition(old.content.rstrip(". "), new.content.rstrip(". "), begins(new))


def _joined(text: str, pieces: Sequence[_Piece], weights: Mapping[str, float], about: Atom | None) -> Shown:
    """Join the rendered parts into a passage, with the marks of the parts that answer best."""
    scores = [_shared(text[piece.start : piece.end], weights) for piece in pieces]
    best = _best(pieces, scores, about)
    answering = [part for part in best if part.is_left]
    is_marked_as_whole = bool(answering) and all(is_flagged(part.marks) for part in answering)
    transitions = tuple(dict.fromkeys(transition for piece in pieces for transition in piece.transitions))
    marks = tuple(dict.fromkeys(mark for part in answering for mark in part.marks)) if is_marked_as_whole else ()
    parts_left = [(part, score) for part, score in zip(pieces, scores, strict=True) if part.is_left]
    return Shown(
        _written(text, pieces, best if is_marked_as_whole else []),
        (*marks, *([Mark.TRANSITION.value] if transitions else [])),
        transitions,
        tuple(atom for part in best for atom in part.gone),
        tuple(atom for part in best for atom in part.says),
        any(score for _, score in parts_left) if any(scores) else bool(parts_left),
    )


def _best(pieces: Sequence[_Piece], shares: Sequence[float], about: Atom | None) -> list[_Piece]:
    """Return the parts that share most words with the question. If none shares any, every part that is left may be
    meant."""
    about_parts = [piece for piece in pieces if about is not None and any(atom.id == about.id for atom in piece.says)]
    if about_parts:
        return about_parts
    if any(shares):
        return [part for part, share in zip(pieces, shares, strict=True) if share == max(shares)]
    return [piece for piece in pieces if piece.is_left] or list(pieces)


def _shared(words: str, weights: Mapping[str, float]) -> float:
    tokens = frozenset(analyse(words)) if weights else frozenset()
    return sum(weight for word, weight in weights.items() if word in tokens)


def _written(text: str, pieces: Sequence[_Piece], told: Sequence[_Piece]) -> str:
    """Return the text with the replacements, and with marks behind the parts, unless they are stated for the whole."""
    result, position, previous = "", 0, ""
    for piece in pieces:
        words = text[piece.start : piece.end] if piece.instead is None else piece.instead
        note = "" if piece in told or not piece.marks else f" [{', '.join(piece.marks)}]"
        if piece.is_left or words != previous:
            result += text[position : piece.start] + words + note
        position, previous = piece.end, words
    return (result + text[position:]).strip()
