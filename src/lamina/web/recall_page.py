"""The recall page: a question, the hits with their reasons, and feedback on them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from starlette.responses import Response

from lamina.atom.atom import Atom
from lamina.atom.status import INCLUDE_OPTIONS
from lamina.documents import HitDocument, QuoteDocument, hit_document, load_quotes
from lamina.memory import MAX_HITS, Memory
from lamina.recall.feedback import parse_verdict
from lamina.recall.hit import Hit, Recall
from lamina.recall.query_options import MEMORY_TYPES_BY_MODE
from lamina.text.speaker_roles import is_role
from lamina.web.action_result import ActionResult, AtomResultLine, result_from_receipts
from lamina.web.page_request import PageRequest
from lamina.web.score_breakdown import ScoreBreakdown, break_down_score

_FIRST_PERSON = frozenset({"me", "i", "myself"})
MAX_CORE, MAX_SUBJECTS, MAX_NEWEST = 6, 14, 300
"""How much is shown before a question; subjects are those of this many newest atoms."""
_RESULT_TITLES = {
    "new": "Remembered",
    "kept": "Remembered",
    "duplicate": "Already known",
    "held": "Pending review; see the inbox",
    "supersedes": "Remembered; it replaces an earlier value",
    "challenged": "Remembered, but it is disputed",
}


@dataclass(frozen=True, slots=True)
class HitView:
    """A hit as shown on the page: with its evidence and the parts of its score."""

    document: HitDocument
    atom: Atom
    quotes: list[QuoteDocument]
    breakdown: ScoreBreakdown


def show_home(request: PageRequest) -> Response:
    """Show the question form, core memories and common subjects."""
    memory = request.memory
    suggestions = {"core": memory.top(MAX_CORE), "subjects": _common_subjects(memory)}
    return request.render(
        "recall.html", {"recall": None, "hits": [], "query": request.query, "filters": _filter_choices(), **suggestions}
    )


def _common_subjects(memory: Memory) -> list[tuple[str, int]]:
    """Return the subjects of the newest statements, as written."""
    subjects = (atom.subject for atom in memory.list(memory_type="fact", limit=MAX_NEWEST))
    counts = Counter(name for name in subjects if name and not is_role(name) and name.casefold() not in _FIRST_PERSON)
    return counts.most_common(MAX_SUBJECTS)


def show_answer(request: PageRequest) -> Response:
    """Show the hits for a question."""
    query = request.query
    if not query.get("q", "").strip():
        return show_home(request)
    recalled = request.memory.recall(
        query["q"],
        request.int_parameter("k", 10, MAX_HITS),
        mode=query.get("mode") or "full_context",
        include=query.getlist("include"),
        fast=bool(query.get("fast")),
        filter_stale=bool(query.get("filter_stale")),
        as_of=query.get("as_of") or None,
        known_at=query.get("known_at") or None,
    )
    context = {
        "recall": recalled,
        "hits": _make_hit_views(recalled, request.memory),
        "query": query,
        "filters": _filter_choices(),
    }
    return request.render("recall.html", {**context, "core": [], "subjects": []}, fragment="_answer.html")


def give_feedback(request: PageRequest) -> Response:
    """Record feedback on an answer."""
    verdict = parse_verdict(request.form_value("verdict", "up"))
    updated_ids = request.memory.feedback(request.form_value("recall_id"), request.form_values("cited"), verdict)
    atoms = [request.memory.get(atom_id) for atom_id in updated_ids]
    title = "Thank you" if atoms else "Nothing changed: no hit was cited, or feedback was given before"
    lines = tuple(
        AtomResultLine(f"quality {request.memory.signals(atom.id).quality_score:.2f}", atom) for atom in atoms
    )
    return request.render("error.html", {"result": ActionResult(title, lines)}, fragment="_action_result.html")


def remember_statement(request: PageRequest) -> Response:
    """Remember a statement that a person entered; the result can be undone."""
    receipt = request.memory.remember(request.form_value("content").strip(), reason="entered on the web page")
    results = dict.fromkeys(outcome.result.value for outcome in receipt.outcomes)
    title = _RESULT_TITLES.get(next(iter(results), ""), "Done")
    return request.render(
        "error.html", {"result": result_from_receipts(title, [receipt])}, fragment="_action_result.html"
    )


def _make_hit_views(recall: Recall, memory: Memory) -> list[HitView]:
    return [_make_hit_view(rank, hit, memory) for rank, hit in enumerate(recall.hits, 1)]


def _make_hit_view(rank: int, hit: Hit, memory: Memory) -> HitView:
    return HitView(hit_document(rank, hit), hit.atom, load_quotes(memory, hit.atom), break_down_score(hit))


def _filter_choices() -> dict[str, tuple[str, ...]]:
    return {"mode": tuple(MEMORY_TYPES_BY_MODE), "include": tuple(INCLUDE_OPTIONS)}
