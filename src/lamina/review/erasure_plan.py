"""Plans an erasure: the statements, the sentences they rest on, what was derived from them, and what quotes them.

Equal words with their own provenance stay, and nothing more trusted goes with something less trusted, unless the person
says everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lamina.atom.atom import Atom, AtomId, extract_user_text, has_generated_section
from lamina.atom.claim import claim_of, comparable_value
from lamina.atom.passage import passages_of
from lamina.atom.provenance import TRUST, Origin, Scope
from lamina.atom.sentence_erasure import RemovalTarget, erase_spans
from lamina.atom.status import Status
from lamina.review.erased_passages import ErasedPassages, is_run_note
from lamina.review.erased_words import FULL_TRUST, ErasedWords, StandingWords, claimed_value, is_statement
from lamina.review.erasure_reads import ErasureReads
from lamina.review.erasure_rewriting import AtomRewriting
from lamina.store.base import Store
from lamina.store.erasure import CommitReason, FingerprintText
from lamina.text.normal_form import normal_form


@dataclass(frozen=True, slots=True)
class PassageChange:
    """A passage that an erasure changes: its text before and after it, which is empty if nothing is left.

    `is_more_trusted`: it is trusted more than what the person asked to erase.
    """

    atom_id: AtomId
    passage: int
    origin: Origin
    text: str
    becomes: str
    is_more_trusted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasurePlan:
    """The changes that an erasure makes: what it removes and rewrites.

    `rewritten`: other atoms with all versions. `reasons`: positions of commits that lose their reason. `problems`: path
    and kind of messages that quote the text. `telling_words`: words that a reason must not have. `target` is removed
    from files. `sentence_count` counts the sentences removed from segments. `also_in`: atoms that have some of the
    words with their own provenance, and stay.
    """

    erased: Mapping[AtomId, Sequence[Atom]]
    rewritten: Mapping[AtomId, Sequence[Atom]]
    reasons: frozenset[int]
    problems: tuple[tuple[str, str], ...]
    fingerprints: Mapping[FingerprintText, float]
    telling_words: frozenset[str]
    target: RemovalTarget
    sentence_count: int
    changes: tuple[PassageChange, ...]
    also_in: tuple[AtomId, ...]
    everywhere: bool
    position: int


def plan_erasure(
    store: Store, scopes: Sequence[Scope], targets: Sequence[Atom], *, everywhere: bool = False
) -> ErasurePlan:
    """Return what is erased together with these atoms, in the scopes that the person may read."""
    return _ErasurePlanner(ErasureReads(store, scopes), everywhere).plan(targets)


class _ErasurePlanner:
    """Finds everything that is erased with some atoms."""

    def __init__(self, reads: ErasureReads, everywhere: bool) -> None:
        self._reads, self._everywhere = reads, everywhere
        self._erased: dict[AtomId, list[Atom]] = {}
        self._words = ErasedWords(everywhere=everywhere)
        self._passages = ErasedPassages(reads, self._erased, everywhere=everywhere)
        self._standing = StandingWords()
        self._trust = FULL_TRUST
        """How far the words that go are trusted: nothing goes that is trusted more."""

    def plan(self, targets: Sequence[Atom]) -> ErasurePlan:
        """Return what is erased together with these atoms."""
        store, position = self._reads.store, self._reads.store.journal.position()
        asked_trust = max(TRUST[atom.origin] for atom in targets)
        trust = self._trust = FULL_TRUST if self._everywhere else asked_trust
        self._add_erased(targets)
        # What was derived may cite the evidence of others, which nobody asked to erase.
        for citing in self._erased if self._everywhere else dict.fromkeys(atom.id for atom in targets):
            versions = self._erased[citing]
            for cited_forms in self._passages.add_evidence_of(versions):
                self._words.add_evidence(cited_forms, TRUST[versions[-1].origin])
        target = self._words.target()
        words = self._words.anchors() | self._erased.keys()
        mentions = store.admin.erasures.find_mentions(words, self._reads.scopes)
        heads = [head for head in self._reads.atoms(mentions.atom_ids) if head.id not in self._erased]
        struck_forms = self._passages.strike(heads, target, trust)
        for segment_id, forms in struck_forms.items():
            self._words.add_struck(self._reads.history(segment_id)[-1], forms)
        search_target = self._words.search_target()
        also_in = self._find_standing(heads, search_target)
        own = self._words.own_target(search_target, self._standing)
        rewriting = AtomRewriting(self._reads, self._erased, self._passages, target, own, trust, self._everywhere)
        rewritten = rewriting.rewrite(heads)
        return ErasurePlan(
            erased=self._erased,
            rewritten=rewritten,
            reasons=frozenset((*self._own_reasons(), *_quoting_reasons(mentions.reasons, own, trust))),
            problems=tuple(self._quoting_problems(own)),
            fingerprints=self._words.fingerprints(search_target, self._standing),
            telling_words=self._words.telling_words(),
            target=self._words.file_target(search_target, self._standing),
            sentence_count=sum(map(len, struck_forms.values())),
            changes=tuple(self._changes(rewritten, asked_trust)),
            also_in=tuple(atom_id for atom_id in also_in if atom_id not in self._erased),
            everywhere=self._everywhere,
            position=position,
        )

    def _add_erased(self, targets: Iterable[Atom]) -> None:
        """Mark atoms as erased, with what was made from them alone; everywhere, also what says the same."""
        queue = list(targets)
        while queue:
            batch = list({atom.id: atom for atom in queue if atom.id not in self._erased}.values())
            for atom in batch:
                self._erased[atom.id] = self._reads.history(atom.id)
                for version in self._erased[atom.id]:
                    self._words.add_version(version)
            queue = [*self._resting_only_on_erased(batch), *self._derived_from(batch)]
            queue += self._find_copies(batch) if self._everywhere else []

    def _resting_only_on_erased(self, atoms: Iterable[Atom]) -> list[Atom]:
        keys = {
            (atom.id, passage.n)
            for atom in atoms
            if atom.is_segment
            for version in self._erased[atom.id]
            for passage in passages_of(version)
        }
        resting = self._reads.atoms_resting_on(keys) if keys else []
        trust = max((TRUST[atom.origin] for atom in atoms if atom.is_segment), default=0.0)
        return [
            atom
            for atom in resting
            if all(evidence.segment in self._erased for evidence in atom.evidence)
            and (self._everywhere or (TRUST[atom.origin] <= trust and self._reads.is_made_from_others(atom)))
        ]

    def _derived_from(self, atoms: Sequence[Atom]) -> list[Atom]:
        """Return the statements that a dream derived from these atoms, and those derived only from erased ones."""
        linked = self._reads.linked_to([atom.id for atom in atoms])
        return [atom for atom in linked if is_statement(atom) and self._is_derived(atom)]

    def _is_derived(self, atom: Atom) -> bool:
        if has_generated_section(atom.content) or self._erased.keys().isdisjoint(atom.derived_from):
            return False
        return atom.origin is Origin.DREAM or all(source in self._erased for source in atom.derived_from)

    def _find_copies(self, atoms: Iterable[Atom]) -> list[Atom]:
        """Return other statements with the same text, or with the same value of the same claim."""
        copies: dict[AtomId, Atom] = {}
        for atom in atoms:
            for version in filter(is_statement, self._erased[atom.id]):
                if normal_form(version.content):
                    same_text = self._reads.matching(contents=(version.content,))
                    copies |= {copied.id: copied for copied in same_text}
                copies |= {rival.id: rival for rival in self._rivals(version)}
        return [copied for copied in copies.values() if not copied.is_segment]

    def _rivals(self, version: Atom) -> list[Atom]:
        """Return the atoms that claim the same value of the same claim."""
        claim = claim_of(version)
        rivals = self._reads.matching(claims=(str(claim),)) if claim is not None else []
        return [rival for rival in rivals if comparable_value(rival) == comparable_value(version)]

    def _find_standing(self, heads: Iterable[Atom], target: RemovalTarget) -> list[AtomId]:
        """Note the erased words that other memories have with their own provenance; return those memories."""
        also_in = [head.id for head in heads if self._add_standing(head, target)]
        for version in [version for versions in self._erased.values() for version in filter(is_statement, versions)]:
            for rival in self._rivals(version):
                if rival.id not in self._erased and rival.status is not Status.TOMBSTONED:
                    claimed = claimed_value(rival) or ""
                    self._standing.claims[claimed] = max(TRUST[rival.origin], self._standing.claims.get(claimed, 0.0))
        return also_in

    def _add_standing(self, head: Atom, target: RemovalTarget) -> bool:
        if (
            self._everywhere
            or head.kind in ("box", "block")
            or is_run_note(head)
            or self._passages.says_the_same(head, self._trust)
        ):
            return False
        if head.is_segment:
            spans = self._passages.spans_of(head.id)
            texts = [erase_spans(passage.text, spans.get(passage.n, ())) for passage in passages_of(head)]
        else:
            texts = [extract_user_text(head.content) if has_generated_section(head.content) else head.content]
        trust = 0.0 if head.status is Status.TOMBSTONED else TRUST[head.origin]
        return sum(self._standing.add(text, trust, target) for text in texts) > 0

    def _own_reasons(self) -> Iterator[int]:
        """Return the commits of erased atoms whose reason has any word of theirs."""
        telling = self._words.telling_words()
        for atom_id in self._erased:
            for version in self._reads.versions(atom_id):
                if not telling.isdisjoint(normal_form(version.reason).split()):
                    yield version.seq

    def _quoting_problems(self, own: RemovalTarget) -> Iterator[tuple[str, str]]:
        for problem in self._reads.store.admin.problems.list():
            is_quoting = next(own.find_phrases(f"{problem.path} {problem.message}"), None) is not None
            if problem.atom_id in self._erased or is_quoting:
                yield problem.path, problem.kind

    def _changes(self, rewritten: Mapping[AtomId, Sequence[Atom]], trust: float) -> Iterator[PassageChange]:
        for atom_id, versions in self._erased.items():
            head = versions[-1]
            for passage in passages_of(head):
                is_more = TRUST[head.origin] > trust
                yield PassageChange(atom_id, passage.n, head.origin, passage.text, "", is_more)
        for atom_id, rewritten_versions in rewritten.items():
            head = self._reads.history(atom_id)[-1]
            after = {passage.n: passage.text for passage in passages_of(rewritten_versions[-1])}
            for passage in passages_of(head):
                becomes = after.get(passage.n, "")
                if becomes != passage.text:
                    is_more = TRUST[head.origin] > trust
                    yield PassageChange(atom_id, passage.n, head.origin, passage.text, becomes, is_more)


def _quoting_reasons(reasons: Iterable[CommitReason], own: RemovalTarget, trust: float) -> Iterator[int]:
    """Return the commits of others whose reason quotes the text, unless who gave it is trusted more."""
    for reason in reasons:
        if TRUST[reason.origin] <= trust and next(own.find_phrases(reason.text), None) is not None:
            yield reason.seq
