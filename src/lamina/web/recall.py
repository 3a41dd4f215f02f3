"""The recall page: a question, the hits with their reasons, and feedback on them."""

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
"""How much is shown before a question; subjects are those of this many newest atoms."""
_KEPT = {
    "new": "Remembered",
    "kept": "Remembered",
    "duplicate": "Already known",
    "held": "Pending review; see the inbox",
    "supersedes": "Remembered; it replaces an earlier value",
    "challenged": "Remembered, but it is disputed",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A hit as shown on the page: with its evidence and the parts of its score."""

    document: HitDocument
    atom: Atom
    quotes: list[QuoteDocument]
    breakdown: Xray


def home(visit: Visit) -> Response:
    """Show the question form, core memories and common subjects."""
    memory = visit.memory
    suggestions = {"core": memory.top(CORE), "subjects": _subjects(memory)}
    return visit.page(
        "recall.html", {"recall": None, "hits": [], "query": visit.asked, "filters": _filters(), **suggestions}
    )


def _subjects(memory: Memory) -> list[tuple[str, int]]:
    """Return the subjects of the newest statements, as written."""
    subjects = (atom.subject for atom in memory.list(memory_type="fact", limit=YOUNGEST))
    counts = Counter(name for name in subjects if name and not is_role(name) and name.casefold() not in _SELF)
    return counts.most_common(SUBJECTS)


def answer(visit: Visit) -> Response:
    """Show the hits for a question."""
    query = visit.asked
    if not query.get("q", "").strip():
        return home(visit)
    recalled = visit.memory.recall(
        query["q"],
        visit.number("k", 10, MOST_HITS),
        mode=query.get("mode") or "full_context",
        include=query.getlist("include"),
        fast=bool(query.get("fast")),
        filter_stale=bool(query.get("filter_stale")),
        as_of=query.get("as_of") or None,
        known_at=query.get("known_at") or None,
    )
    context = {"recall": recalled, "hits": _shown(recalled, visit.memory), "query": query, "filters": _filters()}
    return visit.page("recall.html", {**context, "core": [], "subjects": []}, part="_answer.html")


def feedback(visit: Visit) -> Response:
    """Record feedback on an answer."""
    verdict = parse_verdict(visit.sent("verdict", "up"))
    updated_ids = visit.memory.feedback(visit.sent("recall_id"), visit.sent_all("cited"), verdict)
    atoms = [visit.memory.get(atom_id) for atom_id in updated_ids]
    title = "Thank you" if atoms else "Nothing changed: no hit was cited, or feedback was given before"
    lines = tuple(Line(f"quality {visit.memory.signals(atom.id).quality_score:.2f}", atom) for atom in atoms)
    return visit.page("error.html", {"result": Said(title, lines)}, part="_action_result.html")


def remember(visit: Visit) -> Response:
    """Remember a statement that a person entered; the result can be undone."""
    receipt = visit.memory.remember(visit.sent("content").strip(), reason="entered on the web page")
    results = dict.fromkeys(outcome.result.value for outcome in receipt.outcomes)
    title = _KEPT.get(next(iter(results), ""), "Done")
    return visit.page("error.html", {"result": said_receipts(title, [receipt])}, part="_action_result.html")


def _shown(found: Recall, memory: Memory) -> list[Shown]:
    return [_one(rank, hit, memory) for rank, hit in enumerate(found.hits, 1)]


def _one(rank: int, hit: Hit, memory: Memory) -> Shown:
    return Shown(hit_document(rank, hit), hit.atom, quotes_of(memory, hit.atom), xray(hit))


def _filters() -> dict[str, tuple[str, ...]]:
    return {"mode": tuple(MODES), "include": tuple(INCLUDE)}
