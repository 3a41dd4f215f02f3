"""Find the turn of the data set that a hit is, from the receipts of captured sessions.

A turn may be split into several passages and a session into several files; a statement counts as the turn it rests on.
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
        """Record the segments that contain a session's turns, oldest first; LaminaError if they do not match."""
        new_passages = [
            (segment.id, passage)
            for segment in segments
            for passage in passages_of(segment)
            if (segment.id, passage.n) not in self._turns
        ]
        turns = [turn for turn in session.turns if turn.text.strip()]
        for (segment, passage), turn in zip(
            new_passages, _lined_up(turns, [fresh_passage for _, fresh_passage in new_passages], session), strict=True
        ):
            self._turns[segment, passage.n] = turn.id
        self._sessions |= {turn.id: session.id for turn in turns}

    def at(self, segment: str, passage: int) -> str | None:
        """Return the turn of a passage, or None."""
        return self._turns.get((segment, passage))

    def turn(self, hit: Hit) -> str | None:
        """Return the turn that a hit is or rests on, or None."""
        direct = self.at(hit.atom.id, hit.passage.n)
        evidence_turns = (self.at(evidence.segment, evidence.passage) for evidence in hit.atom.evidence)
        return direct or next((turn for turn in evidence_turns if turn), None)

    def sessions(self, turns: Iterable[str]) -> list[str]:
        """Return the session of each turn; an id that is not a turn of the data is returned as it is."""
        return [self._sessions.get(turn, turn) for turn in turns]


def capture(memory: Memory, session: Session) -> Sequence[Atom]:
    """Capture a session as any program would; return the segments that contain it."""
    receipt = memory.capture(said(session), session_id=session.id, observed_at=session.at)
    return [outcome.atom for outcome in receipt.outcomes if outcome.result is Result.KEPT]


def said(session: Session) -> list[dict[str, object]]:
    """Return the turns of a session as capture takes them."""
    return [_said(turn) for turn in session.turns]


def _said(turn: Turn) -> dict[str, object]:
    fields = {"content": turn.text, "speaker": turn.speaker, "role": turn.role, "at": turn.at}
    return {name: value for name, value in fields.items() if value is not None}


def _lined_up(turns: Sequence[Turn], passages: Sequence[Passage], session: Session) -> list[Turn]:
    """Return the turn of each passage: by the words, or in order if capture changed words but split nothing."""
    aligned = list(_by_words(turns, passages))
    if len(aligned) == len(passages):
        return aligned
    if len(turns) == len(passages):
        return list(turns)
    raise LaminaError(f"the passages of session {session.id} do not contain the words of its turns")


def _by_words(turns: Sequence[Turn], passages: Sequence[Passage]) -> Iterator[Turn]:
    """Yield the turn of each passage while the passages continue the turns' words."""
    turn_iterator = iter(turns)
    turn, remaining = None, ""
    for passage in passages:
        if not remaining:
            turn = next(turn_iterator, None)
            remaining = _letters(turn.text) if turn else ""
        words = _letters(passage.text)
        if turn is None or not remaining.startswith(words):
            return
        yield turn
        remaining = remaining[len(words) :]


def _letters(text: str) -> str:
    return "".join(text.split())
