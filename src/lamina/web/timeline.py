"""The timeline page: commits as they happen, and sessions and boxes over time."""

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
"""The number of atoms of a commit whose text is shown."""
LANES = 30
LATER = 500
REASON = 220
RELATE = "relate"


@dataclass(frozen=True, slots=True)
class Event:
    """A commit with the atoms it changed."""

    document: EntryDocument
    why: tuple[Piece, ...]
    touched: tuple[Atom, ...]
    more: int
    undone: bool


@dataclass(frozen=True, slots=True)
class Lane:
    """A session or a box: its name, its time span, and the position of that span from 0 to 100."""

    name: str
    link: str
    start: datetime
    end: datetime
    many: int
    place: float
    length: float


def timeline(visit: Visit) -> Response:
    """Show the journal, newest first, with sessions and boxes."""
    memory, before = visit.memory, visit.number("before", 0, 10**9)
    entries = memory.journal(until=before - 1 if before else None, limit=PAGE + 1)
    page_entries = entries[-PAGE:]
    context = {
        "days": _days(_events(memory, page_entries, _undone_since(memory, page_entries) if before else ())),
        "earlier": page_entries[0].seq if len(entries) > PAGE else 0,
        "before": before,
        "last": max((entry.seq for entry in page_entries), default=0),
    }
    if visit.is_fragment:
        return visit.page("_journal.html", context)
    return visit.page("timeline.html", {**context, "sessions": _sessions(memory), "boxes": _boxes(memory)})


def _undone_since(memory: Memory, entries: Sequence[Entry]) -> Sequence[Entry]:
    """Return later commits, which may have undone something on this page of the journal."""
    return memory.journal(entries[-1].seq, limit=LATER) if entries else ()


def fresh(visit: Visit) -> Response:
    """Show the commits since the page was last updated."""
    if not visit.is_fragment:  # after signing in again, a browser is redirected here
        return RedirectResponse("/timeline", 303)
    since = visit.number("since", 0, 10**9)
    entries = visit.memory.journal(since, limit=PAGE)
    last = max((entry.seq for entry in entries), default=since)
    return visit.page("_new_events.html", {"events": _events(visit.memory, entries), "last": last})


def undo(visit: Visit) -> Response:
    """Undo commits, in the given order; `cascade` also undoes what was built on them."""
    cascade = bool(visit.sent("cascade"))
    commits = [
        committed for commit in visit.sent_all("commit") for committed in visit.memory.undo(commit, cascade=cascade)
    ]
    return visit.page("error.html", {"result": said_undone(commits)}, part="_action_result.html")


def _events(memory: Memory, entries: Sequence[Entry], later: Sequence[Entry] = ()) -> list[Event]:
    undone = {entry.undoes for entry in (*entries, *later) if entry.undoes}
    atoms = named_in((entry.reason for entry in entries), memory)
    return [_event(memory, entry, entry.id in undone, atoms) for entry in reversed(entries)]


def _event(memory: Memory, entry: Entry, undone: bool, known: Mapping[str, Atom]) -> Event:
    touched = tuple(_found(memory, (change.atom_id for change in entry.changes[:TOLD])))
    why = pieces(brief(plain(entry.reason) if entry.verb == RELATE else entry.reason, REASON), known)
    return Event(entry_document(entry), why, touched, max(0, len(entry.changes) - TOLD), undone)


def _found(memory: Memory, ids: Iterable[str]) -> Iterable[Atom]:
    for atom_id in ids:
        try:
            yield memory.get(atom_id)
        except NotFound:  # erased atoms are not shown
            continue


def _days(events: Sequence[Event]) -> list[tuple[str, list[Event]]]:
    return [(day, list(day_events)) for day, day_events in groupby(events, key=lambda event: event.document.at[:10])]


def _sessions(memory: Memory) -> list[Lane]:
    segments = [atom for atom in memory.list(kind="narrative", limit=400) if atom.is_segment and atom.session_id]
    segments_by_session: dict[str, list[Atom]] = {}
    for segment in segments:
        segments_by_session.setdefault(segment.session_id or "", []).append(segment)
    return _lanes(
        [(name, _leads(name, atoms), *_span(atoms), len(atoms)) for name, atoms in segments_by_session.items()]
    )


def _leads(session: str, atoms: Sequence[Atom]) -> str:
    """Return the link to a session's text: one page, or a list of pages."""
    if len(atoms) == 1:
        return f"/atom/{atoms[0].id}"
    return "/browse?" + urlencode({"status": "any", "kind": "narrative", "session_id": session})


def _boxes(memory: Memory) -> list[Lane]:
    boxes = memory.list(kind="box", status=None, limit=LANES)
    spans = [
        (
            box.content.partition("\n")[0].lstrip("# "),
            f"/atom/{box.id}",
            box.observed_at,
            box.observed_at,
            len(box.derived_from),
        )
        for box in boxes
    ]
    return _lanes(spans)


def _span(atoms: Sequence[Atom]) -> tuple[datetime, datetime]:
    """Return when it was said, from first to last; when it was captured does not count."""
    return min(atom.observed_at for atom in atoms), max(atom.observed_at for atom in atoms)


def _lanes(spans: Sequence[tuple[str, str, datetime, datetime, int]]) -> list[Lane]:
    """Return the latest lanes, positioned between the first start and the last end."""
    newest = sorted(spans, key=lambda span: (span[2], span[0]), reverse=True)[:LANES]
    if not newest:
        return []
    first, last = min(span[2] for span in newest), max(span[3] for span in newest)
    total = max(last - first, timedelta(minutes=1))
    return [
        Lane(
            name,
            link,
            start,
            end,
            count,
            round(100 * ((start - first) / total), 2),
            round(max(1.5, 100 * (max(end - start, timedelta()) / total)), 2),
        )
        for name, link, start, end, count in newest
    ]
