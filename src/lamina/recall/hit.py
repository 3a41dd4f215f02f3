"""What recall hands out: hits that explain themselves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import prod

from lamina.atom.atom import Atom
from lamina.atom.passage import Passage
from lamina.recall.pack import pack


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage that answers, with every term and weight of its score.

    `relevance = max(0, Σ terms)` and `score = relevance × Π weights`; `words` is what each word of the question adds to
    the text term.
    """

    atom: Atom
    passage: Passage
    path: str | None
    terms: tuple[tuple[str, float], ...]
    weights: tuple[tuple[str, float], ...]
    words: tuple[tuple[str, float], ...]
    marks: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return self.passage.text

    @property
    def relevance(self) -> float:
        return max(0.0, sum(value for _, value in self.terms))

    @property
    def score(self) -> float:
        return self.relevance * prod(value for _, value in self.weights)

    @property
    def why(self) -> str:
        """The reason on one line."""
        words = ", ".join(f"“{word}” {value:.3f}" for word, value in self.words)
        weights = "".join(f" × {name} {value:g}" for name, value in self.weights if value != 1.0)
        return f"matches {words}{weights}"

    def explain(self) -> dict[str, object]:
        """Everything that went into the score; it adds and multiplies back."""
        words: dict[str, float] = {}
        for word, value in self.words:
            words[word] = words.get(word, 0.0) + value
        return {
            "score": self.score,
            "relevance": self.relevance,
            "terms": dict(self.terms),
            "weights": dict(self.weights),
            "words": words,
            "marks": list(self.marks),
        }


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to one question: hits best first, the journal position and the model they were found with."""

    id: str
    question: str
    hits: tuple[Hit, ...]
    position: int
    model: str
    asked_at: datetime

    def context(self, budget: int = 2000) -> str:
        """The hits as fenced, sectioned text for an agent, within a budget of tokens."""
        return pack([(hit.atom, hit.passage) for hit in self.hits], budget)
