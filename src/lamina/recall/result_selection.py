"""Selects which candidates become hits, and their order.

Passages that say the same share one place, and so does a flood of similar untrusted texts. A current statement comes
before one that may not hold. If the caller asks for that, stale results are left out; ordinary recall ranks them lower
and hides nothing. Only what is shown is left out: a stale passage may still lead to its successor, and a fresh
statement is shown by itself if its source passage is stale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import combinations

from lamina.atom.atom import Atom, AtomId
from lamina.atom.passage import passages_of
from lamina.atom.proposals_and_pairs import LIKELY_CHANGE_CONFIDENCE, find_pair_link
from lamina.atom.provenance import statements_need_review
from lamina.atom.status import Status
from lamina.lifecycle.standing import LifecycleState
from lamina.recall.candidate_scoring import Candidate
from lamina.recall.evidence_status import EvidenceStatus
from lamina.recall.marks import HitMark, MovedBefore, is_flagged
from lamina.recall.passage_rendering import RenderedPassage
from lamina.recall.recall_view import RecallView
from lamina.recall.result_passages import ResultOptions, ResultPassage, build_results, render_atoms
from lamina.store.encodings import PassageKey
from lamina.text.analyser import analyse
from lamina.text.normal_form import MIN_OVERLAP_TENTHS, ComparisonForm, are_nearly_equal, comparison_form, normal_form

ARCHIVED = LifecycleState.ARCHIVED.value
STALE = frozenset({LifecycleState.STALE.value, ARCHIVED})
LIKELY_REPLACED, ONLY_ANNOUNCED = "which it may replace", "which is only announced"

MoveRule = Callable[[ResultPassage], tuple[MovedBefore, ...]]
"""Returns the statements that a later result belongs in front of, if any."""


def order_results(results: Sequence[ResultPassage], evidence: EvidenceStatus) -> list[ResultPassage]:
    """Return the results with those moved up that belong before a possibly outdated or only announced one."""
    ordered = list(results)
    for result in results:
        rule = _move_rule_for(result, evidence)
        if rule is not None:
            _move_up(ordered, result, rule)
    return ordered


def _move_rule_for(result: ResultPassage, evidence: EvidenceStatus) -> MoveRule | None:
    """Return the rule for what may be moved before a result, or None."""
    if HitMark.OUTDATED in result.rendered.marks:
        outdated_by = {
            newer.id: atom.id
            for atom in result.rendered.statements
            for newer in evidence.likely_successors_of(atom)
            if not _is_only_likely(newer, atom)
        }
        return lambda later: _moved_before(later, outdated_by, LIKELY_REPLACED)
    if HitMark.ANNOUNCED in result.rendered.marks:
        current = {
            predecessor.id: atom.id
            for atom in result.rendered.statements
            for predecessor in evidence.predecessors_of(atom)
        }
        return lambda later: () if is_flagged(later.rendered.marks) else _moved_before(later, current, ONLY_ANNOUNCED)
    return None


def _is_only_likely(newer: Atom, older: Atom) -> bool:
    """Return whether only a model noticed that a statement may replace another: that is shown as a mark, and recall's
    ranker orders it."""
    link = find_pair_link(newer, older)
    return link is not None and link.confidence <= LIKELY_CHANGE_CONFIDENCE


def _moved_before(later: ResultPassage, targets: Mapping[AtomId, AtomId], reason: str) -> tuple[MovedBefore, ...]:
    statement_ids = (atom.id for atom in (*later.rendered.statements, *later.statements))
    return tuple(
        MovedBefore(targets[atom_id], reason) for atom_id in dict.fromkeys(statement_ids) if atom_id in targets
    )


def _move_up(ordered: list[ResultPassage], result: ResultPassage, rule: MoveRule) -> None:
    place = next(n for n, candidate in enumerate(ordered) if candidate.key == result.key)
    for later in ordered[place + 1 :]:
        moved_before = rule(later)
        if moved_before:
            ordered.remove(later)
            ordered.insert(place, replace(later, moved_before=(*later.moved_before, *moved_before)))
            place += 1


@dataclass(frozen=True, slots=True)
class OmittedHit:
    """A result that was left out: its place in the order of all candidates, and why."""

    place: int
    reason: str


SPARE_CANDIDATES = 5
"""How many more candidates than requested are read, in case some say the same."""


@dataclass(frozen=True, slots=True)
class SelectedResults:
    """The best candidates as results, in order, and the indexes of those that have a place."""

    results: Sequence[ResultPassage]
    folding: FoldedHits
    k: int
    omitted: Sequence[OmittedHit] = ()

    @property
    def selected(self) -> tuple[int, ...]:
        """The indexes of the hits, in order."""
        return self.folding.places[: self.k]

    def folded_into(self, n: int) -> tuple[PassageKey, ...]:
        """Return the keys of the results folded into one."""
        return tuple(self.results[index].key for index in self.folding.folded.get(n, ()))


def select_results(
    ordered: Sequence[Candidate], k: int, view: RecallView, options: ResultOptions, *, filter_stale: bool = False
) -> SelectedResults:
    """Select the first k results; if a flood took many places, or many were left out, more candidates are read."""
    count = k + SPARE_CANDIDATES
    while True:
        read_results, evidence = build_results(ordered, count, view, options)
        fresh, omitted = (
            drop_stale(read_results, ordered, view, include_history=options.include_history)
            if filter_stale
            else (read_results, [])
        )
        ordered_results = order_results(fresh, evidence)
        folding = fold_duplicates([_content_of(result) for result in ordered_results])
        thinned_folding = fold_floods(
            folding,
            [result.passage.text if statements_need_review(result.atom.origin) else None for result in ordered_results],
        )
        if (
            len(thinned_folding.places) >= k
            or len(read_results) < count
            or (len(thinned_folding.places) == len(folding.places) and not omitted)
        ):
            return SelectedResults(ordered_results, thinned_folding, k, omitted)
        count *= 2


def _content_of(result: ResultPassage) -> HitContent:
    """Return what a result says, for the comparison with others."""
    atom, passage = result.atom, result.passage
    if not atom.is_segment:
        return HitContent(result.rendered.text, atom.subject, atom.kind)
    at = passage.at or atom.observed_at
    return HitContent(result.rendered.text, atom.subject, atom.kind, passage.speaker or "", at.date())


def find_stale(atoms: Iterable[Atom], view: RecallView) -> dict[AtomId, str]:
    """Return the atoms that are stale or archived, with the reason; a pinned one never is, and one that was written
    since the last dream looked at it counts as fresh."""
    atoms_by_id = {atom.id: atom for atom in atoms if not atom.pinned}
    ageing_states = view.ageing_states(atoms_by_id)
    stale: dict[AtomId, str] = {}
    for atom in atoms_by_id.values():
        ageing = ageing_states.get(atom.id)
        if atom.status is Status.ARCHIVED:
            stale[atom.id] = ARCHIVED
        elif ageing is not None and ageing.revision == atom.revision and ageing.state in STALE:
            stale[atom.id] = ageing.state
    return stale


def drop_stale(
    results: Sequence[ResultPassage], ordered: Sequence[Candidate], view: RecallView, *, include_history: bool = False
) -> tuple[list[ResultPassage], list[OmittedHit]]:
    """Return the results that are not stale, in the order of their candidates, and what was left out."""
    stale = find_stale((atom for result in results for atom in (result.atom, *result.statements)), view)
    if not stale:
        return list(results), []
    place = {result.key: n for n, result in enumerate(ordered)}
    fresh = [_without_stale(stale, result) for result in results if result.atom.id not in stale]
    stale_results = [result for result in results if result.atom.id in stale]
    candidates = {candidate.key: candidate for candidate in ordered}
    fresh += _standalone_statements(
        [_without_stale(stale, result) for result in stale_results], fresh, candidates, view, include_history
    )
    omitted = [OmittedHit(place[result.candidate.key], stale[result.atom.id]) for result in stale_results]
    return sorted(fresh, key=lambda result: place[result.candidate.key]), omitted


def count_omitted(omitted: Iterable[OmittedHit], end: int | None) -> dict[str, int]:
    """Return how many results were left out before a place, by reason; None is the end."""
    return dict(
        sorted(Counter(omitted_hit.reason for omitted_hit in omitted if end is None or omitted_hit.place < end).items())
    )


def _without_stale(stale: Mapping[AtomId, str], result: ResultPassage) -> ResultPassage:
    return replace(result, statements=[statement for statement in result.statements if statement.id not in stale])


def _standalone_statements(
    stale_results: Sequence[ResultPassage],
    fresh_results: Sequence[ResultPassage],
    candidates: Mapping[PassageKey, Candidate],
    view: RecallView,
    include_history: bool,
) -> list[ResultPassage]:
    """Return the statements that were attached to stale passages as results of their own, unless another passage shows
    them."""
    shown_ids = {atom.id for result in fresh_results for atom in (result.atom, *result.statements)}
    statements = {
        atom.id: (atom, result)
        for result in reversed(stale_results)
        for atom in result.statements
        if atom.id not in shown_ids
    }
    rendered = render_atoms([atom for atom, _ in statements.values()], view, include_history=include_history)
    return [
        _standalone_result(atom, source, rendered_statement, candidates.get((atom.id, 1)))
        for (atom, source), rendered_statement in zip(statements.values(), rendered, strict=True)
    ]


def _standalone_result(
    atom: Atom, source: ResultPassage, rendered: RenderedPassage, candidate: Candidate | None
) -> ResultPassage:
    """Return a statement with its own score, or with that of its passage if no channel found it."""
    passage, replaced_passage = passages_of(atom)[0], source.replaced_passage if candidate is None else None
    return ResultPassage(candidate or source.candidate, atom, passage, rendered, [], replaced_passage)


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
