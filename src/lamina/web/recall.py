"""The pages of recall: a question, what answers it and why, and what a person thinks of that."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from starlette.responses import Response

from lamina.atom.atom import Atom
from lamina.atom.status import INCLUDE
from lamina.documents import HitDocument, QuoteDocument, hit_document, quotes_of
from lamina.memory import MOST_HITS, Memory
from lamina.recall.feedback import parse_verdict
from lamina.recall.hit import Hit, Recall
from lamina.recall.understand import MODES
from lamina.text.roles import is_role
from lamina.web.said import Line, Said, said_receipts
from lamina.web.visit import Visit
from lamina.web.xray import Xray, xray

_SELF = frozenset({"me", "i", "myself"})
CORE, SUBJECTS, YOUNGEST = 6, 14, 300
"""So much is shown before anything is asked; subjects are those of so many of the youngest."""
_KEPT = {
    "new": "Remembered",
    "kept": "Remembered",
    "duplicate": "That is known already",
    "held": "It waits in the inbox",
    "supersedes": "Remembered, in place of what was so before",
    "challenged": "Remembered, though something speaks against it",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A hit as the page shows it: with the words it rests on and its score taken apart."""

    told: HitDocument
    atom: Atom
    quotes: list[QuoteDocument]
    xray: Xray


def home(visit: Visit) -> Response:
    """The question, and what a person may want to ask of."""
    memory = visit.memory
    told = {"core": memory.top(CORE), "subjects": _subjects(memory)}
    return visit.page("recall.html", {"found": None, "hits": [], "asked": visit.asked, "filters": _filters(), **told})


def _subjects(memory: Memory) -> list[tuple[str, int]]:
    """What the youngest statements are about, in the words they were given."""
    named = (each.subject for each in memory.list(memory_type="fact", limit=YOUNGEST))
    counted = Counter(each for each in named if each and not is_role(each) and each.casefold() not in _SELF)
    return counted.most_common(SUBJECTS)


def answer(visit: Visit) -> Response:
    """What answers a question."""
    asked = visit.asked
    if not asked.get("q", "").strip():
        return home(visit)
    found = visit.memory.recall(
        asked["q"],
        visit.number("k", 10, MOST_HITS),
        mode=asked.get("mode") or "full_context",
        include=asked.getlist("include"),
        fast=bool(asked.get("fast")),
        filter_stale=bool(asked.get("filter_stale")),
        as_of=asked.get("as_of") or None,
        known_at=asked.get("known_at") or None,
    )
    told = {"found": found, "hits": _shown(found, visit.memory), "asked": asked, "filters": _filters()}
    return visit.page("recall.html", {**told, "core": [], "subjects": []}, part="_answer.html")


def feedback(visit: Visit) -> Response:
    """Tell how an answer was."""
    verdict = parse_verdict(visit.sent("verdict", "up"))
    learnt = visit.memory.feedback(visit.sent("recall_id"), visit.sent_all("cited"), verdict)
    atoms = [visit.memory.get(each) for each in learnt]
    title = "Thank you" if atoms else "Nothing follows from it: no hit was cited, or it was learnt from before"
    lines = tuple(Line(f"quality {visit.memory.signals(atom.id).quality_score:.2f}", atom) for atom in atoms)
    return visit.page("trouble.html", {"said": Said(title, lines)}, part="_said.html")


def remember(visit: Visit) -> Response:
    """Remember what a person tells; like any other statement it can be undone where it was made."""
    receipt = visit.memory.remember(visit.sent("content").strip(), reason="told on the web page")
    words = dict.fromkeys(outcome.result.value for outcome in receipt.outcomes)
    title = _KEPT.get(next(iter(words), ""), "Done")
    return visit.page("trouble.html", {"said": said_receipts(title, [receipt])}, part="_said.html")


def _shown(found: Recall, memory: Memory) -> list[Shown]:
    return [_one(rank, hit, memory) for rank, hit in enumerate(found.hits, 1)]


def _one(rank: int, hit: Hit, memory: Memory) -> Shown:
    return Shown(hit_document(rank, hit), hit.atom, quotes_of(memory, hit.atom), xray(hit))


def _filters() -> dict[str, tuple[str, ...]]:
    return {"mode": tuple(MODES), "include": tuple(INCLUDE)}
