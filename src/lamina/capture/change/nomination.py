"""Change nominations: the sentences that a language model is shown, and the changes that it may name.

A nomination only says that a sentence replaces another. Valid times decide which one holds when, and trust decides
whether it may, as with every other change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lamina.atom.atom import Atom, Evidence
from lamina.atom.scope import Scope
from lamina.capture.change.echo import is_hearsay
from lamina.capture.change.known import STANDS, Known
from lamina.capture.change.sentence import is_vouched_for, statable_sentences
from lamina.capture.found import Said
from lamina.store.base import Store
from lamina.text.analyse import content_words
from lamina.text.normal import one_line

MOST_NEW, MOST_EARLIER = 20, 40
"""How many new and how many earlier sentences are shown."""
_LOOKED_AT = 25


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence as it is shown, and where it is."""

    place: Evidence
    text: str
    speaker: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Nomination:
    """A new sentence replaces an old one; the words of each that differ are the old and the new value.

    If it is not sure, it only relates the two: both stay active.
    """

    new: Evidence
    old: Evidence
    was: str
    now: str
    is_sure: bool = False


@dataclass(frozen=True, slots=True)
class Nominations:
    """The changes that a nominator found, the number of pairs it compared, and the calls it made."""

    changes: tuple[Nomination, ...] = ()
    pairs: int = 0
    calls: int = 0


class Nominator(Protocol):
    """Decides which new sentences replace which earlier ones, usually by a language model."""

    def nominate(self, earlier: Sequence[Line], new: Sequence[Line]) -> Nominations:
        """Return the changes among the sentences; ModelError if the model gives no answer."""


def nominations(
    nominator: Nominator, turns: Sequence[Said], segments: Mapping[str, Atom], scope: Scope, store: Store, now: datetime
) -> Nominations:
    """Return the changes that the nominator finds among the turns; it is not called if there is nothing to compare."""
    working_set = Known(store, scope, now)
    working_set.take(segments.values())
    trusted_turns = [turn for turn in turns if _is_heard(turn, segments)]
    new_sentences = [line for turn in trusted_turns for line in _lines(turn)][:MOST_NEW]
    earlier = list(_before(new_sentences, working_set))[:MOST_EARLIER]
    new_passages = {(sentence.place.segment, sentence.place.passage) for sentence in new_sentences}
    return (
        nominator.nominate(earlier, new_sentences)
        if new_sentences and (earlier or len(new_passages) > 1)
        else Nominations()
    )


def _is_heard(turn: Said, segments: Mapping[str, Atom]) -> bool:
    """Return whether a turn is a trusted statement of a user."""
    segment = segments.get(turn.segment)
    return segment is not None and not is_hearsay(segment, turn.speaker, turn.text)


def _lines(turn: Said) -> Iterator[Line]:
    """Yield the sentences of a turn that may state something."""
    for sentence in statable_sentences(turn.text):
        yield Line(Evidence(turn.segment, turn.n, sentence.start, sentence.end), sentence.text, turn.speaker, turn.at)


def _before(new: Sequence[Line], known: Known) -> Iterator[Line]:
    """Yield the current sentences that share most words with new ones, in the order they were said."""
    words = [word for sentence in new for word in content_words(sentence.text)]
    new_passages = {(sentence.place.segment, sentence.place.passage) for sentence in new}
    for atom, passage in known.search(words, STANDS, _LOOKED_AT, is_vouched_for) if words else ():
        if (atom.id, passage.n) in new_passages:
            continue
        if atom.is_segment:
            turn = Said(atom.id, passage.n, passage.text, passage.speaker, passage.at or atom.observed_at)
            yield from (line for line in _lines(turn) if known.holds(line.place))
        elif not atom.evidence:
            whole_statement = Evidence(atom.id, 1, 0, len(atom.content))
            yield Line(whole_statement, one_line(atom.content), atom.subject, atom.observed_at)
