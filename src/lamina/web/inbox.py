"""The inbox: what waits for a person, the words it rests on, and the word they give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from starlette.responses import Response

from lamina.atom.atom import Atom
from lamina.capture.receipt import Receipt
from lamina.documents import ItemDocument, item_document
from lamina.errors import InvalidInput, LaminaError
from lamina.review.review import CONFIRMED
from lamina.review.waiting import Waits
from lamina.web.revision import changed
from lamina.web.said import Said, said_receipts, said_undone
from lamina.web.visit import Visit

PAGE = 40
"""So many things are shown at once."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A verb with its button, its key and what it would do."""

    verb: str
    label: str
    does: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """One thing that waits, with the choices there are."""

    told: ItemDocument
    choices: tuple[Choice, ...]

    @property
    def name(self) -> str:
        """What the item is called on the page."""
        return "-".join(self.told.ids) or self.told.kind


_BUTTONS = {"confirm": ("Confirm", "c"), "reject": ("Reject", "r"), "edit": ("Edit", "e")}
_PAIR = (("keep_b", "The newer is so"), ("keep_a", "The older is so"), ("both", "Both are so"),
         ("merge", "Merge"), ("later", "Later"))  # fmt: skip
"""The verbs of a pair, in the order in which review tells what each would do."""


def inbox(visit: Visit) -> Response:
    """Everything that waits."""
    return visit.page("inbox.html", {"said": None, **_listed(visit)}, part="_waiting.html")


def decide(visit: Visit) -> Response:
    """A person's word on one thing, or the same word on many."""
    verb, ids = visit.sent("verb"), visit.sent_all("id")
    if visit.sent("many"):
        said = _on_many(visit, verb, ids)
        return visit.page("inbox.html", {"said": said, **_listed(visit)}, part="_waiting.html")
    said = said_receipts(_TITLES.get(verb, "Done"), [_decided(visit, verb, ids)])
    told = {"said": said, "name": "-".join(ids), "left": visit.memory.review.count()}
    return visit.page("trouble.html", told, part="_decided.html")


def decide_source(visit: Visit) -> Response:
    """The same word on everything from one source."""
    review, source, verb = visit.memory.review, visit.sent("source"), visit.sent("verb")
    if verb not in ("confirm", "reject"):
        raise InvalidInput(f"{verb!r} is no word for a source; choose confirm or reject")
    done = review.approve_source(source) if verb == "confirm" else review.reject_source(source)
    said = said_receipts(f"{_TITLES[verb]} {len(done)} from {source}", done)
    return visit.page("inbox.html", {"said": said, **_listed(visit)}, part="_waiting.html")


def undo(visit: Visit) -> Response:
    """Take a decision back; what it was about waits again."""
    done = [each for commit in visit.sent_all("commit") for each in visit.memory.undo(commit)]
    said, ids = said_undone(done), {atom.id for each in done for atom in each.atoms}
    back = [each for each in visit.memory.review.list() if ids.intersection(each.ids)]
    items = [_waiting(item_document(visit.memory, each)) for each in back]
    told = {"said": said, "items": items, "left": visit.memory.review.count()}
    return visit.page("trouble.html", told, part="_back.html")


_TITLES = {
    "confirm": "Confirmed", "reject": "Rejected", "edit": "Confirmed in your words", "keep_a": "Kept the older",
    "keep_b": "Kept the newer", "both": "Both are so", "merge": "Merged", "later": "Put off for 30 days",
}  # fmt: skip


def _decided(visit: Visit, verb: str, ids: list[str]) -> Receipt:
    review, words = visit.memory.review, visit.sent("content").strip()
    reason = {"reason": visit.sent("reason").strip()} if visit.sent("reason").strip() else {}
    match verb, ids:
        case "confirm", [one]:
            return review.confirm(one, **reason)
        case "reject", [one]:
            return review.reject(one, **reason)
        case "edit", [one]:
            content, fields = changed(visit.memory.get(one), visit)
            return review.edit(one, content, reason=reason.get("reason", CONFIRMED), **fields)
        case "keep_a", [a, b]:
            return review.keep_a(a, b, **reason)
        case "keep_b", [a, b]:
            return review.keep_b(a, b, **reason)
        case "both", [a, b]:
            return review.both_valid(a, b, **reason)
        case "merge", [a, b]:
            return review.merge(a, b, words, **reason)
        case "later", [a, b]:
            return review.need_more(a, b, **({"note": reason["reason"]} if reason else {}))
        case _:
            raise InvalidInput(f"{verb!r} is no word for {len(ids)} statements; choose from {', '.join(_TITLES)}")


def _on_many(visit: Visit, verb: str, ids: list[str]) -> Said:
    """The same word on each; one that is refused keeps no other from being decided."""
    if verb not in ("confirm", "reject"):
        raise InvalidInput(f"{verb!r} is no word for many; choose confirm or reject")
    if not ids:
        raise InvalidInput("nothing is selected; tick what you mean")
    word: Callable[[str], Receipt] = getattr(visit.memory.review, verb)
    done, refused = list[Receipt](), list[str]()
    for each in ids:
        try:
            done.append(word(each))
        except LaminaError as error:
            refused.append(str(error))
    said = said_receipts(f"{_TITLES[verb]} {len(done)}", done)
    return Said(said.title, said.lines, said.commits, "; ".join(refused))


def _listed(visit: Visit) -> dict[str, object]:
    asked, memory = visit.asked, visit.memory
    source, kind = asked.get("source") or None, asked.get("kind") or None
    found = memory.review.list(source, kind=kind, limit=visit.number("many", PAGE, 2000))
    return {
        "items": [_waiting(item_document(memory, each)) for each in found],
        "total": memory.review.count(source, kind=kind), "left": memory.review.count(), "source": source, "kind": kind,
        "kinds": tuple(Waits), "sources": _sources(memory.review.held()), "page": PAGE,
    }  # fmt: skip


def _sources(held: list[Atom]) -> list[tuple[str, int]]:
    return Counter(each.source_id for each in held if each.source_id).most_common(20)


def _waiting(told: ItemDocument) -> Waiting:
    if told.kind == Waits.PAIR:
        does = (each.does for each in told.verbs)
        return Waiting(told, tuple(Choice(verb, label, next(does)) for verb, label in _PAIR))
    known = [each for each in told.verbs if each.verb in _BUTTONS]
    return Waiting(told, tuple(Choice(each.verb, _BUTTONS[each.verb][0], each.does, _BUTTONS[each.verb][1])
                               for each in known))  # fmt: skip
