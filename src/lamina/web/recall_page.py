"""The recall page: a question, the hits with the parts of their scores as bars, and feedback on them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from starlette.responses import Response

from lamina.atom.atom import Atom
from lamina.atom.passage import is_role
from lamina.atom.status import INCLUDE_OPTIONS
from lamina.documents.argument_types import MAX_HITS
from lamina.documents.atom import QuoteDocument, load_quotes
from lamina.documents.recall import HitDocument, hit_document
from lamina.memory import Memory
from lamina.recall.feedback import parse_verdict
from lamina.recall.recall_result import Hit
from lamina.recall.request_and_question import MEMORY_TYPES_BY_MODE
from lamina.web.action_result import ActionResult, AtomResultLine, render_result, result_from_receipts
from lamina.web.page_request import PageRequest

NEUTRAL = 50.0
"""The position of a weight of 1; larger weights extend to the right of it, smaller ones to the left."""


@dataclass(frozen=True, slots=True)
class ScoreBar:
    """A value, and the start and length of its bar from 0 to 100."""

    name: str
    value: float
    start: float
    length: float
    low: bool


@dataclass(frozen=True, slots=True)
class ScoreBreakdown:
    """All terms and weights. `relevance` is the sum of the terms, at least 0; `score` is that times the weights."""

    terms: tuple[ScoreBar, ...]
    relevance: float
    weights: tuple[ScoreBar, ...]
    score: float


def break_down_score(hit: Hit) -> ScoreBreakdown:
    """Return the parts of a hit's score."""
    largest = max((abs(value) for _, value in hit.terms), default=0.0) or 1.0
    terms = tuple(
        ScoreBar(name, value, 0.0, round(100 * abs(value) / largest, 2), value < 0)
        for name, value in sorted(hit.terms, key=lambda term: -term[1])
    )
    return ScoreBreakdown(
        terms, hit.relevance, tuple(_weight_bar(name, value) for name, value in hit.weights), hit.score
    )


def _weight_bar(name: str, value: float) -> ScoreBar:
    """Return the bar of a weight: it starts in the middle and is as long as the weight changes the score."""
    offset = max(-NEUTRAL, min(NEUTRAL, (value - 1.0) * 100))
    return ScoreBar(name, value, round(min(NEUTRAL, NEUTRAL + offset), 2), round(abs(offset), 2), value < 1)


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
    return _render_recall(request, core=memory.top(MAX_CORE), subjects=_common_subjects(memory))


def _render_recall(request: PageRequest, **parts: object) -> Response:
    filters = {"mode": tuple(MEMORY_TYPES_BY_MODE), "include": tuple(INCLUDE_OPTIONS)}
    context: dict[str, object] = {
        "recall": None,
        "hits": [],
        "core": [],
        "subjects": [],
        "query": request.query,
        "filters": filters,
    }
    return request.render("recall.html", {**context, **parts}, fragment="_answer.html" if "recall" in parts else None)


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
    hits = [_make_hit_view(rank, hit, request.memory) for rank, hit in enumerate(recalled.hits, 1)]
    return _render_recall(request, recall=recalled, hits=hits)


def give_feedback(request: PageRequest) -> Response:
    """Record feedback on an answer."""
    verdict = parse_verdict(request.form_value("verdict", "up"))
    updated_ids = request.memory.feedback(request.form_value("recall_id"), request.form_values("cited"), verdict)
    atoms = [request.memory.get(atom_id) for atom_id in updated_ids]
    title = "Thank you" if atoms else "Nothing changed: no hit was cited, or feedback was given before"
    lines = tuple(
        AtomResultLine(f"quality {request.memory.signals(atom.id).quality_score:.2f}", atom) for atom in atoms
    )
    return render_result(request, ActionResult(title, lines))


def remember_statement(request: PageRequest) -> Response:
    """Remember a statement that a person entered; the result can be undone."""
    receipt = request.memory.remember(request.form_value("content").strip(), reason="entered on the web page")
    results = dict.fromkeys(outcome.result.value for outcome in receipt.outcomes)
    title = _RESULT_TITLES.get(next(iter(results), ""), "Done")
    return render_result(request, result_from_receipts(title, [receipt]))


def _make_hit_view(rank: int, hit: Hit, memory: Memory) -> HitView:
    return HitView(hit_document(rank, hit), hit.atom, load_quotes(memory, hit.atom), break_down_score(hit))
