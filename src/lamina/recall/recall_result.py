"""The result of recall: hits that explain themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from math import prod
from typing import TYPE_CHECKING

from lamina.atom.atom import Atom
from lamina.atom.passage import Passage, passages_of
from lamina.recall.context_packing import ContextItem, TokenCounter, estimate_tokens, pack_context
from lamina.recall.marks import EarlierValue, HitMark, MovedBefore, ReplacedPassage, ValueTransition, is_flagged
from lamina.recall.related_memories import RelatedFinder, RelatedMemory, find_none_related
from lamina.text.normal_form import one_line
from lamina.text.timestamps import format_time

if TYPE_CHECKING:
    from lamina.working.block import Block

CoreLoader = Callable[[], Sequence[ContextItem]]
"""Loads the core memories when they are needed."""


BoxLoader = Callable[[Sequence[Atom]], Sequence[Atom]]
"""Loads the statements that were made together with some atoms, without these."""


def load_no_core() -> Sequence[ContextItem]:
    """Return no core memories."""
    return ()


def load_no_boxes(atoms: Sequence[Atom]) -> Sequence[Atom]:
    """Return no statements."""
    return ()


_MAX_SHOWN_TERMS = 3
_TERM_LABELS: dict[str, str] = {
    "text": "words",
    "vector": "meaning",
    "light": "meaning (static)",
    "passage": "close reading",
    "window": "what was said beside it",
    "session": "the rest of its session",
    "speaker": "speaker",
    "time": "time",
    "tells when": "states a time",
    "answer": "follows such a question",
    "question": "is itself a question",
    "agent": "learnt by this agent",
    "graph": "links",
    "exact": "is about a name in the question",
    "entity": "mentions a name in the question",
    "reranker": "reranker",
    "hop": "reached through another fact",
}


@dataclass(frozen=True, slots=True)
class VectorPrecision:
    """The stored bits per dimension, the standard error of the cosine, and the Fisher-Rao distance between the question
    and the stored vector."""

    bits: int
    error: float
    frqad: float

    def __str__(self) -> str:
        return f"{self.bits} bits (cosine ± {self.error:.4f}, Fisher-Rao {self.frqad:.1f})"


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage that answers, with every term and weight of its score.

    `relevance = max(0, Σ terms)` and `score = relevance × Π weights`. `words` is what each word of the question adds to
    the text term; `channels` the rank and score in each channel; `folded` the keys of passages that say the same;
    `statements` those extracted from these words; `relevant` whether the hit is above the floor below which nothing
    counts as an answer.

    `passage` is verbatim; `text` is what is shown of it, without the sentences that no longer hold. `marks` are the
    labels of the hit, `transitions` the changes of values that it states. If it took the place of an ended passage, the
    terms and weights are those of that passage, `instead_of`; `before` lists what it was moved in front of, and why.
    `precision`: how precisely its vectors are stored, if not fully. `earlier`: the newer value of the same slot that
    likely replaced it; `answers`: the probability that it answers the question.
    """

    atom: Atom
    passage: Passage
    path: str | None
    terms: tuple[tuple[str, float], ...]
    weights: tuple[tuple[str, float], ...]
    words: tuple[tuple[str, float], ...] = ()
    channels: tuple[tuple[str, int, float], ...] = ()
    folded: tuple[tuple[str, int], ...] = ()
    links: tuple[tuple[str, str, str, float], ...] = ()
    marks: tuple[str, ...] = ()
    relevant: bool = True
    statements: tuple[Atom, ...] = ()
    shown_text: str | None = None
    transitions: tuple[ValueTransition, ...] = ()
    instead_of: ReplacedPassage | None = None
    before: tuple[MovedBefore, ...] = ()
    precision: VectorPrecision | None = None
    earlier: EarlierValue | None = None
    answers: float | None = None

    @property
    def text(self) -> str:
        """Return what is shown of the passage."""
        return self.passage.text if self.shown_text is None else self.shown_text

    @property
    def flagged(self) -> bool:
        """Return whether it may not hold: it is ended, disputed, outdated, announced, or resting on
        something that changed."""
        return is_flagged(self.marks)

    @property
    def notes(self) -> tuple[str, ...]:
        """The marks, and the transitions as text."""
        marks = (mark for mark in self.marks if self.earlier is None or mark != HitMark.EARLIER)
        earlier = (str(self.earlier),) if self.earlier else ()
        return (*earlier, *marks, *(one_line(str(transition)) for transition in self.transitions))

    @property
    def relevance(self) -> float:
        """The sum of the terms, at least 0."""
        return max(0.0, sum(value for _, value in self.terms))

    @property
    def score(self) -> float:
        """The relevance multiplied by all weights."""
        return self.relevance * prod(value for _, value in self.weights)

    @property
    def why(self) -> str:
        """The reason on one line: the strongest terms, the matching words, and the weights that changed the score."""
        strongest = sorted((term for term in self.terms if term[1] > 0), key=lambda entry: -entry[1])[:_MAX_SHOWN_TERMS]
        reasons = (
            ", ".join(f"{_TERM_LABELS.get(name, name)} {value:.3f}" for name, value in strongest) or "no positive term"
        )
        words = ", ".join(f"“{word}”" for word, _ in self.words)
        weights = "".join(f" × {name} {value:.3g}" for name, value in self.weights if f"{value:.3g}" != "1")
        return f"{reasons}{f' (has {words})' if words else ''}{weights}{self._describe_placement()}"

    def _describe_placement(self) -> str:
        """Return why it has a place that its own words did not earn, and what changed."""
        notes = [one_line(str(transition)) for transition in self.transitions]
        notes += [str(self.instead_of)] if self.instead_of else []
        notes += [str(note) for note in self.before]
        notes += [str(self.earlier)] if self.earlier else []
        return "".join(f"; {note}" for note in notes)

    def explain(self) -> dict[str, object]:
        """Return everything that the score was computed from: the terms add up and the weights multiply."""
        words: dict[str, float] = {}
        for word, value in self.words:
            words[word] = words.get(word, 0.0) + value
        return {
            "score": self.score,
            "relevance": self.relevance,
            "relevant": self.relevant,
            "terms": dict(self.terms),
            "weights": dict(self.weights),
            "words": words,
            "channels": {name: {"rank": rank, "score": score} for name, rank, score in self.channels},
            "links": [list(link) for link in self.links],
            "folded": [list(key) for key in self.folded],
            "statements": [[statement.id, statement.content] for statement in self.statements],
            "marks": list(self.marks),
            "flagged": self.flagged,
            "transitions": [
                [transition.was, transition.now, format_time(transition.since)] for transition in self.transitions
            ],
            "instead_of": [self.instead_of.atom_id, self.instead_of.n, self.instead_of.reason]
            if self.instead_of
            else [],
            "before": [[move.atom_id, move.reason] for move in self.before],
            "precision": asdict(self.precision) if self.precision else {},
            "earlier": [self.earlier.atom_id, self.earlier.n, format_time(self.earlier.until), self.earlier.probability]
            if self.earlier
            else [],
            "answers": self.answers,
        }


