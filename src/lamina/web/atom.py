"""The page of one atom: its text and evidence, its history, its links, and the actions on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from starlette.responses import Response

from lamina.atom.atom import Atom
from lamina.atom.passage import Passage, passages_of
from lamina.atom.relation import RelationName
from lamina.atom.status import ARROWS, ENDED, Status
from lamina.documents import atom_document, neighbour_documents, quotes_of
from lamina.errors import InvalidInput, NotFound
from lamina.lifecycle.half_life import half_life_days
from lamina.lifecycle.heat import heat
from lamina.lifecycle.retention import Mode, retention
from lamina.lifecycle.signals import from_counted
from lamina.memory import Memory
from lamina.store.base import Version
from lamina.web.differences import Stretch, fields, words
from lamina.web.named import Piece, named_in, pieces
from lamina.web.paper import plain
from lamina.web.revision import changed, shown
from lamina.web.said import Said, said_change, said_undone
from lamina.web.visit import Visit

_OWN_PLACE = frozenset({"id", "kind", "content", "status", "relations", "evidence", "revision", "path"})
"""Fields that have their own place on the page."""


_UNSET: tuple[object, ...] = (None, "", [], {}, 0)


@dataclass(frozen=True, slots=True)
class Turn:
    """A passage of a segment, with the highlighted span if there is one."""

    passage: Passage
    spans: tuple[Stretch, ...]

    @property
    def is_highlighted(self) -> bool:
        """Whether a span of this turn is highlighted."""
        return any(span.change == "in" for span in self.spans)


@dataclass(frozen=True, slots=True)
class Life:
    """An atom's retention, usage counters and confirmations."""

    retention: float
    half_life: float
    heat: float
    quality: float
    uses: int
    confirmations: int


def atom(visit: Visit) -> Response:
    """Show the page of an atom."""
    shown_atom = visit.memory.get(visit.request.path_params["id"])
    return _page(visit, shown_atom, None)


def diff(visit: Visit) -> Response:
    """Show the differences between two versions of an atom, word by word."""
    versions = visit.memory.history(visit.request.path_params["id"]).versions
    first, second = (
        _version(versions, visit.number(name, default, 10**6)) for name, default in (("a", 1), ("b", len(versions)))
    )
    spans = words(first.atom.content, second.atom.content)
    context = {"a": first, "b": second, "words": spans, "fields": fields(first.atom, second.atom)}
    return visit.page("diff.html", context, part="_diff.html")


def do(visit: Visit) -> Response:
    """Apply one of the verbs to this atom; InvalidInput if there is no such verb."""
    memory, before = visit.memory, visit.memory.get(visit.request.path_params["id"])
    verb = visit.sent("verb")
    if verb not in _VERBS:
        raise InvalidInput(f"unknown verb {verb!r}; choose from {', '.join(_VERBS)}")
    title, act = _VERBS[verb]
    after = act(visit, before)
    return _page(visit, after, said_change(title, memory, before, after))


def undo(visit: Visit) -> Response:
    """Undo commits from the page of an atom they changed, and show the atom."""
    memory, cascade = visit.memory, bool(visit.sent("cascade"))
    shown_atom = memory.get(visit.request.path_params["id"])
    commits = [committed for commit in visit.sent_all("commit") for committed in memory.undo(commit, cascade=cascade)]
    return _page(visit, memory.get(shown_atom.id), said_undone(commits, on=shown_atom.id))


def _reason(visit: Visit, otherwise: str) -> str:
    return visit.sent("reason").strip() or otherwise


