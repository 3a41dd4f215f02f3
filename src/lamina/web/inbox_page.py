"""The inbox page: pending items, the text they rest on, and the decisions of a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from zlib import crc32

from starlette.responses import Response

from lamina.atom.atom import Atom
from lamina.capture.receipt import Receipt
from lamina.documents.atom_mentions import TextPart, load_mentioned_atoms, split_mentions
from lamina.documents.pending_items import InboxItemDocument, inbox_item_document
from lamina.errors import InvalidInput, LaminaError, Refused
from lamina.memory import Memory
from lamina.review.pending_items import DecisionType, Item
from lamina.review.review import CONFIRMED
from lamina.web.action_result import ActionResult, result_from_receipts, result_from_undo
from lamina.web.page_request import PageRequest
from lamina.web.revision_form import changed_fields

PAGE_SIZE = 40
"""Items shown on one page."""


@dataclass(frozen=True, slots=True)
class DecisionOption:
    """A possible decision with its button, its key and its effect."""

    verb: str
    label: str
    does: tuple[TextPart, ...]
    key: str = ""


@dataclass(frozen=True, slots=True)
class InboxEntry:
    """A pending item with the possible decisions."""

    document: InboxItemDocument
    choices: tuple[DecisionOption, ...]

    @property
    def name(self) -> str:
        """The item's id in the HTML."""
        return "-".join(self.document.ids) or f"{self.document.kind}-{crc32(self.document.text.encode()):08x}"


_STATEMENT_BUTTONS = {"confirm": ("Confirm", "c"), "reject": ("Reject", "r"), "edit": ("Edit", "e")}
_PAIR_BUTTONS = (
    ("keep_b", "Keep the newer", "n"),
    ("keep_a", "Keep the older", "o"),
    ("both", "Keep both", "b"),
    ("merge", "Merge", "m"),
    ("later", "Later", "l"),
)
"""The decisions on a pair, in the order in which review describes their effects."""


def show_inbox(request: PageRequest) -> Response:
    """Show everything pending review."""
    return _render_inbox(request, None)


def decide_items(request: PageRequest) -> Response:
    """Apply a decision to one item, or the same decision to many."""
    require_person(request)
    verb, ids = request.form_value("verb"), request.form_values("id")
    if request.form_value("many"):
        return _render_inbox(request, _decide_many(request, verb, ids))
    receipt = _apply_decision(request, verb, ids)
    result = result_from_receipts(_TITLES[verb] if receipt.commit else "This was decided before", [receipt])
    context = {"result": result, "name": "-".join(ids), "pending_count": request.memory.review.count()}
    return request.render("error.html", context, fragment="_decision.html")


def decide_source(request: PageRequest) -> Response:
    """Apply the same decision to everything from one source."""
    require_person(request)
    review, source, verb = request.memory.review, request.form_value("source"), request.form_value("verb")
    if verb not in ("confirm", "reject"):
        raise InvalidInput(f"{verb!r} is not a decision for a source; choose confirm or reject")
    receipts = review.approve_source(source) if verb == "confirm" else review.reject_source(source)
    result = result_from_receipts(f"{_TITLES[verb]} {len(receipts)} from {source}", receipts)
    return _render_inbox(request, result)


def undo_decisions(request: PageRequest) -> Response:
    """Undo decisions; their items are pending again."""
    require_person(request)
    commits = request.undo_commits()
    result, ids = result_from_undo(commits), {atom.id for committed in commits for atom in committed.atoms}
    if request.form_value("many"):
        return _render_inbox(request, result)
    items = _make_entries(request.memory.review.list(about=sorted(ids)), request.memory)
    context = {"result": result, "items": items, "pending_count": request.memory.review.count()}
    return request.render("error.html", context, fragment="_pending_again.html")


_TITLES = {
    "confirm": "Confirmed",
    "reject": "Rejected",
    "edit": "Confirmed in your words",
    "keep_a": "Kept the older",
    "keep_b": "Kept the newer",
    "both": "Kept both",
    "merge": "Merged",
    "later": "Postponed for 30 days",
}


