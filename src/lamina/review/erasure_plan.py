"""What an erasure takes away: the statements, the sentences they rest on, copies of them, and what was made of them."""

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
"""Words of a subject or attribute that stand in any sentence."""
_SPOKEN = (Origin.HUMAN, Origin.AGENT)
AT_ONCE = 2000
_TELLING_VALUE = 6
"""A value of fewer letters, in one word and without a digit, stands in sentences that are about something else."""
_LEAST_WORDS = 5
"""Of a session that goes as a whole, a sentence of fewer words is not sought in other words."""

Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Plan:
    """Atoms of which nothing stays, other atoms with all their versions as they are told from now on, and by what
    marks all of it is known again. `everywhere` is struck from files; `sentences` counts those struck from words."""

    gone: Mapping[AtomId, Sequence[Atom]]
    retold: Mapping[AtomId, Sequence[Atom]]
    marks: tuple[Mark, ...]
    everywhere: Sought
    sentences: int
    position: int


class Planner:
    """Finds everything that goes with some atoms, in the scopes a person may read."""

    def __init__(self, store: Store, scopes: Sequence[Scope]) -> None:
        self._store, self._scopes = store, tuple(scopes)
        self._histories: dict[AtomId, list[Atom]] = {}
        self._gone: dict[AtomId, list[Atom]] = {}
        self._places: dict[Place, set[str]] = {}
        self._sentences: set[str] = set()
        self._whole: set[str] = set()

    def plan(self, targets: Sequence[Atom]) -> Plan:
        """What goes when these atoms go."""
        position = self._store.position()
        fresh = list(targets)
        while fresh:
            self._condemn(fresh)
            fresh = self._copies(fresh)
        sought = Sought([*self._sentences, *self._contents()], [*self._told()])
        found = self._store.erasures.mentioning(sought.words | self._gone.keys(), self._scopes)
        segments = self._struck_segments(found, sought)
        retold = self._others(found, sought, segments)
        kept = {atom_id: versions for atom_id, (versions, _) in segments.items() if atom_id not in self._gone}
        struck = {form for _, spans in segments.values() for form in spans}
        everywhere = Sought([*sought.forms, *struck, *self._whole], sought.told)
        return Plan(
            self._gone,
            {**kept, **retold},
            tuple(self._marks(everywhere.forms)),
            everywhere,
            sum(len(forms) for _, forms in segments.values()),
            position,
        )

    def _history(self, atom_id: AtomId) -> list[Atom]:
        if atom_id not in self._histories:
            self._histories[atom_id] = [version.atom for version in self._store.versions(atom_id)]
        return self._histories[atom_id]

    def _read(self, ids: Iterable[AtomId]) -> list[Atom]:
        wanted = tuple(dict.fromkeys(ids))
        return self._store.read(Filter(scopes=self._scopes, ids=wanted)) if wanted else []

    def _condemn(self, atoms: Iterable[Atom]) -> None:
        """Nothing of these stays; what rests on nothing but a segment goes with it."""
        waiting = [each for each in atoms if each.id not in self._gone]
        while waiting:
            atom = waiting.pop()
            if atom.id in self._gone:
                continue
            self._gone[atom.id] = self._history(atom.id)
            if atom.is_segment:
                forms = (form for version in self._gone[atom.id] for form in _forms(version))
                self._whole |= {form for form in forms if " " not in form or form.count(" ") >= _LEAST_WORDS - 1}
                waiting += self._resting_only_on_gone(atom)
        for versions in self._gone.values():
            for evidence in dict.fromkeys(each for version in versions for each in version.evidence):
                self._note_sentence(evidence)

    def _resting_only_on_gone(self, segment: Atom) -> list[Atom]:
        keys = {(segment.id, passage.n) for version in self._history(segment.id) for passage in passages_of(version)}
        found = self._read(rest.atom_id for rest in self._store.resting(keys, self._scopes))
        return [atom for atom in found if all(each.segment in self._gone for each in atom.evidence)]

    def _note_sentence(self, evidence: Evidence) -> None:
        """The sentence that evidence names, and the same one where somebody mended it later."""
        segment, place = AtomId(evidence.segment), (evidence.segment, evidence.passage)
        if segment in self._gone or not self._read([segment]):
            return
        forms = self._places.setdefault(place, set())
        known: list[str] = []
        for text in self._texts(segment, evidence.passage):
            if not known:
                known = [text[start:end] for start, end in overlapping(text, evidence.start, evidence.end)]
                found = known
            else:
                every = (text[start:end] for start, end in sentences(text))
                found = [each for each in every if any(alike(each, one) for one in known)]
            forms |= {normal_form(each) for each in found}
        self._sentences |= forms

    def _texts(self, segment: AtomId, n: int) -> list[str]:
        passages = (passage_of(version, n) for version in self._history(segment))
        return list(dict.fromkeys(passage.text for passage in passages if passage is not None))

    def _copies(self, atoms: Iterable[Atom]) -> list[Atom]:
        """Other statements that say the same: in the same words, or the same value of the same claim."""
        found: dict[AtomId, Atom] = {}
        for atom in atoms:
            for version in self._gone[atom.id]:
                if version.is_segment or traits(version.kind).lists:
                    continue
                if normal_form(version.content):
                    same = self._store.read(Filter(scopes=self._scopes, contents=(version.content,)))
                    found |= {each.id: each for each in same}
                claim = claim_of(version)
                if claim is not None:
                    rivals = self._store.read(Filter(scopes=self._scopes, claims=(str(claim),)))
                    found |= {rival.id: rival for rival in rivals if value_of(rival) == value_of(version)}
        return [each for each in found.values() if each.id not in self._gone and not each.is_segment]

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
            # A sentence as it was said has no attribute: its other words tell what the value is of.
            named = version.attribute or (version.content if version.evidence else "")
            about = frozenset(normal_form(f"{version.subject} {named}").split()) - _SAYS_NOTHING - set(value.split())
            if len(value) >= _TELLING_VALUE or " " in value or any(map(str.isdigit, value)):
                yield Told(value, about)

    def _struck_segments(self, found: Iterable[AtomId], sought: Sought) -> dict[AtomId, tuple[list[Atom], list[str]]]:
        """The segments that hold any of it, every version without it, and the sentences struck from the last."""
        named = [AtomId(segment) for segment, _ in self._places]
        struck: dict[AtomId, tuple[list[Atom], list[str]]] = {}
        self._spans: dict[Place, list[Span]] = {}
        for head in self._read([*named, *found]):
            if not head.is_segment or head.id in self._gone:
                continue
            versions: list[Atom] = []
            forms: list[str] = []
            for version in self._history(head.id):
                choose = self._chooser(version, sought)
                content, spans = struck_segment(version.content, choose)
                versions.append(version.with_(content=content, metadata=_clean(version.metadata, sought)))
                if version.revision == head.revision:
                    self._spans |= {(head.id, n): each for n, each in spans.items()}
                    forms = [*_said(version, spans)]
            if versions != self._history(head.id):
                struck[head.id] = versions, forms
        return struck

    def _chooser(self, segment: Atom, sought: Sought) -> Callable[[Passage], list[Span]]:
        def choose(passage: Passage) -> list[Span]:
            here = self._places.get((segment.id, passage.n), set())
            echo = bool(here) or is_assistant(passage.speaker) or segment.origin not in _SPOKEN
            named = [span for span in sentences(passage.text) if normal_form(passage.text[slice(*span)]) in here]
            return [*sought.spans(passage.text, echo=echo), *named]

        return choose

    def _others(
        self, found: Iterable[AtomId], sought: Sought, segments: Collection[AtomId]
    ) -> dict[AtomId, Sequence[Atom]]:
        """The other atoms that tell any of it, link to it in a list, or rest on words that moved."""
        ids = dict.fromkeys(found)
        done: dict[AtomId, Sequence[Atom]] = {}
        before = -1
        while before != len(self._gone):
            before, done = len(self._gone), {}
            moved_places = [*self._spans, *self._gone_places()]
            resting = self._store.resting([(AtomId(one), n) for one, n in moved_places], self._scopes)
            rests, derived = (rest.atom_id for rest in resting), self._derived()
            for head in self._read([*ids, *rests, *derived]):
                if head.id in self._gone or head.is_segment:
                    continue
                versions = [self._retold(each, sought) for each in self._history(head.id)]
                if self._is_over(head, versions[-1]):
                    self._gone[head.id] = self._history(head.id)
                elif versions != self._history(head.id):
                    done[head.id] = versions
        return done

    def _derived(self) -> Iterator[AtomId]:
        """What links to an atom that is gone."""
        ids = list(self._gone)
        for start in range(0, len(ids), AT_ONCE):
            yield from (edge.source for edge in self._store.edges(ids[start : start + AT_ONCE], self._scopes))

    def _gone_places(self) -> Iterator[Place]:
        for atom_id, versions in self._gone.items():
            if versions[-1].is_segment:
                yield from {(atom_id, passage.n) for version in versions for passage in passages_of(version)}

    def _retold(self, atom: Atom, sought: Sought) -> Atom:
        listed = lines_without(atom.content, self._gone.keys())
        content = sought.struck(listed, echo=atom.origin is Origin.DREAM)
        evidence = tuple(
            dict.fromkeys(
                moved(each, self._spans.get((each.segment, each.passage), ()))
                for each in atom.evidence
                if each.segment not in self._gone
            )
        )
        told = atom.with_(content=content, evidence=evidence, metadata=_clean(atom.metadata, sought))
        if evidence and atom.session_id in self._sessions():
            told = told.with_(session_id=self._session_of(evidence))
        return self._reheaded(told) if atom.kind == "box" and content != atom.content else told

    def _sessions(self) -> set[str | None]:
        return {versions[-1].session_id for versions in self._gone.values() if versions[-1].is_segment}

    def _session_of(self, evidence: Sequence[Evidence]) -> str | None:
        """Where what stays was said, other than in a session that is gone."""
        return next((each.session_id for each in self._read(AtomId(one.segment) for one in evidence)), None)

    def _reheaded(self, box: Atom) -> Atom:
        """A box whose heading and tags are of what it still holds."""
        left = tuple(each for each in box.derived_from if each not in self._gone)
        topics = frozenset(topic for each in self._read(left) for topic in topics_of(each))
        heading, newline, rest = box.content.partition("\n")
        names = [each for each in heading.removeprefix("# ").split(", ") if _is_of(each, topics)]
        tags = tuple(tag for tag in box.tags if tag in topics)
        return box.with_(content=f"# {', '.join(names)}{newline}{rest}", tags=tags, derived_from=left)

    def _is_over(self, head: Atom, told: Atom) -> bool:
        """Whether nothing is left of an atom, or it was made by a machine from what is gone."""
        if head.kind == "box":
            return not told.derived_from or "- [[" not in told.content
        if is_page(head.content):
            return told.content != head.content and "- [[" not in told.content and not own_words(told.content)
        made = head.origin is Origin.DREAM and any(each in self._gone for each in head.derived_from)
        return made or not normal_form(told.content.replace(ERASED, " "))

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
        for told in self._told():
            yield Mark(org, MarkKind.VALUE, told.value)
            yield from (Mark(org, MarkKind.ECHO, f"{told.value}\0{word}") for word in sorted(told.about))

    def _beside(self, forms: Collection[str]) -> Iterator[Mark]:
        """What stood next to the sentences that go: by it an old transcript is told from a person who says it anew."""
        segments = [versions[-1] for versions in self._gone.values() if versions[-1].is_segment]
        segments += [self._history(AtomId(fromkey))[-1] for fromkey in dict.fromkeys(one for one, _ in self._spans)]
        for segment in segments:
            org = organisation(segment.scope)
            for _, _, form, near in beside([passage.text for passage in passages_of(segment)]):
                if form in forms:
                    yield from (Mark(org, MarkKind.BESIDE, f"{form}\0{each}") for each in near)


def _forms(atom: Atom) -> Iterator[str]:
    """The sentences of an atom that are somebody's in particular, in normal form."""
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
