"""What recall hands out: hits that explain themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from math import prod
from typing import TYPE_CHECKING

from lamina.atom.atom import Atom
from lamina.atom.passage import Passage, passages_of
from lamina.recall.coarse import Coarse
from lamina.recall.marks import Before, Earlier, Instead, Mark, Transition, is_flagged
from lamina.recall.pack import Count, Item, by_characters, pack
from lamina.text.normal import one_line
from lamina.text.times import format_time

if TYPE_CHECKING:
    from lamina.working.block import Block

Core = Callable[[], Sequence[Atom]]
"""Gives the core memories when they are wanted."""

_SHOWN_TERMS = 3
_TOLD: dict[str, str] = {
    "text": "words",
    "vector": "meaning",
    "light": "meaning (static)",
    "passage": "close reading",
    "window": "what was said beside it",
    "session": "the rest of its session",
    "speaker": "who said it",
    "time": "when it was said or tells of",
    "tells when": "tells a time",
    "answer": "answers that question",
    "question": "is itself a question",
    "graph": "links",
    "exact": "is about that",
    "entity": "names the same",
    "reranker": "a second opinion",
    "hop": "follows from another fact",
}


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage that answers, with every term and weight of its score.

    `relevance = max(0, Σ terms)` and `score = relevance × Π weights`. `words` is what each word of the question adds to
    the text term; `channels` the rank and the score the passage had in each channel; `folded` the places of passages
    that say the same; `statements` those that were taken from these very words; `relevant` whether it stands above the
    floor below which nothing counts as an answer.

    `passage` is verbatim; `text` is what is shown of it, without the sentences that no longer hold. `marks` say what a
    reader must know of it, `transitions` what a sentence of it changed. Where it took the slot of a passage that is
    over, the terms and weights are those of that passage, `instead_of`; `before` is what it stands in front of
    whatever the scores, and why. `coarse`: how well its vectors are known, where they are not kept whole. `earlier`:
    the newer value of the same slot that likely replaced it; `answers`: the probability that it answers the question.
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
    shown: str | None = None
    transitions: tuple[Transition, ...] = ()
    instead_of: Instead | None = None
    before: tuple[Before, ...] = ()
    coarse: Coarse | None = None
    earlier: Earlier | None = None
    answers: float | None = None

    @property
    def text(self) -> str:
        """What is shown of the passage."""
        return self.passage.text if self.shown is None else self.shown

    @property
    def flagged(self) -> bool:
        """Whether it is shown as something that may not hold: over, doubted, outdated, announced or unsettled."""
        return is_flagged(self.marks)

    @property
    def told(self) -> tuple[str, ...]:
        """The marks, and what was changed to what."""
        marks = (mark for mark in self.marks if self.earlier is None or mark != Mark.EARLIER)
        earlier = (str(self.earlier),) if self.earlier else ()
        return (*earlier, *marks, *(one_line(str(transition)) for transition in self.transitions))

    @property
    def relevance(self) -> float:
        return max(0.0, sum(value for _, value in self.terms))

    @property
    def score(self) -> float:
        return self.relevance * prod(value for _, value in self.weights)

    @property
    def why(self) -> str:
        """The reason on one line: the strongest terms, the words that were met, and the weights that moved it."""
        strongest = sorted((term for term in self.terms if term[1] > 0), key=lambda each: -each[1])[:_SHOWN_TERMS]
        told = ", ".join(f"{_TOLD.get(name, name)} {value:.3f}" for name, value in strongest) or "nothing speaks for it"
        words = ", ".join(f"“{word}”" for word, _ in self.words)
        weights = "".join(f" × {name} {value:.3g}" for name, value in self.weights if f"{value:.3g}" != "1")
        return f"{told}{f' (has {words})' if words else ''}{weights}{self._followed()}"

    def _followed(self) -> str:
        """Why it stands where its own words did not bring it, and what it changed."""
        told = [one_line(str(transition)) for transition in self.transitions]
        told += [str(self.instead_of)] if self.instead_of else []
        told += [str(each) for each in self.before]
        told += [str(self.earlier)] if self.earlier else []
        return "".join(f"; {each}" for each in told)

    def explain(self) -> dict[str, object]:
        """Everything that went into the score; it adds and multiplies back."""
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
            "folded": [list(each) for each in self.folded],
            "statements": [[statement.id, statement.content] for statement in self.statements],
            "marks": list(self.marks),
            "flagged": self.flagged,
            "transitions": [
                [transition.was, transition.now, format_time(transition.since)] for transition in self.transitions
            ],
            "instead_of": [self.instead_of.atom_id, self.instead_of.n, self.instead_of.why] if self.instead_of else [],
            "before": [[each.atom_id, each.why] for each in self.before],
            "precision": asdict(self.coarse) if self.coarse else {},
            "earlier": [self.earlier.atom_id, self.earlier.n, format_time(self.earlier.until), self.earlier.chance]
            if self.earlier
            else [],
            "answers": self.answers,
        }


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to one question: hits best first, the journal position and the model they were found with.

    `understood` is what was read out of the question; `filtered` how many passages that lay as near were left out, and
    why.
    """

    id: str
    question: str
    hits: tuple[Hit, ...]
    position: int
    model: str
    asked_at: datetime
    understood: tuple[tuple[str, str], ...] = ()
    filtered: tuple[tuple[str, int], ...] = ()
    core: Core = field(default=list, repr=False, compare=False)

    @property
    def relevant(self) -> tuple[Hit, ...]:
        """The hits that stand above the floor; none means that nothing is known."""
        return tuple(hit for hit in self.hits if hit.relevant)

    def context(self, budget: int = 2000, *, count: Count | None = None, blocks: Sequence[Block] = ()) -> str:
        """The relevant hits as fenced, sectioned text for an agent, core memories first, within a budget of tokens.

        `count` says how many tokens a text has; without it the tokenizer that comes with lamina counts. The notes of
        `blocks` are told beside the hits, the youngest of them where there is no room for all.
        """
        return pack(
            [*(Item(hit.atom, hit.passage, hit.text, hit.told) for hit in self.relevant), *self._statements()],
            budget,
            core=[(atom, passages_of(atom)[0]) for atom in self.core()],
            count=count or bundled_count(),
            beside=[(block.workstream, block.lines) for block in blocks],
        )

    def _statements(self) -> Iterator[Item]:
        """What was made of the hits' words, for whatever room is left."""
        distinct = {atom.id: atom for hit in self.relevant for atom in hit.statements}
        return (Item(atom, passages_of(atom)[0]) for atom in distinct.values())


def bundled_count() -> Count:
    """The counter of the tokenizer that comes with lamina, or a careful guess where it is not installed."""
    from lamina.models.light import light_tokeniser

    tokeniser = light_tokeniser()
    return by_characters if tokeniser is None else tokeniser.count
