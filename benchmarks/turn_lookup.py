"""Find the turn of the data set that a hit is, from the receipts of captured sessions.

A turn may be split into several passages and a session into several files; a statement counts as the turn it rests on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benchmarks.data_set import BenchSession, BenchTurn
from lamina import Atom, Hit, LaminaError, Memory, Passage, Result, passages_of


class TurnLookup:
    """Finds the turn and the session of a hit."""

    def __init__(self) -> None:
        self._turns: dict[tuple[str, int], str] = {}
        self._sessions: dict[str, str] = {}

    def add_session(self, session: BenchSession, segments: Sequence[Atom]) -> None:
        """Record the segments that contain a session's turns, oldest first; LaminaError if they do not match."""
        new_passages = [
            (segment.id, passage)
            for segment in segments
            for passage in passages_of(segment)
            if (segment.id, passage.n) not in self._turns
        ]
        turns = [turn for turn in session.turns if turn.text.strip()]
        for (segment, passage), turn in zip(
            new_passages,
            _align_turns(turns, [fresh_passage for _, fresh_passage in new_passages], session),
            strict=True,
        ):
            self._turns[segment, passage.n] = turn.id
        self._sessions |= {turn.id: session.id for turn in turns}

    def turn_at(self, segment: str, passage: int) -> str | None:
        """Return the turn of a passage, or None."""
        return self._turns.get((segment, passage))

    def turn_of(self, hit: Hit) -> str | None:
        """Return the turn that a hit is or rests on, or None."""
        direct = self.turn_at(hit.atom.id, hit.passage.n)
        evidence_turns = (self.turn_at(evidence.segment, evidence.passage) for evidence in hit.atom.evidence)
        return direct or next((turn for turn in evidence_turns if turn), None)

    def sessions(self, turns: Iterable[str]) -> list[str]:
        """Return the session of each turn; an id that is not a turn of the data is returned as it is."""
        return [self._sessions.get(turn, turn) for turn in turns]


def capture_session(memory: Memory, session: BenchSession) -> Sequence[Atom]:
    """Capture a session as any program would; return the segments that contain it."""
    receipt = memory.capture(capture_turns(session), session_id=session.id, observed_at=session.at)
    return [outcome.atom for outcome in receipt.outcomes if outcome.result is Result.KEPT]


def capture_turns(session: BenchSession) -> list[dict[str, object]]:
    """Return the turns of a session as capture takes them."""
    return [_capture_turn(turn) for turn in session.turns]


def _capture_turn(turn: BenchTurn) -> dict[str, object]:
    fields = {"content": turn.text, "speaker": turn.speaker, "role": turn.role, "at": turn.at}
    return {name: value for name, value in fields.items() if value is not None}


def _align_turns(turns: Sequence[BenchTurn], passages: Sequence[Passage], session: BenchSession) -> list[BenchTurn]:
    """Return the turn of each passage: by the words, or in order if capture changed words but split nothing."""
    aligned = list(_align_by_words(turns, passages))
    if len(aligned) == len(passages):
        return aligned
    if len(turns) == len(passages):
        return list(turns)
    raise LaminaError(f"the passages of session {session.id} do not contain the words of its turns")


def _align_by_words(turns: Sequence[BenchTurn], passages: Sequence[Passage]) -> Iterator[BenchTurn]:
    """Yield the turn of each passage while the passages continue the turns' words."""
    turn_iterator = iter(turns)
    turn, remaining = None, ""
    for passage in passages:
        if not remaining:
            turn = next(turn_iterator, None)
            remaining = _without_spaces(turn.text) if turn else ""
        words = _without_spaces(passage.text)
        if turn is None or not remaining.startswith(words):
            return
        yield turn
        remaining = remaining[len(words) :]


def _without_spaces(text: str) -> str:
    return "".join(text.split())
