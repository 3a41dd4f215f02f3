"""Plans an erasure: the statements, the sentences they rest on, copies of them, and what was derived from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lamina.atom.atom import Atom, Evidence
from lamina.atom.claim import claim_of, value_of
from lamina.atom.identity import AtomId
from lamina.atom.kinds import traits
from lamina.atom.page import is_page, own_words
from lamina.atom.passage import Passage, passage_of, passages_of
from lamina.atom.scope import Scope, organisation
from lamina.atom.strike import (
    ERASED,
    Sought,
    Span,
    Told,
    alike,
    beside,
    is_telling,
    lines_without,
    moved,
    overlapping,
    struck_segment,
)
from lamina.atom.trust import Origin
from lamina.capture.box import topics_of
from lamina.store.base import Filter, Store
from lamina.store.fingerprints import Mark, MarkKind
from lamina.text.analyse import QUESTION_STOP, analyse
from lamina.text.normal import normal_form
from lamina.text.roles import ROLES, is_assistant
from lamina.text.sentences import sentences

_SAYS_NOTHING = ROLES | QUESTION_STOP | {"s", "m", "profile"}
"""Words of a subject or attribute that occur in any sentence."""
_SPOKEN = (Origin.HUMAN, Origin.AGENT)
AT_ONCE = 2000
_TELLING_VALUE = 6
"""A shorter value, of one word and without a digit, occurs in unrelated sentences."""
_LEAST_WORDS = 5
"""A shorter sentence of an erased session is not searched for elsewhere."""

Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Plan:
    """The erased atoms, other atoms with all versions rewritten, and the marks that recognise erased text.

    `search_terms` are removed from files; `sentence_count` counts the sentences removed from segments.
    """

    gone: Mapping[AtomId, Sequence[Atom]]
    retold: Mapping[AtomId, Sequence[Atom]]
    marks: tuple[Mark, ...]
    everywhere: Sought
    sentences: int
    position: int


class Planner:
    """Finds everything that is erased with some atoms, in the scopes that the person may read."""

    def __init__(self, store: Store, scopes: Sequence[Scope]) -> None:
        self._store, self._scopes = store, tuple(scopes)
        self._histories: dict[AtomId, list[Atom]] = {}
        self._gone: dict[AtomId, list[Atom]] = {}
        self._places: dict[Place, set[str]] = {}
        self._sentences: set[str] = set()
        self._whole: set[str] = set()

    def plan(self, targets: Sequence[Atom]) -> Plan:
        """Return what is erased together with these atoms."""
        position = self._store.position()
        new_atoms = list(targets)
        while new_atoms:
            self._condemn(new_atoms)
            new_atoms = self._copies(new_atoms)
        terms = Sought([*self._sentences, *self._contents()], [*self._told()])
        mentioning = self._store.erasures.mentioning(terms.words | self._gone.keys(), self._scopes)
        segments = self._struck_segments(mentioning, terms)
        rewritten = self._others(mentioning, terms, segments)
        redacted = {atom_id: versions for atom_id, (versions, _) in segments.items() if atom_id not in self._gone}
        removed_forms = {form for _, spans in segments.values() for form in spans}
        all_terms = Sought([*terms.forms, *removed_forms, *self._whole], terms.told)
        return Plan(
            self._gone,
            {**redacted, **rewritten},
            tuple(self._marks(all_terms.forms)),
            all_terms,
            sum(len(forms) for _, forms in segments.values()),
            position,
        )

    def _history(self, atom_id: AtomId) -> list[Atom]:
        if atom_id not in self._histories:
            self._histories[atom_id] = [version.atom for version in self._store.versions(atom_id)]
        return self._histories[atom_id]

    def _read(self, ids: Iterable[AtomId]) -> list[Atom]:
        unique_ids = tuple(dict.fromkeys(ids))
        return self._store.read(Filter(scopes=self._scopes, ids=unique_ids)) if unique_ids else []

    def _condemn(self, atoms: Iterable[Atom]) -> None:
        """Mark atoms as erased, with those that rest on erased segments only."""
        queue = [atom for atom in atoms if atom.id not in self._gone]
        while queue:
            atom = queue.pop()
            if atom.id in self._gone:
                continue
            self._gone[atom.id] = self._history(atom.id)
            if atom.is_segment:
                forms = (form for version in self._gone[atom.id] for form in _forms(version))
                self._whole |= {form for form in forms if " " not in form or form.count(" ") >= _LEAST_WORDS - 1}
                queue += self._resting_only_on_gone(atom)
        for versions in self._gone.values():
            for evidence in dict.fromkeys(item for version in versions for item in version.evidence):
                self._note_sentence(evidence)

    def _resting_only_on_gone(self, segment: Atom) -> list[Atom]:
        keys = {(segment.id, passage.n) for version in self._history(segment.id) for passage in passages_of(version)}
        atoms = self._read(rest.atom_id for rest in self._store.resting(keys, self._scopes))
        return [atom for atom in atoms if all(evidence.segment in self._gone for evidence in atom.evidence)]

    def _note_sentence(self, evidence: Evidence) -> None:
        """Add the sentence that evidence names, and its edited forms in later versions."""
        segment, place = AtomId(evidence.segment), (evidence.segment, evidence.passage)
        if segment in self._gone or not self._read([segment]):
            return
        forms = self._places.setdefault(place, set())
        originals: list[str] = []
        for text in self._texts(segment, evidence.passage):
            if not originals:
                originals = [text[start:end] for start, end in overlapping(text, evidence.start, evidence.end)]
                matches = originals
            else:
                candidates = (text[start:end] for start, end in sentences(text))
                matches = [
                    sentence for sentence in candidates if any(alike(sentence, original) for original in originals)
                ]
            forms |= {normal_form(sentence) for sentence in matches}
        self._sentences |= forms

    def _texts(self, segment: AtomId, n: int) -> list[str]:
        passages = (passage_of(version, n) for version in self._history(segment))
        return list(dict.fromkeys(passage.text for passage in passages if passage is not None))

    def _copies(self, atoms: Iterable[Atom]) -> list[Atom]:
        """Return other statements with the same text, or with the same value of the same claim."""
        copies: dict[AtomId, Atom] = {}
        for atom in atoms:
            for version in self._gone[atom.id]:
                if version.is_segment or traits(version.kind).lists:
                    continue
                if normal_form(version.content):
                    same_text = self._store.read(Filter(scopes=self._scopes, contents=(version.content,)))
                    copies |= {copied.id: copied for copied in same_text}
                claim = claim_of(version)
                if claim is not None:
                    rivals = self._store.read(Filter(scopes=self._scopes, claims=(str(claim),)))
                    copies |= {rival.id: rival for rival in rivals if value_of(rival) == value_of(version)}
        return [copied for copied in copies.values() if copied.id not in self._gone and not copied.is_segment]

    def _statements(self) -> Iterator[Atom]:
        for versions in self._gone.values():
            yield from (version for version in versions if not version.is_segment and not traits(version.kind).lists)

    def _contents(self) -> Iterator[str]:
        for version in self._statements():
            if not is_page(version.content):
                yield normal_form(version.content)
                yield from _forms(version)

    def _told(self) -> Iterator[Told]:
        for version in self._statements():
            value = normal_form(version.value or "")
            # An extracted sentence has no attribute: its other words say what the value belongs to.
            attribute_text = version.attribute or (version.content if version.evidence else "")
            context_words = (
                frozenset(normal_form(f"{version.subject} {attribute_text}").split())
                - _SAYS_NOTHING
                - set(value.split())
            )
            if len(value) >= _TELLING_VALUE or " " in value or any(map(str.isdigit, value)):
                yield Told(value, context_words)

    def _struck_segments(self, found: Iterable[AtomId], sought: Sought) -> dict[AtomId, tuple[list[Atom], list[str]]]:
        """Return the segments that contain erased text: every version without it, and the removed sentences."""
        cited = [AtomId(segment) for segment, _ in self._places]
        redacted: dict[AtomId, tuple[list[Atom], list[str]]] = {}
        self._spans: dict[Place, list[Span]] = {}
        for head in self._read([*cited, *found]):
            if not head.is_segment or head.id in self._gone:
                continue
            versions: list[Atom] = []
            forms: list[str] = []
            for version in self._history(head.id):
                choose = self._chooser(version, sought)
                content, spans = struck_segment(version.content, choose)
                versions.append(version.with_(content=content, metadata=_clean(version.metadata, sought)))
                if version.revision == head.revision:
                    self._spans |= {(head.id, n): passage_spans for n, passage_spans in spans.items()}
                    forms = [*_said(version, spans)]
            if versions != self._history(head.id):
                redacted[head.id] = versions, forms
        return redacted

    def _chooser(self, segment: Atom, sought: Sought) -> Callable[[Passage], list[Span]]:
        def choose(passage: Passage) -> list[Span]:
            forms = self._places.get((segment.id, passage.n), set())
            echo = bool(forms) or is_assistant(passage.speaker) or segment.origin not in _SPOKEN
            cited = [span for span in sentences(passage.text) if normal_form(passage.text[slice(*span)]) in forms]
            return [*sought.spans(passage.text, echo=echo), *cited]

        return choose

    def _others(
        self, found: Iterable[AtomId], sought: Sought, segments: Collection[AtomId]
    ) -> dict[AtomId, Sequence[Atom]]:
        """Return other atoms that contain erased text, list erased atoms, or rest on text that moved."""
        ids = dict.fromkeys(found)
        rewritten: dict[AtomId, Sequence[Atom]] = {}
        erased_count = -1
        while erased_count != len(self._gone):
            erased_count, rewritten = len(self._gone), {}
            moved_places = [*self._spans, *self._gone_places()]
            resting = self._store.resting([(AtomId(segment), n) for segment, n in moved_places], self._scopes)
            resting_ids, linked = (citation.atom_id for citation in resting), self._derived()
            for head in self._read([*ids, *resting_ids, *linked]):
                if head.id in self._gone or head.is_segment:
                    continue
                versions = [self._retold(version, sought) for version in self._history(head.id)]
                if self._is_over(head, versions[-1]):
                    self._gone[head.id] = self._history(head.id)
                elif versions != self._history(head.id):
                    rewritten[head.id] = versions
        return rewritten

    def _derived(self) -> Iterator[AtomId]:
        """Return atoms that link to an erased one."""
        ids = list(self._gone)
        for start in range(0, len(ids), AT_ONCE):
            yield from (edge.source for edge in self._store.edges(ids[start : start + AT_ONCE], self._scopes))

    def _gone_places(self) -> Iterator[Place]:
        for atom_id, versions in self._gone.items():
            if versions[-1].is_segment:
                yield from {(atom_id, passage.n) for version in versions for passage in passages_of(version)}

    def _retold(self, atom: Atom, sought: Sought) -> Atom:
        unlisted = lines_without(atom.content, self._gone.keys())
        content = sought.struck(unlisted, echo=atom.origin is Origin.DREAM)
        evidence = tuple(
            dict.fromkeys(
                moved(item, self._spans.get((item.segment, item.passage), ()))
                for item in atom.evidence
                if item.segment not in self._gone
            )
        )
        rewritten = atom.with_(content=content, evidence=evidence, metadata=_clean(atom.metadata, sought))
        if evidence and atom.session_id in self._sessions():
            rewritten = rewritten.with_(session_id=self._session_of(evidence))
        return self._reheaded(rewritten) if atom.kind == "box" and content != atom.content else rewritten

    def _sessions(self) -> set[str | None]:
        return {versions[-1].session_id for versions in self._gone.values() if versions[-1].is_segment}

    def _session_of(self, evidence: Sequence[Evidence]) -> str | None:
        """Return the session of the remaining evidence, instead of an erased one."""
        return next((segment.session_id for segment in self._read(AtomId(item.segment) for item in evidence)), None)

    def _reheaded(self, box: Atom) -> Atom:
        """Return a box whose heading and tags only name what it still contains."""
        remaining = tuple(atom_id for atom_id in box.derived_from if atom_id not in self._gone)
        topics = frozenset(topic for atom in self._read(remaining) for topic in topics_of(atom))
        heading, newline, rest = box.content.partition("\n")
        names = [name for name in heading.removeprefix("# ").split(", ") if _is_of(name, topics)]
        tags = tuple(tag for tag in box.tags if tag in topics)
        return box.with_(content=f"# {', '.join(names)}{newline}{rest}", tags=tags, derived_from=remaining)

    def _is_over(self, head: Atom, told: Atom) -> bool:
        """Return whether nothing is left of an atom, or a dream derived it from an erased one."""
        if head.kind == "box":
            return not told.derived_from or "- [[" not in told.content
        if is_page(head.content):
            return told.content != head.content and "- [[" not in told.content and not own_words(told.content)
        is_derived = head.origin is Origin.DREAM and any(atom_id in self._gone for atom_id in head.derived_from)
        return is_derived or not normal_form(told.content.replace(ERASED, " "))

    def _marks(self, forms: Iterable[str]) -> Iterator[Mark]:
        for org in sorted({organisation(versions[-1].scope) for versions in self._gone.values()}):
            yield from (Mark(org, MarkKind.SENTENCE, form) for form in sorted(forms))
        for version in self._statements():
            org = organisation(version.scope)
            yield Mark(org, MarkKind.STATEMENT, normal_form(version.content))
            claim = claim_of(version)
            if claim is not None:
                yield Mark(org, MarkKind.CLAIM, f"{claim}::{value_of(version)}")
        yield from self._beside(frozenset(forms))
        org = organisation(next(iter(self._gone.values()))[-1].scope)
        for claim_value in self._told():
            yield Mark(org, MarkKind.VALUE, claim_value.value)
            yield from (Mark(org, MarkKind.ECHO, f"{claim_value.value}\0{word}") for word in sorted(claim_value.about))

    def _beside(self, forms: Collection[str]) -> Iterator[Mark]:
        """Return marks for the neighbours of erased sentences: they tell an old transcript from a new statement."""
        segments = [versions[-1] for versions in self._gone.values() if versions[-1].is_segment]
        segments += [
            self._history(AtomId(segment_id))[-1]
            for segment_id in dict.fromkeys(segment_id for segment_id, _ in self._spans)
        ]
        for segment in segments:
            org = organisation(segment.scope)
            for _, _, form, near in beside([passage.text for passage in passages_of(segment)]):
                if form in forms:
                    yield from (Mark(org, MarkKind.BESIDE, f"{form}\0{neighbour}") for neighbour in near)


def _forms(atom: Atom) -> Iterator[str]:
    """Return the specific sentences of an atom, in normal form."""
    for passage in passages_of(atom):
        for start, end in sentences(passage.text):
            form = normal_form(passage.text[start:end])
            if is_telling(form):
                yield form


def _said(segment: Atom, spans: Mapping[int, Sequence[Span]]) -> Iterator[str]:
    for passage in passages_of(segment):
        for start, end in spans.get(passage.n, ()):
            yield normal_form(passage.text[start:end])


def _clean(metadata: Mapping[str, str], sought: Sought) -> dict[str, str]:
    return {name: sought.struck(value) for name, value in metadata.items()}


def _is_of(name: str, topics: Collection[str]) -> bool:
    stems = analyse(name)
    return normal_form(name) in topics or (bool(stems) and all(stem in topics for stem in stems))
