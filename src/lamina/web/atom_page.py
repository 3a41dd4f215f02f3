"""The page of one atom: its text and evidence, its history with differences by word, its links, and its actions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Literal

from starlette.responses import Response

from lamina.atom.atom import DATA_FIELDS, Atom, RelationName
from lamina.atom.json_record import encode_field
from lamina.atom.passage import Passage, passages_of
from lamina.atom.status import ENDED, TRANSITIONS, Status
from lamina.documents.atom import atom_document, load_quotes, neighbour_documents
from lamina.documents.atom_mentions import TextPart, load_mentioned_atoms, readable_reason, split_mentions
from lamina.errors import InvalidInput, NotFound
from lamina.memory import Memory
from lamina.store.base import AtomVersion
from lamina.web.action_result import ActionResult, result_from_change, result_from_undo
from lamina.web.page_request import PageRequest
from lamina.web.revision_form import changed_fields, form_values

MAX_WORDS = 4000
"""Longer texts are compared line by line."""
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")

Change = Literal["same", "out", "in"]


@dataclass(frozen=True, slots=True)
class DiffSpan:
    """A span of text that is in one version or in both."""

    change: Change
    text: str


@dataclass(frozen=True, slots=True)
class FieldDiff:
    """A field that differs, with both values."""

    name: str
    before: str
    after: str


def diff_words(before: str, after: str) -> list[DiffSpan]:
    """Return the spans of both texts: those not "in" give the old text, those not "out" the new one."""
    a, b = _WORDS.findall(before), _WORDS.findall(after)
    if max(len(a), len(b)) > MAX_WORDS:
        a, b = _LINES.findall(before), _LINES.findall(after)
    spans: list[DiffSpan] = []
    for tag, a1, a2, b1, b2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            spans.append(DiffSpan("same", "".join(a[a1:a2])))
            continue
        removed, added = "".join(a[a1:a2]), "".join(b[b1:b2])
        spans += [DiffSpan("out", removed)] if removed else []
        spans += [DiffSpan("in", added)] if added else []
    return spans


def diff_fields(before: Atom, after: Atom) -> list[FieldDiff]:
    """Return the fields other than the text that differ."""
    names = (name for name in DATA_FIELDS if name not in ("content", "recorded_at"))
    return [
        FieldDiff(name, _format_field(before, name), _format_field(after, name))
        for name in names
        if getattr(before, name) != getattr(after, name)
    ]


def _format_field(atom: Atom, name: str) -> str:
    value = encode_field(name, getattr(atom, name))
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


_SHOWN_ELSEWHERE = frozenset({"id", "kind", "content", "status", "relations", "evidence", "revision", "path"})
"""Fields that have their own place on the page."""


_EMPTY_VALUES: tuple[object, ...] = (None, "", [], {}, 0)


@dataclass(frozen=True, slots=True)
class SegmentTurn:
    """A passage of a segment, with the highlighted span if there is one."""

    passage: Passage
    spans: tuple[DiffSpan, ...]

    @property
    def is_highlighted(self) -> bool:
        """Return whether a span of this turn is highlighted."""
        return any(span.change == "in" for span in self.spans)


def show_atom(request: PageRequest) -> Response:
    """Show the page of an atom."""
    return _render_atom(request, _requested_atom(request), None)


def show_diff(request: PageRequest) -> Response:
    """Show the differences between two versions of an atom, word by word."""
    versions = request.memory.history(request.http_request.path_params["id"]).versions
    first, second = (
        _find_version(versions, request.int_parameter(name, default, 10**6))
        for name, default in (("a", 1), ("b", len(versions)))
    )
    spans = diff_words(first.atom.content, second.atom.content)
    context = {"a": first, "b": second, "words": spans, "fields": diff_fields(first.atom, second.atom)}
    return request.render("diff.html", context, fragment="_diff.html")


def apply_verb(request: PageRequest) -> Response:
    """Apply one of the verbs to this atom; InvalidInput if there is no such verb."""
    before, verb = _requested_atom(request), request.form_value("verb")
    if verb not in _VERBS:
        raise InvalidInput(f"unknown verb {verb!r}; choose from {', '.join(_VERBS)}")
    title, act = _VERBS[verb]
    after = act(request, before)
    return _render_atom(request, after, result_from_change(title, request.memory, before, after))


def undo_on_atom(request: PageRequest) -> Response:
    """Undo commits from the page of an atom they changed, and show the atom."""
    atom_id = _requested_atom(request).id
    commits = request.undo_commits(cascade=bool(request.form_value("cascade")))
    return _render_atom(request, request.memory.get(atom_id), result_from_undo(commits, atom_id=atom_id))


def _requested_atom(request: PageRequest) -> Atom:
    return request.memory.get(request.http_request.path_params["id"])


def _form_reason(request: PageRequest, default: str) -> str:
    return request.form_value("reason").strip() or default


_VERBS: dict[str, tuple[str, Callable[[PageRequest, Atom], Atom]]] = {
    "pin": ("Pinned", lambda visit, atom: visit.memory.pin(atom.id)),
    "unpin": ("Unpinned", lambda visit, atom: visit.memory.unpin(atom.id)),
    "promote": ("Promoted", lambda visit, atom: visit.memory.upkeep.promote(atom.id)),
    "demote": ("Demoted", lambda visit, atom: visit.memory.upkeep.demote(atom.id)),
    "resolve": ("Resolved", lambda visit, atom: visit.memory.resolve(atom.id, _form_reason(visit, "done"))),
    "forget": ("Forgotten", lambda visit, atom: visit.memory.forget(atom.id, _form_reason(visit, "no longer wanted"))),
    "status": (
        "Status changed",
        lambda visit, atom: visit.memory.update_status(atom.id, visit.form_value("status"), visit.form_value("reason")),
    ),
    "revise": ("Revised", lambda visit, atom: _revise_atom(visit, atom)),
    "relate": (
        "Related",
        lambda visit, atom: visit.memory.relate(
            atom.id, visit.form_value("relation"), visit.form_value("target").strip()
        ),
    ),
}


def _revise_atom(request: PageRequest, atom: Atom) -> Atom:
    content, fields = changed_fields(atom, request)
    return request.memory.revise(atom.id, content, reason=_form_reason(request, "revised"), **fields)


def _render_atom(request: PageRequest, atom: Atom, result: ActionResult | None) -> Response:
    memory = request.memory
    versions = memory.history(atom.id).versions
    context = {
        "atom": atom,
        "result": result,
        "path": memory.path_of(atom.id),
        "fields": _fields(atom),
        "form": form_values(atom),
        "quotes": load_quotes(memory, atom),
        "turns": _segment_turns(atom, request) if atom.is_segment else (),
        "versions": versions[::-1],
        "last_two": next(pairwise(versions[::-1]), None),
        "neighbours": neighbour_documents(memory, atom.id),
        "why": memory.why(atom.id),
        "signals": memory.signals(atom.id),
        "confirmations": memory.confirmations(atom.id),
        "statuses": _possible_statuses(atom),
        "relations": tuple(RelationName),
        "version_why": _version_reasons(memory, versions),
    }
    return request.render("atom.html", context, fragment="_atom.html")


def _version_reasons(memory: Memory, versions: Sequence[AtomVersion]) -> dict[int, tuple[TextPart, ...]]:
    """Return the reason of each version, with the atoms it mentions."""
    reasons = {version.revision: readable_reason(version) for version in versions}
    atoms = load_mentioned_atoms(reasons.values(), memory)
    return {revision: split_mentions(reason, atoms) for revision, reason in reasons.items()}


def _fields(atom: Atom) -> list[tuple[str, object]]:
    """Return every field that is set and has no place of its own."""
    data = atom_document(atom, None).data()
    return [
        (name, value) for name, value in data.items() if name not in _SHOWN_ELSEWHERE and value not in _EMPTY_VALUES
    ]


def _possible_statuses(atom: Atom) -> tuple[Status, ...]:
    """Return the statuses it may change to; an ended status can only be restored, with a reason."""
    return (Status.ACTIVE,) if atom.status in ENDED else TRANSITIONS[atom.status]


def _segment_turns(atom: Atom, request: PageRequest) -> tuple[SegmentTurn, ...]:
    """Return the passages of a segment, with the requested span marked."""
    n, start, end = (request.int_parameter(name, 0, 10**6) for name in ("passage", "start", "end"))
    return tuple(
        SegmentTurn(passage, _mark_span(passage.text, start, end) if passage.n == n else ())
        for passage in passages_of(atom)
    )


def _mark_span(text: str, start: int, end: int) -> tuple[DiffSpan, ...]:
    if not 0 <= start < end:
        return (DiffSpan("in", text),)
    parts = (DiffSpan("same", text[:start]), DiffSpan("in", text[start:end] or text), DiffSpan("same", text[end:]))
    return tuple(part for part in parts if part.text)


def _find_version(versions: tuple[AtomVersion, ...], revision: int) -> AtomVersion:
    version = next((candidate for candidate in versions if candidate.revision == revision), None)
    if version is None:
        raise NotFound(f"no version {revision}; there are {len(versions)}")
    return version
