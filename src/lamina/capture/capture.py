"""The write path: words in, atoms out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from lamina.atom.atom import Atom
from lamina.atom.identity import IdSource
from lamina.atom.status import Status
from lamina.atom.trust import statements_wait, words_wait
from lamina.capture.conversation import Conversation
from lamina.capture.draft import Draft
from lamina.capture.reading import Reader, passages_said, waiting
from lamina.capture.receipt import Receipt
from lamina.capture.segment import Place, extend
from lamina.capture.statement import Made
from lamina.capture.write import Words, Writer, fresh_ids, unhurried, verdicts_on, write
from lamina.store.base import Filter, Store


def capture(
    said: Conversation,
    writer: Writer,
    store: Store,
    ids: IdSource,
    now: datetime,
    limit: int,
    idle: timedelta,
    reader: Reader,
    key: str | None = None,
    *,
    at_once: bool = True,
    verb: str = "capture",
) -> Receipt:
    """Keep the words in the session's files, and read them for statements at once or let them wait to be read."""

    def kept() -> Receipt:
        fresh = fresh_ids(ids, now)
        place = Place(writer.scope, said.session_id, said.source_id, writer.origin, writer.principal, said.agents,
                      said.observed_at, limit, idle)  # fmt: skip
        open_segment, number = _open_segment(store, writer, said.session_id)
        grown = extend(said.pieces, place, open_segment, number, fresh)
        segments = [_tagged(_vouched(each), said.tags) for each in grown]
        before, turns = passages_said(segments, open_segment)
        if at_once:
            words = Words(segments)
            made = reader.read(turns, before, {each.id: each for each in segments}, store, fresh, now)
        else:
            words = Words(segments, waiting(turns, writer.scope, said.session_id, now, reader.patterns))
            made = Made([], "nobody")
        reason = f"captured {said.session_id}"
        receipt = write(words, verdicts_on(made.atoms, store, now), writer, store, verb, reason, key)
        read = made.told if at_once else "wait to be read"
        return replace(receipt, stages=(("words", "kept"), ("statements", read)), redacted=said.redacted)

    return unhurried(store, kept)


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
        fresh = fresh_ids(ids, now)
        made = (each.to_atom(next(fresh), writer.scope, writer.origin, writer.principal, now) for each in drafts)
        atoms = [_held(each) if statements_wait(writer.origin) else each for each in made]
        return write(Words(), verdicts_on(atoms, store, now), writer, store, "remember", reason, key)

    return unhurried(store, written)


def _open_segment(store: Store, writer: Writer, session_id: str) -> tuple[Atom | None, int]:
    """The session's last segment if it can still grow, and its number. Nobody's words go under another's name."""
    found = store.read(Filter(scopes=(writer.scope,), session_id=session_id))
    segments = [each for each in found if each.is_segment]
    numbers = {each.id: _number(each) for each in segments}
    last = max(segments, key=lambda each: (numbers[each.id], each.id), default=None)
    grows = last is not None and last.status in (Status.ACTIVE, Status.CONSTRAINED)
    own = last is not None and (last.origin, last.principal) == (writer.origin, writer.principal)
    return last if grows and own else None, max(numbers.values(), default=0)


def _vouched(segment: Atom) -> Atom:
    """Words that came through an agent from a tool or the web wait for review; a person's own are found at once."""
    return _held(segment) if not segment.revision and words_wait(segment.origin) else segment


def _tagged(segment: Atom, tags: Sequence[str]) -> Atom:
    return segment.with_(tags=tuple(dict.fromkeys((*segment.tags, *tags)))) if tags else segment


def _held(atom: Atom) -> Atom:
    return atom.with_(status=Status.CONSTRAINED)


def _number(segment: Atom) -> int:
    tail = (segment.segment_id or "").rpartition("-")[2]
    return int(tail) if tail.isdecimal() else 0