@dataclass(frozen=True, slots=True)
class HitList:
    """Hits, and how many others were left out for which reason."""

    hits: tuple[Hit, ...]
    filtered: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to one question: hits, best first, the journal position and the model they were found with.

    `understood` is what was read from the question; `filtered` how many passages that were as similar were left out, by
    reason.
    """

    id: str
    question: str
    hits: tuple[Hit, ...]
    position: int
    model: str
    asked_at: datetime
    understood: tuple[tuple[str, str], ...] = ()
    filtered: tuple[tuple[str, int], ...] = ()
    core: CoreLoader = field(default=load_no_core, repr=False, compare=False)
    find_related: RelatedFinder = field(default=find_none_related, repr=False, compare=False)
    load_boxes: BoxLoader = field(default=load_no_boxes, repr=False, compare=False)

    @property
    def relevant(self) -> tuple[Hit, ...]:
        """The hits above the floor; none means that nothing is known."""
        return tuple(hit for hit in self.hits if hit.relevant)

    def related(self) -> tuple[RelatedMemory, ...]:
        """Return what the relevant hits depend on, are part of, implement, are caused by, support or contradict."""
        return self.find_related(self.relevant)

    def context(self, budget: int = 2000, *, count: TokenCounter | None = None, blocks: Sequence[Block] = ()) -> str:
        """Return the relevant hits as fenced text in sections for an agent, core memories first, within a token budget.

        `count` counts the tokens of a text; by default the bundled tokenizer does. The notes of `blocks` are added, the
        newest of them if there is no room for all, what the hits are related to, and if there is room left, the rest of
        their boxes.
        """
        return pack_context(
            [
                *(ContextItem(hit.atom, hit.passage, hit.text, hit.notes) for hit in self.relevant),
                *self._statement_items(),
            ],
            budget,
            core=self.core(),
            count=count or bundled_token_counter(),
            workstreams=[(block.workstream, block.lines) for block in blocks],
            related=[memory.context_item for memory in self.related()],
            box_items=self._box_items(),
        )

    def _statement_items(self) -> Iterator[ContextItem]:
        """Return the statements extracted from the hits, for the room that is left."""
        distinct = {atom.id: atom for hit in self.relevant for atom in hit.statements}
        return (ContextItem(atom, passages_of(atom)[0]) for atom in distinct.values())

    def _box_items(self) -> list[ContextItem]:
        """Return the statements of the hits' boxes that the hits themselves do not contain."""
        passages = {(hit.atom.id, hit.passage.n) for hit in self.relevant}
        members = self.load_boxes([atom for hit in self.relevant for atom in (hit.atom, *hit.statements)])
        return [
            ContextItem(atom, passages_of(atom)[0])
            for atom in members
            if passages.isdisjoint((evidence.segment, evidence.passage) for evidence in atom.evidence)
        ]


def bundled_token_counter() -> TokenCounter:
    """Return the token counter of the bundled tokenizer, or an estimate if it is not installed."""
    from lamina.models.light_embedder import load_light_tokeniser

    tokeniser = load_light_tokeniser()
    return estimate_tokens if tokeniser is None else tokeniser.count