_VERBS: dict[str, tuple[str, Callable[[Visit, Atom], Atom]]] = {
    "pin": ("Pinned", lambda visit, atom: visit.memory.pin(atom.id)),
    "unpin": ("Unpinned", lambda visit, atom: visit.memory.unpin(atom.id)),
    "promote": ("Promoted", lambda visit, atom: visit.memory.promote(atom.id)),
    "demote": ("Demoted", lambda visit, atom: visit.memory.demote(atom.id)),
    "resolve": ("Resolved", lambda visit, atom: visit.memory.resolve(atom.id, _reason(visit, "done"))),
    "forget": ("Forgotten", lambda visit, atom: visit.memory.forget(atom.id, _reason(visit, "no longer wanted"))),
    "status": (
        "Status changed",
        lambda visit, atom: visit.memory.update_status(atom.id, visit.sent("status"), visit.sent("reason")),
    ),
    "revise": ("Revised", lambda visit, atom: _revised(visit, atom)),
    "relate": (
        "Related",
        lambda visit, atom: visit.memory.relate(atom.id, visit.sent("relation"), visit.sent("target").strip()),
    ),
}


def _revised(visit: Visit, atom: Atom) -> Atom:
    content, fields = changed(atom, visit)
    return visit.memory.revise(atom.id, content, reason=_reason(visit, "revised"), **fields)


def _page(visit: Visit, found: Atom, said: Said | None) -> Response:
    memory = visit.memory
    versions = memory.history(found.id).versions
    context = {
        "atom": found,
        "result": said,
        "path": memory.path_of(found.id),
        "fields": _fields(found),
        "form": shown(found),
        "quotes": quotes_of(memory, found),
        "turns": _turns(found, visit) if found.is_segment else (),
        "versions": versions[::-1],
        "last_two": next(pairwise(versions[::-1]), None),
        "neighbours": neighbour_documents(memory, found.id),
        "retention": _life(memory, found),
        "statuses": _statuses(found),
        "relations": tuple(RelationName),
        "version_why": _reasons(memory, versions),
    }
    return visit.page("atom.html", context, part="_atom.html")


def _reasons(memory: Memory, versions: Sequence[Version]) -> dict[int, tuple[Piece, ...]]:
    """Return the reason of each version, with the atoms it mentions."""
    reasons = {
        version.revision: plain(version.reason) if version.verb == "relate" else version.reason for version in versions
    }
    atoms = named_in(reasons.values(), memory)
    return {revision: pieces(reason, atoms) for revision, reason in reasons.items()}


def _fields(found: Atom) -> list[tuple[str, object]]:
    """Return every field that is set and has no place of its own."""
    data = atom_document(found, None).data()
    return [(name, value) for name, value in data.items() if name not in _OWN_PLACE and value not in _UNSET]


def _statuses(found: Atom) -> tuple[Status, ...]:
    """Return the statuses it may change to; an ended status can only be restored, with a reason."""
    return (Status.ACTIVE,) if found.status in ENDED else ARROWS[found.status]


def _life(memory: Memory, found: Atom) -> Life:
    counted = memory.signals(found.id)
    signals, now = from_counted(counted), memory.now()
    return Life(
        retention=retention(found, signals, now, Mode(memory.settings.retention)),
        half_life=half_life_days(found, signals),
        heat=heat(found, signals, now),
        quality=counted.quality_score,
        uses=counted.recall_count,
        confirmations=memory.confirmations(found.id),
    )


def _turns(found: Atom, visit: Visit) -> tuple[Turn, ...]:
    """Return the passages of a segment, with the requested span marked."""
    n, start, end = (visit.number(name, 0, 10**6) for name in ("passage", "start", "end"))
    return tuple(
        Turn(passage, _marked(passage.text, start, end) if passage.n == n else ()) for passage in passages_of(found)
    )


def _marked(text: str, start: int, end: int) -> tuple[Stretch, ...]:
    if not 0 <= start < end:
        return (Stretch("in", text),)
    parts = (Stretch("same", text[:start]), Stretch("in", text[start:end] or text), Stretch("same", text[end:]))
    return tuple(part for part in parts if part.text)


def _version(past: tuple[Version, ...], revision: int) -> Version:
    version = next((candidate for candidate in past if candidate.revision == revision), None)
    if version is None:
        raise NotFound(f"no version {revision}; there are {len(past)}")
    return version
