"""Near-duplicate hits share one place, and so does a flood of similar untrusted texts.

Two texts are duplicates only if nothing in which they differ could matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import combinations

from lamina.text.analyser import analyse
from lamina.text.normal_form import MIN_OVERLAP_TENTHS, ComparisonForm, are_nearly_equal, comparison_form, normal_form

MIN_SHARED_TENTHS = 8
"""Texts whose stems overlap less than this cannot be duplicates: different words may share a stem, but equal words
always do."""

MIN_FLOOD_SIZE = 4
"""This many similar texts are a flood."""
MIN_FLOOD_WORDS, FLOOD_TENTHS = 6, 7
"""How many words the texts of a flood have at least, and how many tenths of them they share."""


@dataclass(frozen=True, slots=True)
class HitContent:
    """The content of a hit. `speaker` and `day` are given for turns and events, not for facts that hold. An empty
    subject,
    kind, speaker or day is compatible with any."""

    text: str
    subject: str = ""
    kind: str = ""
    speaker: str = ""
    day: date | None = None


@dataclass(frozen=True, slots=True)
class FoldedHits:
    """Indexes into the list of hits: those that keep a place, in order, and for some of them the hits folded into
    it."""

    places: tuple[int, ...]
    folded: dict[int, list[int]]


@dataclass(frozen=True, slots=True)
class _AnalysedHit:
    """A hit prepared for comparison."""

    content: HitContent
    words: ComparisonForm
    subject: str
    speaker: str


@dataclass(slots=True)
class _PlaceIndex:
    """The places taken so far, indexed by normal form and by the rarest tokens."""

    by_form: dict[str, list[int]] = field(default_factory=dict)
    by_token: dict[str, list[int]] = field(default_factory=dict)
    groups: dict[int, list[int]] = field(default_factory=dict)


def fold_duplicates(hits: Sequence[HitContent]) -> FoldedHits:
    """Fold each hit into the first place that says the same; places keep the order of the hits.

    Two hits say the same if their normal forms are equal, or if their word sets overlap by .9, one side has no word of
    its own (a different word may be a changed value) and the shared words come in the same order. In both cases
    numbers, dates, negations, hedges and question marks must be equal, and no kind, subject, speaker or day in the
    whole place may differ: a fact and the turn it was extracted from are two things. A text without words equals no
    other.
    """
    if not _has_similar_texts(hits):
        return FoldedHits(tuple(range(len(hits))), {})
    forms = [_analyse_hit(content) for content in hits]
    commonness = Counter(token for form in forms for token in form.words.token_set)
    slots = _PlaceIndex()
    for n, form in enumerate(forms):
        rarest = sorted(form.words.token_set, key=lambda token: (commonness[token], token))
        # Sets that overlap by nine tenths share at least one of this many rarest tokens, in any order that all use.
        rarest = rarest[: len(rarest) - -(-len(rarest) * MIN_OVERLAP_TENTHS // 10) + 1]
        place = _find_place(form, forms, slots, rarest)
        if place is not None:
            slots.groups[place].append(n)
            continue
        slots.groups[n] = [n]
        slots.by_form.setdefault(form.words.normal_form, []).append(n)
        for token in rarest if form.words.normal_form else ():
            slots.by_token.setdefault(token, []).append(n)
    return FoldedHits(tuple(slots.groups), {n: group[1:] for n, group in slots.groups.items() if len(group) > 1})


def _has_similar_texts(hits: Sequence[HitContent]) -> bool:
    """Return whether any two texts have most of their words in common; if none do, there is nothing to compare."""
    words = [frozenset(analyse(content.text)) for content in hits]
    return any(
        10 * len(first & second) >= MIN_SHARED_TENTHS * len(first | second) for first, second in combinations(words, 2)
    )


def _find_place(
    hit: _AnalysedHit, hits: Sequence[_AnalysedHit], index: _PlaceIndex, rarest_tokens: Sequence[str]
) -> int | None:
    """Return the first place that a hit can share, or None."""
    if not hit.words.normal_form:
        return None
    equal = index.by_form.get(hit.words.normal_form, [])
    similar = {
        n
        for token in rarest_tokens
        for n in index.by_token.get(token, ())
        if are_nearly_equal(hit.words, hits[n].words)
    }
    for n in sorted({*equal, *similar}):
        if all(_can_share_place(hit, hits[other]) for other in index.groups[n]):
            return n
    return None


def _can_share_place(first: _AnalysedHit, second: _AnalysedHit) -> bool:
    """Return whether nothing in which two hits differ could matter."""
    return (
        first.words.signs == second.words.signs
        and _is_compatible(first.content.kind, second.content.kind)
        and _is_compatible(first.subject, second.subject)
        and _is_compatible(first.speaker, second.speaker)
        and _is_compatible(first.content.day, second.content.day)
    )


def _is_compatible(first: object, second: object) -> bool:
    """Return whether two values are equal or one of them is unknown."""
    return not first or not second or first == second


def _analyse_hit(content: HitContent) -> _AnalysedHit:
    return _AnalysedHit(
        content, comparison_form(content.text), normal_form(content.subject), normal_form(content.speaker)
    )


def fold_floods(folding: FoldedHits, untrusted_texts: Sequence[str | None]) -> FoldedHits:
    """Return the places with every flood in one place. `untrusted_texts` holds the text of each hit from an untrusted
    origin, None for the others."""
    stems = {n: frozenset(analyse(text)) for n in folding.places if (text := untrusted_texts[n]) is not None}
    floods: list[list[int]] = []
    for n, tokens in stems.items():
        if len(tokens) < MIN_FLOOD_WORDS:
            continue
        flood = next((existing for existing in floods if _are_similar(stems[existing[0]], tokens)), None)
        if flood is None:
            floods.append([n])
        else:
            flood.append(n)
    folded = {n: flood[0] for flood in floods if len(flood) >= MIN_FLOOD_SIZE for n in flood[1:]}
    if not folded:
        return folding
    groups = {n: [*folding.folded.get(n, ())] for n in folding.places if n not in folded}
    for n, first in folded.items():
        groups[first] += [n, *folding.folded.get(n, ())]
    return FoldedHits(tuple(groups), {n: group for n, group in groups.items() if group})


def _are_similar(first: frozenset[str], second: frozenset[str]) -> bool:
    """Return whether two token sets overlap enough to be similar."""
    return 10 * len(first & second) >= FLOOD_TENTHS * len(first | second)
