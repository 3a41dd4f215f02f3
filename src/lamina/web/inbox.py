"""The inbox: what waits for a person, the words it rests on, and the word they give."""

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
"""So many things are shown at once."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A verb with its button, its key and what it would do."""

    verb: str
    label: str
    does: tuple[Piece, ...]
    key: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """One thing that waits, with the choices there are."""

    told: ItemDocument
    choices: tuple[Choice, ...]

    @property
    def name(self) -> str:
        """What the item is called on the page."""
        return "-".join(self.told.ids) or f"{self.told.kind}-{crc32(self.told.text.encode()):08x}"


_BUTTONS = {"confirm": ("Confirm", "c"), "reject": ("Reject", "r"), "edit": ("Edit", "e")}
_PAIR = (
    ("keep_b", "The newer is so", "n"),
    ("keep_a", "The older is so", "o"),
    ("both", "Both are so", "b"),
    ("merge", "Merge", "m"),
    ("later", "Later", "l"),
)
"""The verbs of a pair, in the order in which review tells what each would do."""


def inbox(visit: Visit) -> Response:
    """Everything that waits."""
    return visit.page("inbox.html", {"said": None, **_listed(visit)}, part="_waiting.html")


def decide(visit: Visit) -> Response:
    """A person's word on one thing, or the same word on many."""
    must_decide(visit)
    verb, ids = visit.sent("verb"), visit.sent_all("id")
    if visit.sent("many"):
        said = _on_many(visit, verb, ids)
        return visit.page("inbox.html", {"said": said, **_listed(visit)}, part="_waiting.html")
    receipt = _decided(visit, verb, ids)
    said = said_receipts(_TITLES[verb] if receipt.commit else "It had been decided before", [receipt])
    told = {"said": said, "name": "-".join(ids), "left": visit.memory.review.count()}
    return visit.page("trouble.html", told, part="_decided.html")


def decide_source(visit: Visit) -> Response:
    """The same word on everything from one source."""
    must_decide(visit)
    review, source, verb = visit.memory.review, visit.sent("source"), visit.sent("verb")
    if verb not in ("confirm", "reject"):
        raise InvalidInput(f"{verb!r} is no word for a source; choose confirm or reject")
    done = review.approve_source(source) if verb == "confirm" else review.reject_source(source)
    said = said_receipts(f"{_TITLES[verb]} {len(done)} from {source}", done)
    return visit.page("inbox.html", {"said": said, **_listed(visit)}, part="_waiting.html")


def undo(visit: Visit) -> Response:
    """Take a decision back; what it was about waits again."""
    must_decide(visit)
    done = [each for commit in visit.sent_all("commit") for each in visit.memory.undo(commit)]
    said, ids = said_undone(done), {atom.id for each in done for atom in each.atoms}
    if visit.sent("many"):
        return visit.page("inbox.html", {"said": said, **_listed(visit)}, part="_waiting.html")
    items = _shown(visit.memory.review.list(about=ids), visit.memory)
    told = {"said": said, "items": items, "left": visit.memory.review.count()}
    return visit.page("trouble.html", told, part="_back.html")


_TITLES = {
    "confirm": "Confirmed",
    "reject": "Rejected",
    "edit": "Confirmed in your words",
    "keep_a": "Kept the older",
    "keep_b": "Kept the newer",
    "both": "Both are so",
    "merge": "Merged",
    "later": "Put off for 30 days",
}


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
    for atom_id in ids:
        try:
            done.append(word(atom_id))
        except LaminaError as error:
            refused.append(str(error))
    said = said_receipts(f"{_TITLES[verb]} {len(done)}", done)
    return Said(said.title, said.lines, said.commits, "; ".join(refused))


def must_decide(visit: Visit) -> None:
    """Refused where it is no person who decides."""
    if not visit.may_decide:
        raise Refused("only a person decides what counts; this token speaks for an agent")


def _listed(visit: Visit) -> dict[str, object]:
    asked, memory = visit.asked, visit.memory
    source, kind = asked.get("source") or None, asked.get("kind") or None
    total, offset = memory.review.count(source, kind=kind), visit.number("offset", 0, 10**6)
    offset = min(offset, max(0, total - 1) // PAGE * PAGE)  # the last page may have been decided away
    found = memory.review.list(source, kind=kind, limit=PAGE, offset=offset)
    narrowed = {name: value for name, value in (("kind", kind), ("source", source)) if value}
    return {
        "items": _shown(found, memory),
        "total": total,
        "left": memory.review.count() if narrowed else total,
        "source": source,
        "kind": kind,
        "kinds": tuple(Waits),
        "sources": _sources(memory.review.held()),
        "offset": offset,
        "page": PAGE,
        "rest": urlencode(narrowed),
        "here_again": urlencode({**narrowed, **({"offset": offset} if offset else {})}),
    }


def _shown(found: Sequence[Item], memory: Memory) -> list[Waiting]:
    told = [item_document(memory, item) for item in found]
    known = named_in((verb.does for each in told for verb in each.verbs), memory)
    return [_waiting(each, known) for each in told]


def _sources(held: list[Atom]) -> list[tuple[str, int]]:
    return Counter(atom.source_id for atom in held if atom.source_id).most_common(20)


def _waiting(told: ItemDocument, known: Mapping[str, Atom]) -> Waiting:
    if told.kind == Waits.PAIR:
        both = zip(_PAIR, told.verbs, strict=True)
        choices = [
            Choice(verb, label, pieces(each.does.removeprefix(f"{label.lower()}; "), known), key)
            for (verb, label, key), each in both
        ]
        return Waiting(told, tuple(choices))
    found = ((each, _BUTTONS[each.verb]) for each in told.verbs if each.verb in _BUTTONS)
    return Waiting(told, tuple(Choice(each.verb, label, pieces(each.does, known), key) for each, (label, key) in found))
