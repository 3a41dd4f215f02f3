"""Replays: text that was captured before and comes again, such as an old transcript under the same or another id.

It is stored but states nothing new: the statements of the first time get the repetition as further evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from lamina.atom.atom import Atom, Evidence
from lamina.atom.identity import AtomId
from lamina.atom.passage import Passage, passages_of
from lamina.atom.scope import Scope
from lamina.atom.trust import TRUST
from lamina.capture.change.working_set import CURRENT_STATUSES, WorkingSet
from lamina.capture.extraction import CapturedTurn
from lamina.capture.pieces import TextPiece
from lamina.store.base import Store
from lamina.text.analyser import analyse, content_tokens
from lamina.text.normal_form import normal_form
from lamina.text.speaker_roles import is_assistant

MAX_CANDIDATES = 10
MIN_TURNS = 2
"""One turn may be said twice; this many turns and nothing new are a transcript."""
TurnKey = tuple[str, int]
Replays = Mapping[TurnKey, tuple[Atom, Passage]]


def drop_stored_pieces(pieces: Sequence[TextPiece], segments: Sequence[Atom]) -> list[TextPiece]:
    """Return the pieces that the session does not have yet; a stored one has the same speaker, time and text."""
    stored = {(passage.speaker, passage.at, passage.text) for segment in segments for passage in passages_of(segment)}
    return [piece for piece in pieces if piece.at is None or (piece.speaker, piece.at, piece.text) not in stored]


def find_replays(
    turns: Sequence[CapturedTurn], segments: Iterable[Atom], store: Store, scope: Scope, now: datetime
) -> Replays:
    """Return the turns that repeat earlier ones, with those; none if any turn of a person is new."""
    working_set = WorkingSet(store, scope, now)
    working_set.add_new_segments(segments)
    own_keys = {(turn.segment, turn.n) for turn in turns}
    person_turns = [turn for turn in turns if not is_assistant(turn.speaker) and normal_form(turn.text)]
    replays: dict[TurnKey, tuple[Atom, Passage]] = {}
    sessions: set[str] | None = None
    for turn in person_turns:
        same_turns = [pair for pair in _find_same_turns(turn, working_set) if (pair[0].id, pair[1].n) not in own_keys]
        same_time = [pair for pair in same_turns if pair[1].at == turn.at]
        if not same_turns:
            return {}
        turn_sessions = {atom.session_id or atom.id for atom, _ in same_turns}
        sessions = turn_sessions if sessions is None else sessions & turn_sessions
        replays[turn.segment, turn.n] = (same_time or same_turns)[0]
        if not sessions and not same_time:
            return {}
    all_same_time = all(replays[turn.segment, turn.n][1].at == turn.at for turn in person_turns)
    is_transcript = len(person_turns) >= MIN_TURNS and bool(sessions)
    return replays if person_turns and (is_transcript or all_same_time) else {}


def drop_replays(turns: Sequence[CapturedTurn], replays: Replays) -> list[CapturedTurn]:
    """Return the turns that are no replays; only they state anything."""
    return [turn for turn in turns if (turn.segment, turn.n) not in replays]


def cite_replays(replays: Replays, working_set: WorkingSet) -> None:
    """Add the repetitions to the evidence of the statements on the earlier turns."""
    for (segment, n), (atom, passage) in replays.items():
        whole_passage = Evidence(atom.id, passage.n, 0, len(passage.text))
        for statement in working_set.statements_on(whole_passage):
            repetitions = [
                Evidence(segment, n, evidence.start, evidence.end)
                for evidence in statement.evidence
                if (evidence.segment, evidence.passage) == (atom.id, passage.n)
            ]
            new_evidence = tuple(evidence for evidence in repetitions if evidence not in statement.evidence)
            if new_evidence:
                working_set.record_change(statement.with_(evidence=(*statement.evidence, *new_evidence)))


def _find_same_turns(turn: CapturedTurn, working_set: WorkingSet) -> list[tuple[Atom, Passage]]:
    """Return the stored turns of the same speaker with the same words that are at least as trusted."""
    words = content_tokens(turn.text) or analyse(turn.text)
    form, segment = normal_form(turn.text), working_set.get(AtomId(turn.segment))
    # A user who repeats a web page makes a statement of their own: only text as trusted as this counts as said before.
    trust = TRUST[segment.origin] if segment is not None else 0.0
    return [
        (atom, passage)
        for atom, passage in working_set.search(words[:40], CURRENT_STATUSES, MAX_CANDIDATES)
        if atom.is_segment
        and passage.speaker == turn.speaker
        and normal_form(passage.text) == form
        and TRUST[atom.origin] >= trust
    ]
