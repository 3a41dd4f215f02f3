"""The timeline: what was done, by whom and why, as it happens; and what was spoken of when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from lamina.atom.atom import Atom
from lamina.documents import EntryDocument, entry_document
from lamina.errors import NotFound
from lamina.memory import Memory
from lamina.store.base import Entry
from lamina.web.named import Piece, named_in, pieces
from lamina.web.paper import brief, plain
from lamina.web.said import said_undone
from lamina.web.visit import Visit

PAGE = 40
TOLD = 3
"""Of so many atoms of a commit the words are shown."""
LANES = 30
LATER = 500
REASON = 220
RELATE = "relate"


@dataclass(frozen=True, slots=True)
class Event:
    """A commit and what it touched, in words."""

    told: EntryDocument
    why: tuple[Piece, ...]
    touched: tuple[Atom, ...]
    more: int
    undone: bool


@dataclass(frozen=True, slots=True)
class Lane:
    """A session or a box: what it is called, from when to when, and where that lies between 0 and 100."""

    name: str
    link: str
    start: datetime
    end: datetime
    many: int
    place: float
    length: float


def timeline(visit: Visit) -> Response:
    """The journal, newest first, and the sessions and boxes."""
    memory, before = visit.memory, visit.number("before", 0, 10**9)
    entries = memory.journal(until=before - 1 if before else None, limit=PAGE + 1)
    shown = entries[-PAGE:]
    told = {
        "days": _days(_events(memory, shown, _undone_since(memory, shown) if before else ())),
        "earlier": shown[0].seq if len(entries) > PAGE else 0,
        "before": before,
        "last": max((each.seq for each in shown), default=0),
    }
    if visit.is_fragment:
        return visit.page("_journal.html", told)
    return visit.page("timeline.html", {**told, "sessions": _sessions(memory), "boxes": _boxes(memory)})


def _undone_since(memory: Memory, entries: Sequence[Entry]) -> Sequence[Entry]:
    """What was done after a page of the journal, as far as it may have undone something on it."""
    return memory.journal(entries[-1].seq, limit=LATER) if entries else ()


def fresh(visit: Visit) -> Response:
    """What was done since the page last looked."""
    if not visit.is_fragment:  # somebody whose session ended is led here once they have signed in again
        return RedirectResponse("/timeline", 303)
    since = visit.number("since", 0, 10**9)
    entries = visit.memory.journal(since, limit=PAGE)
    last = max((entry.seq for entry in entries), default=since)
    return visit.page("_fresh.html", {"events": _events(visit.memory, entries), "last": last})


def undo(visit: Visit) -> Response:
    """Undo commits, in the order they are named; with `cascade` also what was built on them."""
    cascade = bool(visit.sent("cascade"))
    done = [each for commit in visit.sent_all("commit") for each in visit.memory.undo(commit, cascade=cascade)]
    return visit.page("trouble.html", {"said": said_undone(done)}, part="_said.html")


def _events(memory: Memory, entries: Sequence[Entry], later: Sequence[Entry] = ()) -> list[Event]:
    undone = {each.undoes for each in (*entries, *later) if each.undoes}
    known = named_in((entry.reason for entry in entries), memory)
    return [_event(memory, entry, entry.id in undone, known) for entry in reversed(entries)]


def _event(memory: Memory, entry: Entry, undone: bool, known: Mapping[str, Atom]) -> Event:
    touched = tuple(_found(memory, (change.atom_id for change in entry.changes[:TOLD])))
    why = pieces(brief(plain(entry.reason) if entry.verb == RELATE else entry.reason, REASON), known)
    return Event(entry_document(entry), why, touched, max(0, len(entry.changes) - TOLD), undone)


def _found(memory: Memory, ids: Iterable[str]) -> Iterable[Atom]:
    for atom_id in ids:
        try:
            yield memory.get(atom_id)
        except NotFound:  # what was erased is told by its commit alone
            continue


def _days(events: Sequence[Event]) -> list[tuple[str, list[Event]]]:
    return [(day, list(held)) for day, held in groupby(events, key=lambda each: each.told.at[:10])]


def _sessions(memory: Memory) -> list[Lane]:
    segments = [each for each in memory.list(kind="narrative", limit=400) if each.is_segment and each.session_id]
    held: dict[str, list[Atom]] = {}
    for segment in segments:
        held.setdefault(segment.session_id or "", []).append(segment)
    return _lanes([(name, _leads(name, atoms), *_span(atoms), len(atoms)) for name, atoms in held.items()])


def _leads(session: str, atoms: Sequence[Atom]) -> str:
    """Where its words are: on one page, or in a list of pages."""
    if len(atoms) == 1:
        return f"/atom/{atoms[0].id}"
    return "/browse?" + urlencode({"status": "any", "kind": "narrative", "session_id": session})


def _boxes(memory: Memory) -> list[Lane]:
    found = memory.list(kind="box", status=None, limit=LANES)
    spans = [
        (
            each.content.partition("\n")[0].lstrip("# "),
            f"/atom/{each.id}",
            each.observed_at,
            each.observed_at,
            len(each.derived_from),
        )
        for each in found
    ]
    return _lanes(spans)


def _span(atoms: Sequence[Atom]) -> tuple[datetime, datetime]:
    """When it was said; when it was brought in is no part of that."""
    return min(atom.observed_at for atom in atoms), max(atom.observed_at for atom in atoms)


def _lanes(spans: Sequence[tuple[str, str, datetime, datetime, int]]) -> list[Lane]:
    """The latest of them, each with its place between the first start and the last end."""
    chosen = sorted(spans, key=lambda each: (each[2], each[0]), reverse=True)[:LANES]
    if not chosen:
        return []
    first, last = min(each[2] for each in chosen), max(each[3] for each in chosen)
    whole = max(last - first, timedelta(minutes=1))
    return [
        Lane(
            name,
            link,
            start,
            end,
            many,
            round(100 * ((start - first) / whole), 2),
            round(max(1.5, 100 * (max(end - start, timedelta()) / whole)), 2),
        )
        for name, link, start, end, many in chosen
    ]
