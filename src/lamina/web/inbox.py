"""The inbox page: pending items, the text they rest on, and the decisions of a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode
from zlib import crc32

from starlette.responses import Response

from lamina.atom.atom import Atom
from lamina.capture.receipt import Receipt
from lamina.documents import ItemDocument, item_document
from lamina.errors import InvalidInput, LaminaError, Refused
from lamina.memory import Memory
from lamina.review.review import CONFIRMED
from lamina.review.waiting import Item, Waits
from lamina.web.named import Piece, named_in, pieces
from lamina.web.revision import changed
from lamina.web.said import Said, said_receipts, said_undone
from lamina.web.visit import Visit

PAGE = 40
"""Items shown on one page."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A possible decision with its button, its key and its effect."""

    verb: str
    label: str
    does: tuple[Piece, ...]
    key: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A pending item with the possible decisions."""

    document: ItemDocument
    choices: tuple[Choice, ...]

    @property
    def name(self) -> str:
        """The item's id in the HTML."""
        return "-".join(self.document.ids) or f"{self.document.kind}-{crc32(self.document.text.encode()):08x}"


_BUTTONS = {"confirm": ("Confirm", "c"), "reject": ("Reject", "r"), "edit": ("Edit", "e")}
_PAIR = (
    ("keep_b", "Keep the newer", "n"),
    ("keep_a", "Keep the older", "o"),
    ("both", "Keep both", "b"),
    ("merge", "Merge", "m"),
    ("later", "Later", "l"),
)
"""The decisions on a pair, in the order in which review describes their effects."""


def inbox(visit: Visit) -> Response:
    """Show everything pending review."""
    return visit.page("inbox.html", {"result": None, **_listed(visit)}, part="_pending_list.html")


def decide(visit: Visit) -> Response:
    """Apply a decision to one item, or the same decision to many."""
    must_decide(visit)
    verb, ids = visit.sent("verb"), visit.sent_all("id")
    if visit.sent("many"):
        result = _on_many(visit, verb, ids)
        return visit.page("inbox.html", {"result": result, **_listed(visit)}, part="_pending_list.html")
    receipt = _decided(visit, verb, ids)
    result = said_receipts(_TITLES[verb] if receipt.commit else "This was decided before", [receipt])
    context = {"result": result, "name": "-".join(ids), "pending_count": visit.memory.review.count()}
    return visit.page("error.html", context, part="_decision.html")


def decide_source(visit: Visit) -> Response:
    """Apply the same decision to everything from one source."""
    must_decide(visit)
    review, source, verb = visit.memory.review, visit.sent("source"), visit.sent("verb")
    if verb not in ("confirm", "reject"):
        raise InvalidInput(f"{verb!r} is not a decision for a source; choose confirm or reject")
    receipts = review.approve_source(source) if verb == "confirm" else review.reject_source(source)
    result = said_receipts(f"{_TITLES[verb]} {len(receipts)} from {source}", receipts)
    return visit.page("inbox.html", {"result": result, **_listed(visit)}, part="_pending_list.html")


def undo(visit: Visit) -> Response:
    """Undo decisions; their items are pending again."""
    must_decide(visit)
    commits = [committed for commit in visit.sent_all("commit") for committed in visit.memory.undo(commit)]
    result, ids = said_undone(commits), {atom.id for committed in commits for atom in committed.atoms}
    if visit.sent("many"):
        return visit.page("inbox.html", {"result": result, **_listed(visit)}, part="_pending_list.html")
    items = _shown(visit.memory.review.list(about=ids), visit.memory)
    context = {"result": result, "items": items, "pending_count": visit.memory.review.count()}
    return visit.page("error.html", context, part="_pending_again.html")


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


def _decided(visit: Visit, verb: str, ids: list[str]) -> Receipt:
    review, content_text = visit.memory.review, visit.sent("content").strip()
    reason = {"reason": visit.sent("reason").strip()} if visit.sent("reason").strip() else {}
    match verb, ids:
        case "confirm", [id_]:
            return review.confirm(id_, **reason)
        case "reject", [id_]:
            return review.reject(id_, **reason)
        case "edit", [id_]:
            content, fields = changed(visit.memory.get(id_), visit)
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


def _on_many(visit: Visit, verb: str, ids: list[str]) -> Said:
    """Apply the same decision to each item; one that is refused does not stop the others."""
    if verb not in ("confirm", "reject"):
        raise InvalidInput(f"{verb!r} is not a decision for several items; choose confirm or reject")
    if not ids:
        raise InvalidInput("nothing is selected; select at least one item")
    decide_one: Callable[[str], Receipt] = getattr(visit.memory.review, verb)
    receipts, refused = list[Receipt](), list[str]()
    for atom_id in ids:
        try:
            receipts.append(decide_one(atom_id))
        except LaminaError as error:
            refused.append(str(error))
    result = said_receipts(f"{_TITLES[verb]} {len(receipts)}", receipts)
    return Said(result.title, result.lines, result.commits, "; ".join(refused))


def must_decide(visit: Visit) -> None:
    """Raise Refused if the caller is not a person."""
    if not visit.may_decide:
        raise Refused("only a person decides on pending items; this is an agent's token")


def _listed(visit: Visit) -> dict[str, object]:
    query, memory = visit.asked, visit.memory
    source, kind = query.get("source") or None, query.get("kind") or None
    total, offset = memory.review.count(source, kind=kind), visit.number("offset", 0, 10**6)
    offset = min(offset, max(0, total - 1) // PAGE * PAGE)  # the last page may be empty after decisions
    items = memory.review.list(source, kind=kind, limit=PAGE, offset=offset)
    filters = {name: value for name, value in (("kind", kind), ("source", source)) if value}
    return {
        "items": _shown(items, memory),
        "total": total,
        "pending_count": memory.review.count() if filters else total,
        "source": source,
        "kind": kind,
        "kinds": tuple(Waits),
        "sources": _sources(memory.review.held()),
        "offset": offset,
        "page": PAGE,
        "filter_query": urlencode(filters),
        "list_query": urlencode({**filters, **({"offset": offset} if offset else {})}),
    }


def _shown(found: Sequence[Item], memory: Memory) -> list[Waiting]:
    documents = [item_document(memory, item) for item in found]
    atoms = named_in((verb.does for document in documents for verb in document.verbs), memory)
    return [_waiting(document, atoms) for document in documents]


def _sources(held: list[Atom]) -> list[tuple[str, int]]:
    return Counter(atom.source_id for atom in held if atom.source_id).most_common(20)


def _waiting(told: ItemDocument, known: Mapping[str, Atom]) -> Waiting:
    if told.kind == Waits.PAIR:
        decisions_of_pair = zip(_PAIR, told.verbs, strict=True)
        choices = [
            Choice(
                verb, label, pieces(decision.does.removeprefix(f"keeps {label.removeprefix('Keep ')}; "), known), key
            )
            for (verb, label, key), decision in decisions_of_pair
        ]
        return Waiting(told, tuple(choices))
    decisions = ((decision, _BUTTONS[decision.verb]) for decision in told.verbs if decision.verb in _BUTTONS)
    return Waiting(
        told,
        tuple(Choice(decision.verb, label, pieces(decision.does, known), key) for decision, (label, key) in decisions),
    )
