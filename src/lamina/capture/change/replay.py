"""Words that were captured before and come again: an old transcript under its own or another name.

They are kept, and state nothing anew: what was made of them the first time, whatever became of it, rests on them too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from lamina.atom.atom import Atom, Evidence
from lamina.atom.identity import AtomId
from lamina.atom.passage import Passage, passages_of
from lamina.atom.scope import Scope
from lamina.atom.trust import TRUST
from lamina.capture.change.known import STANDS, Known
from lamina.capture.found import Said
from lamina.capture.pieces import Piece
from lamina.store.base import Store
from lamina.text.analyse import analyse, content_words
from lamina.text.normal import normal_form
from lamina.text.roles import is_assistant

LOOKED_AT = 10
FEWEST = 2
"""One turn may be said again by itself; two and nothing else are a transcript."""
Place = tuple[str, int]
Replays = Mapping[Place, tuple[Atom, Passage]]


def unsaid(pieces: Sequence[Piece], segments: Sequence[Atom]) -> list[Piece]:
    """The pieces of a session that are not kept already: said by the same person at the same moment."""
    known = {(passage.speaker, passage.at, passage.text) for segment in segments for passage in passages_of(segment)}
    return [piece for piece in pieces if piece.at is None or (piece.speaker, piece.at, piece.text) not in known]


def replays_of(turns: Sequence[Said], words: Iterable[Atom], store: Store, scope: Scope, now: datetime) -> Replays:
    """Which of the turns repeat earlier ones, and those; none where anything new is said among them."""
    known = Known(store, scope, now)
    known.hear(words)
    own = {(each.segment, each.n) for each in turns}
    people = [each for each in turns if not is_assistant(each.speaker) and normal_form(each.text)]
    found: dict[Place, tuple[Atom, Passage]] = {}
    sessions: set[str] | None = None
    for turn in people:
        same = [each for each in _same(turn, known) if (each[0].id, each[1].n) not in own]
        timed = [each for each in same if each[1].at == turn.at]
        if not same:
            return {}
        here = {atom.session_id or atom.id for atom, _ in same}
        sessions = here if sessions is None else sessions & here
        found[turn.segment, turn.n] = (timed or same)[0]
        if not sessions and not timed:
            return {}
    at_the_same_time = all(found[turn.segment, turn.n][1].at == turn.at for turn in people)
    enough = len(people) >= FEWEST and bool(sessions)
    return found if people and (enough or at_the_same_time) else {}


def said_first(turns: Sequence[Said], replays: Replays) -> list[Said]:
    """The turns that were not captured before; only they state anything."""
    return [turn for turn in turns if (turn.segment, turn.n) not in replays]


def rest_again(found: Replays, known: Known) -> None:
    """Let whatever rests on the earlier words rest on their repetition as well."""
    for (segment, n), (atom, passage) in found.items():
        whole = Evidence(atom.id, passage.n, 0, len(passage.text))
        for resting in known.on(whole):
            again = [
                Evidence(segment, n, each.start, each.end)
                for each in resting.evidence
                if (each.segment, each.passage) == (atom.id, passage.n)
            ]
            fresh = tuple(each for each in again if each not in resting.evidence)
            if fresh:
                known.put(resting.with_(evidence=(*resting.evidence, *fresh)))


def _same(turn: Said, known: Known) -> list[tuple[Atom, Passage]]:
    words = content_words(turn.text) or analyse(turn.text)
    form, own = normal_form(turn.text), known.get(AtomId(turn.segment))
    # Whoever says what a page said first says it nevertheless: only words as trusted as these were said before.
    worth = TRUST[own.origin] if own is not None else 0.0
    return [
        (atom, passage)
        for atom, passage in known.search(words[:40], STANDS, LOOKED_AT)
        if atom.is_segment
        and passage.speaker == turn.speaker
        and normal_form(passage.text) == form
        and TRUST[atom.origin] >= worth
    ]
