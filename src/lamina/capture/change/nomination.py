"""Changes that somebody clever names: the lines they are shown, and what they may say of them.

A nomination only says that one line overtakes another. When what holds is left to the arithmetic of intervals, and who
may overtake whom to trust, as with every other change.
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
"""How many lines are shown of what is said now, and of what was said before."""
_LOOKED_AT = 25


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence as it is shown, and where it stands."""

    place: Evidence
    text: str
    speaker: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Nomination:
    """A new line overtakes an old one; the words of each that tell what was and what is now.

    One that is not sure only labels: both lines stay active.
    """

    new: Evidence
    old: Evidence
    was: str
    now: str
    is_sure: bool = False


@dataclass(frozen=True, slots=True)
class Nominations:
    """The changes a nominator found among so many candidate pairs, and the calls it made."""

    changes: tuple[Nomination, ...] = ()
    pairs: int = 0
    calls: int = 0


class Nominator(Protocol):
    """Somebody who sees which lines overtake which."""

    def nominate(self, earlier: Sequence[Line], new: Sequence[Line]) -> Nominations:
        """Return the changes that new lines tell of; a ModelError where nobody can be asked."""


def nominations(
    nominator: Nominator, turns: Sequence[Said], segments: Mapping[str, Atom], scope: Scope, store: Store, now: datetime
) -> Nominations:
    """Ask which of the turns' sentences overtake earlier ones; nobody is asked where there is nothing to overtake."""
    known = Known(store, scope, now)
    known.take(segments.values())
    heard = [each for each in turns if _is_heard(each, segments)]
    new = [line for turn in heard for line in _lines(turn)][:MOST_NEW]
    earlier = list(_before(new, known))[:MOST_EARLIER]
    spoken_in = {(each.place.segment, each.place.passage) for each in new}
    return nominator.nominate(earlier, new) if new and (earlier or len(spoken_in) > 1) else Nominations()


def _is_heard(turn: Said, segments: Mapping[str, Atom]) -> bool:
    words = segments.get(turn.segment)
    return words is not None and not is_hearsay(words, turn.speaker, turn.text)


def _lines(turn: Said) -> Iterator[Line]:
    """The sentences of a turn that may state something."""
    for sentence in statable_sentences(turn.text):
        yield Line(Evidence(turn.segment, turn.n, sentence.start, sentence.end), sentence.text, turn.speaker, turn.at)


def _before(new: Sequence[Line], known: Known) -> Iterator[Line]:
    """The sentences that share most words with new ones and still hold, in the order they were said."""
    words = [word for each in new for word in content_words(each.text)]
    here = {(each.place.segment, each.place.passage) for each in new}
    for atom, passage in known.search(words, STANDS, _LOOKED_AT, is_vouched_for) if words else ():
        if (atom.id, passage.n) in here:
            continue
        if atom.is_segment:
            said = Said(atom.id, passage.n, passage.text, passage.speaker, passage.at or atom.observed_at)
            yield from (line for line in _lines(said) if known.holds(line.place))
        elif not atom.evidence:
            whole = Evidence(atom.id, 1, 0, len(atom.content))
            yield Line(whole, one_line(atom.content), atom.subject, atom.observed_at)
