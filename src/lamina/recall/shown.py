"""A passage as a reader is shown it: without the sentences that no longer hold, which point to what does."""

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
    """What is shown of a passage. `gone` are the statements of the sentence that answers best, where that no longer
    holds; `says` those that answer; `is_left` tells whether anything that could answer remains without what is gone."""

    text: str
    marks: tuple[str, ...] = ()
    transitions: tuple[Transition, ...] = ()
    gone: tuple[Atom, ...] = ()
    says: tuple[Atom, ...] = ()
    is_left: bool = True


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some words of a passage, what stands in their place (None: they do themselves), and what is said of them."""

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
    """A passage's words with what rests on them. `weights` says what each word of the question is worth here; `about` a
    statement whose sentence is the one that answers, whatever words it shares with the question."""
    spans = [rest for rest in rests if rest.end <= len(text) and grounds.stands(rest.statement) is not Standing.HELD]
    if not spans:
        return Shown(text)
    rested = [_piece(text, group, grounds) for group in _overlapping(spans)]
    if not any(each.instead is not None or each.marks or each.transitions for each in rested):
        return Shown(text, says=tuple(atom for each in rested for atom in each.says))
    return _joined(text, _filled(text, rested), weights, about)


def show_whole(atom: Atom, grounds: Grounds) -> Shown:
    """All the passages of a segment as one text."""
    text, at, shown = "", 0, list[Shown]()
    for passage in passages_of(atom):
        shown.append(show(passage.text, grounds.on((atom.id, passage.n)), grounds, {}))
        block, words = atom.content[passage.start : passage.end], shown[-1].text
        block = block.replace(passage.text, words) if passage.text in block or words == passage.text else words
        text += atom.content[at : passage.start] + block
        at = passage.end
    return Shown(
        text + atom.content[at:],
        tuple(dict.fromkeys(mark for each in shown for mark in each.marks)),
        tuple(told for each in shown for told in each.transitions),
        is_left=not shown or any(each.is_left for each in shown),
    )


def _filled(text: str, rested: Sequence[_Piece]) -> list[_Piece]:
    """The pieces that statements rest on, and the sentences between them."""
    found: list[_Piece] = []
    at = 0
    for piece in rested:
        found += [*_plain(text, at, piece.start), piece]
        at = piece.end
    return found + _plain(text, at, len(text))


def _overlapping(spans: Sequence[Rested]) -> list[list[Rested]]:
    groups: list[list[Rested]] = []
    end = -1
    for span in sorted(spans, key=lambda each: (each.start, each.end, each.statement.id)):
        if span.start < end:
            groups[-1].append(span)
        else:
            groups.append([span])
        end = max(end, span.end)
    return groups


def _plain(text: str, start: int, end: int) -> list[_Piece]:
    """Sentences that nothing rests on."""
    return [_Piece(start + first, start + last) for first, last in sentences(text[start:end])]


def _piece(text: str, group: Sequence[Rested], grounds: Grounds) -> _Piece:
    start, end = group[0].start, max(rested.end for rested in group)
    atoms = list({rested.statement.id: rested.statement for rested in group}.values())
    gone = [atom for atom in atoms if grounds.is_gone(atom) and not grounds.is_told(atom)]
    living = [atom for atom in atoms if atom not in gone]
    if not living:
        return _Piece(start, end, _label(gone, grounds), gone=tuple(gone), is_left=False)
    told = _transitions(text[start:end], living, atoms, grounds)
    marks = _marks(living, grounds)
    if told or not gone:
        return _Piece(start, end, None, marks, tuple(told), says=tuple(living))
    return _Piece(start, end, _without(text, start, end, group, gone, living, grounds), marks, says=tuple(living))


def _marks(living: Sequence[Atom], grounds: Grounds) -> tuple[str, ...]:
    """What every one of the statements has something of; one that simply holds speaks for the whole sentence."""
    found = [grounds.marks(atom) for atom in living]
    return tuple(dict.fromkeys(mark.value for marks in found for mark in marks)) if all(found) else ()


def _label(gone: Sequence[Atom], grounds: Grounds) -> str:
    """What stands where a sentence was: that it is over, and where to look instead."""
    heirs = dict.fromkeys(ending(heir.id) for atom in gone for heir in grounds.heirs(atom))
    if heirs:
        return f"[{Mark.SUPERSEDED}, see {', '.join(heirs)}]"
    why = dict.fromkeys(mark for atom in gone for mark in grounds.marks(atom)[:1])
    return f"[{', '.join(why)}]"


def _without(
    text: str,
    start: int,
    end: int,
    group: Sequence[Rested],
    gone: Sequence[Atom],
    living: Sequence[Atom],
    grounds: Grounds,
) -> str:
    """A sentence of which one part holds and another does not: the part cut out where it is a clause of its own, else
    what holds in the words of its statements."""
    lives = [(rested.start, rested.end) for rested in group if rested.statement in living]
    over = sorted({(rested.start, rested.end) for rested in group if rested.statement in gone})
    clauses = [
        span for span in over if any(one <= span[0] and span[1] <= two and (one, two) != span for one, two in lives)
    ]
    if clauses != over or any(one[1] > two[0] for one, two in pairwise(over)):
        return " ".join(dict.fromkeys(atom.content for atom in living))
    found, at = "", start
    for first, last in over:
        here = [
            rested.statement
            for rested in group
            if (rested.start, rested.end) == (first, last) and rested.statement in gone
        ]
        found += text[at:first] + _reason(here, living, grounds)
        at = last
    return found + text[at:end]


def _reason(gone: Sequence[Atom], living: Sequence[Atom], grounds: Grounds) -> str:
    """What stands where a clause was: the reason that holds instead, if it was the reason for what the rest says."""
    needed = {
        relation.target
        for atom in living
        for relation in atom.relations
        if relation.name in (RelationName.DEPENDS_ON, RelationName.IMPLEMENTS)
    }
    heirs = [heir.id for each in gone if each.id in needed for heir in grounds.heirs(each)]
    if heirs:
        return f"[reason superseded, see …{heirs[0][-6:]}]"
    return _label(gone, grounds)


def _transitions(sentence: str, living: Sequence[Atom], atoms: Sequence[Atom], grounds: Grounds) -> list[Transition]:
    """The changes a sentence makes: what it says took the place of something that it names as well."""
    found: list[Transition] = []
    for atom in living:
        for old in grounds.replaced(atom):
            if grounds.stands(atom) is Standing.CURRENT and (old in atoms or _names(sentence, old, atom)):
                found.append(_transition(old, atom))
    return found


def _names(sentence: str, old: Atom, new: Atom) -> bool:
    """Whether a sentence holds what set the old statement apart from the one that took its place."""
    own = _value_words(old) - _value_words(new) - frozenset(analyse(old.subject))
    return bool(own) and own <= frozenset(analyse(sentence))


def _value_words(atom: Atom) -> frozenset[str]:
    return frozenset(analyse(atom.value or atom.content)) - QUESTION_STOP


def _transition(old: Atom, new: Atom) -> Transition:
    if old.value and new.value and old.attribute == new.attribute:
        return Transition(old.value, new.value, begins(new))
    return Transition(old.content.rstrip(". "), new.content.rstrip(". "), begins(new))


def _joined(text: str, pieces: Sequence[_Piece], weights: Mapping[str, float], about: Atom | None) -> Shown:
    shares = [_shared(text[piece.start : piece.end], weights) for piece in pieces]
    best = _best(pieces, shares, about)
    flagged = [each for each in best if each.is_left]
    whole = bool(flagged) and all(is_flagged(each.marks) for each in flagged)
    transitions = tuple(dict.fromkeys(told for piece in pieces for told in piece.transitions))
    marks = tuple(dict.fromkeys(mark for each in flagged for mark in each.marks)) if whole else ()
    left = [(each, share) for each, share in zip(pieces, shares, strict=True) if each.is_left]
    return Shown(
        _written(text, pieces, best if whole else []),
        (*marks, *([Mark.TRANSITION.value] if transitions else [])),
        transitions,
        tuple(atom for each in best for atom in each.gone),
        tuple(atom for each in best for atom in each.says),
        any(share for _, share in left) if any(shares) else bool(left),
    )


def _best(pieces: Sequence[_Piece], shares: Sequence[float], about: Atom | None) -> list[_Piece]:
    """The pieces that share most with the question. Where none shares anything, nothing tells which of them is meant:
    one that is left may be."""
    own = [piece for piece in pieces if about is not None and any(atom.id == about.id for atom in piece.says)]
    if own:
        return own
    if any(shares):
        return [each for each, share in zip(pieces, shares, strict=True) if share == max(shares)]
    return [piece for piece in pieces if piece.is_left] or list(pieces)


def _shared(words: str, weights: Mapping[str, float]) -> float:
    held = frozenset(analyse(words)) if weights else frozenset()
    return sum(weight for word, weight in weights.items() if word in held)


def _written(text: str, pieces: Sequence[_Piece], told: Sequence[_Piece]) -> str:
    """The text with what stands in place of some pieces, and beside others what is said of them, unless that is told of
    the whole."""
    found, at, last = "", 0, ""
    for piece in pieces:
        words = text[piece.start : piece.end] if piece.instead is None else piece.instead
        note = "" if piece in told or not piece.marks else f" [{', '.join(piece.marks)}]"
        if piece.is_left or words != last:
            found += text[at : piece.start] + words + note
        at, last = piece.end, words
    return (found + text[at:]).strip()
