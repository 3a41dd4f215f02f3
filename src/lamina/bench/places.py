"""Which turn of the data a hit is: learnt from the receipts of what was captured, whatever capture made of it.

A turn may have been split into several passages and a session into several files; a statement made of a turn stands for
the turn it rests on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lamina import Atom, Hit, LaminaError, Memory, Passage, Result, passages_of
from lamina.bench.collection import Session, Turn


class Places:
    """Finds the turn and the session of a hit."""

    def __init__(self) -> None:
        self._turns: dict[tuple[str, int], str] = {}
        self._sessions: dict[str, str] = {}

    def learn(self, session: Session, segments: Sequence[Atom]) -> None:
        """Take in the segments that hold a session's words, oldest first."""
        fresh = [
            (segment.id, passage)
            for segment in segments
            for passage in passages_of(segment)
            if (segment.id, passage.n) not in self._turns
        ]
        said = [turn for turn in session.turns if turn.text.strip()]
        for (segment, passage), turn in zip(fresh, _lined_up(said, [each for _, each in fresh], session), strict=True):
            self._turns[segment, passage.n] = turn.id
        self._sessions |= {turn.id: session.id for turn in said}

    def at(self, segment: str, passage: int) -> str | None:
        """The turn a passage of a segment is."""
        return self._turns.get((segment, passage))

    def turn(self, hit: Hit) -> str | None:
        """The turn a hit is, or rests on; None if it is nobody's."""
        own = self.at(hit.atom.id, hit.passage.n)
        rests = (self.at(each.segment, each.passage) for each in hit.atom.evidence)
        return own or next((turn for turn in rests if turn), None)

    def sessions(self, turns: Iterable[str]) -> list[str]:
        """The session of each turn; what is no turn of the data stands for itself."""
        return [self._sessions.get(turn, turn) for turn in turns]


def capture(memory: Memory, session: Session) -> Sequence[Atom]:
    """Capture a session as any program would; returns the segments that hold it."""
    receipt = memory.capture(said(session), session_id=session.id, observed_at=session.at)
    return [outcome.atom for outcome in receipt.outcomes if outcome.result is Result.KEPT]


def said(session: Session) -> list[dict[str, object]]:
    """The turns of a session as capture takes them."""
    return [_said(turn) for turn in session.turns]


def _said(turn: Turn) -> dict[str, object]:
    given = {"content": turn.text, "speaker": turn.speaker, "role": turn.role, "at": turn.at}
    return {name: value for name, value in given.items() if value is not None}


def _lined_up(turns: Sequence[Turn], passages: Sequence[Passage], session: Session) -> list[Turn]:
    """The turn of each passage: by the words, or in order where capture changed words but split nothing."""
    found = list(_by_words(turns, passages))
    if len(found) == len(passages):
        return found
    if len(turns) == len(passages):
        return list(turns)
    raise LaminaError(f"the passages of session {session.id} do not hold the words of its turns")


def _by_words(turns: Sequence[Turn], passages: Sequence[Passage]) -> Iterator[Turn]:
    """The turn of each passage, as long as the passages tell the turns' words one after the other."""
    waiting = iter(turns)
    turn, left = None, ""
    for passage in passages:
        if not left:
            turn = next(waiting, None)
            left = _letters(turn.text) if turn else ""
        told = _letters(passage.text)
        if turn is None or not left.startswith(told):
            return
        yield turn
        left = left[len(told) :]


def _letters(text: str) -> str:
    return "".join(text.split())
