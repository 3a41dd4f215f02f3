"""The write path: words in, atoms out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from lamina.atom.atom import Atom, Evidence
from lamina.atom.identity import AtomId, IdSource
from lamina.atom.passage import passages_of
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.capture.classify import Current, Verdict, classify
from lamina.capture.draft import CONTENT_LIMIT, Draft, Turn, parse_draft
from lamina.capture.explicit import asked_for
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.segment import Piece, Place, extend, paragraphs
from lamina.errors import ClaimTaken, InvalidInput, StaleRevision
from lamina.store.base import Change, Commit, Committed, Filter, Store
from lamina.text.roles import is_assistant


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes, into which scope, with what word for the journal."""

    actor: str
    origin: Origin
    principal: str | None
    scope: Scope


@dataclass(frozen=True, slots=True)
class Conversation:
    """Words to keep: turns or paragraphs of one session."""

    pieces: tuple[Piece, ...]
    session_id: str
    source_id: str | None
    observed_at: datetime
    agents: tuple[str, ...] = ()


def conversation(
    words: str | Sequence[Turn],
    session_id: str | None,
    source_id: str | None,
    at: datetime,
    agents: tuple[str, ...] = (),
) -> Conversation:
    """The pieces of a text or a list of turns. Without a session the words themselves name one."""
    if isinstance(words, str):
        pieces = tuple(paragraphs(words))
    else:
        pieces = tuple(Piece(turn.content.strip("\n"), turn.name, turn.at or at) for turn in words)
    if not pieces:
        raise InvalidInput("there are no words to capture")
    return Conversation(pieces, session_id or _name(pieces, at), source_id, at, agents)


def _name(pieces: Sequence[Piece], at: datetime) -> str:
    words = "\n\n".join(piece.text for piece in pieces)
    return f"{at:%Y%m%d}-{hashlib.blake2b(words.encode(), digest_size=4).hexdigest()}"


def capture(
    said: Conversation,
    writer: Writer,
    store: Store,
    ids: IdSource,
    now: datetime,
    limit: int,
    idle: timedelta,
    key: str | None = None,
) -> Receipt:
    """Keep the words in the session's files, and make an atom of every sentence somebody asked to have remembered."""

    def kept() -> Receipt:
        fresh = _ids(ids, now)
        place = Place(writer.scope, said.session_id, said.source_id, writer.origin, writer.principal, said.agents,
                      said.observed_at, limit, idle)  # fmt: skip
        open_segment, number = _open_segment(store, writer, said.session_id)
        segments = extend(said.pieces, place, open_segment, number, fresh)
        asked = [
            draft.to_atom(next(fresh), writer.scope, writer.origin, writer.principal, said.observed_at)
            for draft in _asked(segments, open_segment, said)
        ]
        verdicts = _verdicts(asked, store, now)
        outcomes = [Outcome(Result.KEPT, each, "the words as they were said") for each in segments]
        return _write([*segments], outcomes, verdicts, writer, store, "capture", f"captured {said.session_id}", key)

    return _unhurried(store, kept)


def remember(
    drafts: Sequence[Draft],
    writer: Writer,
    store: Store,
    ids: IdSource,
    now: datetime,
    reason: str,
    key: str | None = None,
) -> Receipt:
    """Write explicit statements, each classified against what is there, all in one commit."""

    def written() -> Receipt:
        fresh = _ids(ids, now)
        atoms = [each.to_atom(next(fresh), writer.scope, writer.origin, writer.principal, now) for each in drafts]
        return _write([], [], _verdicts(atoms, store, now), writer, store, "remember", reason, key)

    return _unhurried(store, written)


def _unhurried(store: Store, write: Callable[[], Receipt]) -> Receipt:
    """Look at what stands and write; if somebody was quicker, once more with nobody in between."""
    try:
        return write()
    except (StaleRevision, ClaimTaken):
        with store.alone():
            return write()


def _write(
    segments: list[Atom], outcomes: list[Outcome], verdicts: list[Verdict], writer: Writer, store: Store, verb: str,
    reason: str, key: str | None,
) -> Receipt:  # fmt: skip
    changed: dict[AtomId, Atom] = {each.id: each for each in segments}
    for verdict in verdicts:
        changed |= {each.id: each for each in verdict.others}
        if verdict.result is not Result.DUPLICATE:
            changed[verdict.atom.id] = verdict.atom
    outcomes = [*outcomes, *(Outcome(each.result, each.atom, each.reason) for each in verdicts)]
    if not changed:
        return Receipt(None, tuple(outcomes))
    reason = "; ".join(dict.fromkeys([reason, *(each.reason for each in verdicts if each.others)]))
    done = store.commit(
        Commit(actor=writer.actor, origin=writer.origin, verb=verb, reason=reason, scope=writer.scope, key=key,
               changes=tuple(Change(atom) for atom in changed.values()))
    )  # fmt: skip
    return _receipt(done, outcomes)


def _receipt(done: Committed, outcomes: list[Outcome]) -> Receipt:
    if done.repeated:
        kept = tuple(Outcome(Result.DUPLICATE, atom, "this very request was carried out before") for atom in done.atoms)
        return Receipt(done.id, kept, repeated=True)
    written = {atom.id: atom for atom in done.atoms}
    return Receipt(done.id, tuple(Outcome(o.result, written.get(o.atom.id, o.atom), o.reason) for o in outcomes))


def _verdicts(atoms: Sequence[Atom], store: Store, now: datetime) -> list[Verdict]:
    verdicts: list[Verdict] = []
    current = Current(atoms, store)
    for atom in atoms:
        verdict = classify(atom, current, now)
        current.take(verdict)
        verdicts.append(verdict)
    return verdicts


def _open_segment(store: Store, writer: Writer, session_id: str) -> tuple[Atom | None, int]:
    """The session's last segment if it can still grow, and its number. Nobody's words go under another's name."""
    found = store.read(Filter(scopes=(writer.scope,), session_id=session_id))
    segments = [each for each in found if each.is_segment]
    numbers = {each.id: _number(each) for each in segments}
    last = max(segments, key=lambda each: (numbers[each.id], each.id), default=None)
    grows = last is not None and last.status is Status.ACTIVE
    own = last is not None and (last.origin, last.principal) == (writer.origin, writer.principal)
    return last if grows and own else None, max(numbers.values(), default=0)


def _number(segment: Atom) -> int:
    tail = (segment.segment_id or "").rpartition("-")[2]
    return int(tail) if tail.isdecimal() else 0


def _asked(segments: Sequence[Atom], before: Atom | None, said: Conversation) -> Iterator[Draft]:
    known = {each.n for each in passages_of(before)} if before else set()
    for segment in segments:
        for passage in passages_of(segment):
            if before is not None and segment.id == before.id and passage.n in known:
                continue
            if is_assistant(passage.speaker):
                continue  # a machine that says "keep in mind that…" asks nobody to remember anything
            for start, end in asked_for(passage.text):
                if len(passage.text[start:end].encode()) > CONTENT_LIMIT:
                    continue  # too long for a statement; the words themselves are kept
                yield parse_draft(
                    content=passage.text[start:end], observed_at=passage.at or said.observed_at,
                    session_id=said.session_id, source_id=said.source_id, agents=said.agents,
                    evidence=(Evidence(segment.id, passage.n, start, end),),
                )  # fmt: skip


def _ids(source: IdSource, at: datetime) -> Iterator[AtomId]:
    while True:
        yield source.new(at)
