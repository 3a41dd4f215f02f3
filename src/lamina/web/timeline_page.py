"""The timeline page: commits as they happen, and sessions and boxes over time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from lamina.atom.atom import Atom
from lamina.documents.atom_mentions import TextPart, load_mentioned_atoms, readable_reason, split_mentions
from lamina.documents.journal import EntryDocument, entry_document
from lamina.errors import NotFound
from lamina.memory import Memory
from lamina.store.base import JournalEntry
from lamina.web.action_result import render_result, result_from_undo
from lamina.web.page_request import PageRequest
from lamina.web.template_environment import shorten

PAGE_SIZE = 40
_HIDDEN_VERBS = frozenset({"box"})
"""Verbs whose commits are no events: boxes have lanes of their own."""
MAX_TOUCHED = 3
"""The number of atoms of a commit whose text is shown."""
MAX_LANES = 30
MAX_LATER = 500
REASON_LENGTH = 220


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """A commit with the atoms it changed."""

    document: EntryDocument
    why: tuple[TextPart, ...]
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


def show_timeline(request: PageRequest) -> Response:
    """Show the journal, newest first, with sessions and boxes."""
    memory, before = request.memory, request.int_parameter("before", 0, 10**9)
    entries = memory.journal(until=before - 1 if before else None, limit=PAGE_SIZE + 1)
    page_entries = entries[-PAGE_SIZE:]
    context = {
        "days": _group_by_day(
            _make_events(memory, page_entries, _commits_after(memory, page_entries) if before else ())
        ),
        "earlier": page_entries[0].seq if len(entries) > PAGE_SIZE else 0,
        "before": before,
        "last": max((entry.seq for entry in page_entries), default=0),
    }
    if request.is_fragment:
        return request.render("_journal.html", context)
    return request.render("timeline.html", {**context, "sessions": _session_lanes(memory), "boxes": _box_lanes(memory)})


def _commits_after(memory: Memory, entries: Sequence[JournalEntry]) -> Sequence[JournalEntry]:
    """Return later commits, which may have undone something on this page of the journal."""
    return memory.journal(entries[-1].seq, limit=MAX_LATER) if entries else ()


def show_new_events(request: PageRequest) -> Response:
    """Show the commits since the page was last updated."""
    if not request.is_fragment:  # after signing in again, a browser is redirected here
        return RedirectResponse("/timeline", 303)
    since = request.int_parameter("since", 0, 10**9)
    entries = request.memory.journal(since, limit=PAGE_SIZE)
    last = max((entry.seq for entry in entries), default=since)
    return request.render("_new_events.html", {"events": _make_events(request.memory, entries), "last": last})


def undo_commits(request: PageRequest) -> Response:
    """Undo commits, in the given order; `cascade` also undoes what was built on them."""
    commits = request.undo_commits(cascade=bool(request.form_value("cascade")))
    return render_result(request, result_from_undo(commits))


def _make_events(
    memory: Memory, entries: Sequence[JournalEntry], later: Sequence[JournalEntry] = ()
) -> list[TimelineEvent]:
    undone = {entry.undoes for entry in (*entries, *later) if entry.undoes}
    atoms = load_mentioned_atoms((entry.reason for entry in entries), memory)
    shown = [entry for entry in reversed(entries) if entry.verb not in _HIDDEN_VERBS]
    return [_make_event(memory, entry, entry.id in undone, atoms) for entry in shown]


def _make_event(memory: Memory, entry: JournalEntry, undone: bool, atoms: Mapping[str, Atom]) -> TimelineEvent:
    touched = tuple(_load_atoms(memory, (change.atom_id for change in entry.changes[:MAX_TOUCHED])))
    why = split_mentions(shorten(readable_reason(entry), REASON_LENGTH), atoms)
    return TimelineEvent(entry_document(entry), why, touched, max(0, len(entry.changes) - MAX_TOUCHED), undone)


def _load_atoms(memory: Memory, ids: Iterable[str]) -> Iterable[Atom]:
    for atom_id in ids:
        try:
            yield memory.get(atom_id)
        except NotFound:  # erased atoms are not shown
            continue


def _group_by_day(events: Sequence[TimelineEvent]) -> list[tuple[str, list[TimelineEvent]]]:
    return [(day, list(day_events)) for day, day_events in groupby(events, key=lambda event: event.document.at[:10])]


def _session_lanes(memory: Memory) -> list[Lane]:
    segments = [atom for atom in memory.list(kind="narrative", limit=400) if atom.is_segment and atom.session_id]
    segments_by_session: dict[str, list[Atom]] = {}
    for segment in segments:
        segments_by_session.setdefault(segment.session_id or "", []).append(segment)
    return _make_lanes(
        [
            (name, _session_link(name, atoms), *_time_span(atoms), len(atoms))
            for name, atoms in segments_by_session.items()
        ]
    )


def _session_link(session: str, atoms: Sequence[Atom]) -> str:
    """Return the link to a session's text: one page, or a list of pages."""
    if len(atoms) == 1:
        return f"/atom/{atoms[0].id}"
    return "/browse?" + urlencode({"status": "any", "kind": "narrative", "session_id": session})


def _box_lanes(memory: Memory) -> list[Lane]:
    boxes = memory.list(kind="box", status=None, limit=MAX_LANES)
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
    return _make_lanes(spans)


def _time_span(atoms: Sequence[Atom]) -> tuple[datetime, datetime]:
    """Return when it was said, from first to last; when it was captured does not count."""
    return min(atom.observed_at for atom in atoms), max(atom.observed_at for atom in atoms)


def _make_lanes(spans: Sequence[tuple[str, str, datetime, datetime, int]]) -> list[Lane]:
    """Return the latest lanes, positioned between the first start and the last end."""
    newest = sorted(spans, key=lambda span: (span[2], span[0]), reverse=True)[:MAX_LANES]
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