def _apply_decision(request: PageRequest, verb: str, ids: list[str]) -> Receipt:
    review, content_text = request.memory.review, request.form_value("content").strip()
    reason: dict[str, Any] = (
        {"reason": request.form_value("reason").strip()} if request.form_value("reason").strip() else {}
    )
    match verb, ids:
        case "confirm", [id_]:
            return review.confirm(id_, **reason)
        case "reject", [id_]:
            return review.reject(id_, **reason)
        case "edit", [id_]:
            content, fields = changed_fields(request.memory.get(id_), request)
            return review.edit(id_, content, reason=reason.get("reason", CONFIRMED), **fields)
        case "keep_a", [a, b]:
            return review.keep_a(a, b, **reason)
        case "keep_b", [a, b]:
            return review.keep_b(a, b, **reason)
        case "both", [a, b]:
            return review.both_valid(a, b, **reason)
        case "merge", [a, b]:
            return review.merge(a, b, content_text, **reason)
        case "later", [a, b]:
            return review.need_more(a, b, **({"note": reason["reason"]} if reason else {}))
        case _:
            raise InvalidInput(
                f"{verb!r} is not a decision for {len(ids)} statements; choose from {', '.join(_TITLES)}"
            )


def _decide_many(request: PageRequest, verb: str, ids: list[str]) -> ActionResult:
    """Apply the same decision to each item; one that is refused does not stop the others."""
    if verb not in ("confirm", "reject"):
        raise InvalidInput(f"{verb!r} is not a decision for several items; choose confirm or reject")
    if not ids:
        raise InvalidInput("nothing is selected; select at least one item")
    decide_one: Callable[[str], Receipt] = getattr(request.memory.review, verb)
    receipts, refused = list[Receipt](), list[str]()
    for atom_id in ids:
        try:
            receipts.append(decide_one(atom_id))
        except LaminaError as error:
            refused.append(str(error))
    result = result_from_receipts(f"{_TITLES[verb]} {len(receipts)}", receipts)
    return ActionResult(result.title, result.lines, result.commits, "; ".join(refused))


def require_person(request: PageRequest) -> None:
    """Raise Refused if the caller is not a person."""
    if not request.may_decide:
        raise Refused("only a person decides on pending items; this is an agent's token")


def _render_inbox(request: PageRequest, result: ActionResult | None) -> Response:
    query, memory = request.query, request.memory
    source, kind = query.get("source") or None, query.get("kind") or None
    total, offset = memory.review.count(source, kind=kind), request.int_parameter("offset", 0, 10**6)
    offset = min(offset, max(0, total - 1) // PAGE_SIZE * PAGE_SIZE)  # the last page may be empty after decisions
    items = memory.review.list(source, kind=kind, limit=PAGE_SIZE, offset=offset)
    sources = Counter(atom.source_id for atom in memory.review.held() if atom.source_id)
    filters = {name: value for name, value in (("kind", kind), ("source", source)) if value}
    context = {
        "result": result,
        "items": _make_entries(items, memory),
        "total": total,
        "pending_count": memory.review.count() if filters else total,
        "source": source,
        "kind": kind,
        "kinds": tuple(DecisionType),
        "sources": sources.most_common(20),
        "offset": offset,
        "page": PAGE_SIZE,
        "filter_query": urlencode(filters),
        "list_query": urlencode({**filters, **({"offset": offset} if offset else {})}),
    }
    return request.render("inbox.html", context, fragment="_pending_list.html")


def _make_entries(items: Sequence[Item], memory: Memory) -> list[InboxEntry]:
    documents = [inbox_item_document(memory, item) for item in items]
    atoms = load_mentioned_atoms((verb.does for document in documents for verb in document.verbs), memory)
    return [_make_entry(document, atoms) for document in documents]


def _make_entry(document: InboxItemDocument, atoms: Mapping[str, Atom]) -> InboxEntry:
    choices: list[DecisionOption] = []
    if document.kind == DecisionType.PAIR:
        for (verb, label, key), decision in zip(_PAIR_BUTTONS, document.verbs, strict=True):
            effect = decision.does.removeprefix(f"keeps {label.removeprefix('Keep ')}; ")
            choices.append(DecisionOption(verb, label, split_mentions(effect, atoms), key))
        return InboxEntry(document, tuple(choices))
    for decision in document.verbs:
        if decision.verb in _STATEMENT_BUTTONS:
            label, key = _STATEMENT_BUTTONS[decision.verb]
            choices.append(DecisionOption(decision.verb, label, split_mentions(decision.does, atoms), key))
    return InboxEntry(document, tuple(choices))
