"""Plans an erasure: the statements, the sentences they rest on, copies of them, and what was derived from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lamina.atom.atom import (
    TOPICS_PAGE,
    Atom,
    AtomId,
    Evidence,
    extract_user_text,
    has_generated_section,
    replace_generated_section,
    root_page_name,
)
from lamina.atom.claim import claim_of, comparable_value
from lamina.atom.kinds import kind_traits
from lamina.atom.metadata import Metadata, map_texts
from lamina.atom.passage import ROLE_NAMES, Passage, is_assistant, passage_of, passages_of
from lamina.atom.provenance import Origin, Scope, organisation_name
from lamina.atom.sentence_removal import (
    ERASED_MARK,
    RemovalTarget,
    Span,
    TargetValue,
    are_similar_sentences,
    erase_in_segment,
    is_distinctive,
    overlapping_sentences,
    remove_linked_lines,
    sentences_with_neighbours,
    shift_evidence,
)
from lamina.capture.box import find_topics
from lamina.store.base import AtomFilter, Store
from lamina.store.erasure_fingerprints import FingerprintKind, FingerprintText
from lamina.text.analyser import STOP_WORDS, analyse
from lamina.text.normal_form import normal_form
from lamina.text.sentences import find_sentences

_UNSPECIFIC_WORDS = ROLE_NAMES | STOP_WORDS | {"s", "m", "profile"}
"""Words of a subject or attribute that occur in any sentence."""
_SPEAKER_ORIGINS = (Origin.HUMAN, Origin.AGENT)
BATCH_SIZE = 2000
_MIN_VALUE_CHARS = 6
"""A shorter value, of one word and without a digit, occurs in unrelated sentences."""
_MIN_SENTENCE_WORDS = 5
"""A shorter sentence of an erased session is not searched for elsewhere."""

PassageKey = tuple[str, int]


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """The erased atoms, other atoms with all versions rewritten, and the marks that recognise erased text.

    `search_terms` are removed from files; `sentence_count` counts the sentences removed from segments.
    """

    erased: Mapping[AtomId, Sequence[Atom]]
    rewritten: Mapping[AtomId, Sequence[Atom]]
    marks: tuple[FingerprintText, ...]
    search_terms: RemovalTarget
    sentence_count: int
    position: int


class ErasurePlanner:
    """Finds everything that is erased with some atoms, in the scopes that the person may read."""

    def __init__(self, store: Store, scopes: Sequence[Scope]) -> None:
        self._store, self._scopes = store, tuple(scopes)
        self._histories: dict[AtomId, list[Atom]] = {}
        self._erased: dict[AtomId, list[Atom]] = {}
        self._sentence_places: dict[PassageKey, set[str]] = {}
        self._sentences: set[str] = set()
        self._segment_sentences: set[str] = set()

    def plan(self, targets: Sequence[Atom]) -> ErasurePlan:
        """Return what is erased together with these atoms."""
        position = self._store.journal.position()
        new_atoms = list(targets)
        while new_atoms:
            self._add_erased(new_atoms)
            new_atoms = self._find_copies(new_atoms)
        terms = RemovalTarget([*self._sentences, *self._contents()], [*self._claim_values()])
        mentioning = self._store.admin.erasures.find_mentions(terms.words | self._erased.keys(), self._scopes)
        segments = self._redact_segments(mentioning, terms)
        rewritten = self._rewrite_others(mentioning, terms, segments)
        redacted = {atom_id: versions for atom_id, (versions, _) in segments.items() if atom_id not in self._erased}
        removed_forms = {form for _, spans in segments.values() for form in spans}
        all_terms = RemovalTarget([*terms.forms, *removed_forms, *self._segment_sentences], terms.values)
        sentence_count, marks = sum(len(forms) for _, forms in segments.values()), tuple(self._marks(all_terms.forms))
        return ErasurePlan(self._erased, {**redacted, **rewritten}, marks, all_terms, sentence_count, position)

    def _history(self, atom_id: AtomId) -> list[Atom]:
        if atom_id not in self._histories:
            self._histories[atom_id] = [version.atom for version in self._store.journal.versions(atom_id)]
        return self._histories[atom_id]

    def _read(self, ids: Iterable[AtomId]) -> list[Atom]:
        return self._store.atoms.read(AtomFilter(scopes=self._scopes, ids=tuple(dict.fromkeys(ids))))

    def _add_erased(self, atoms: Iterable[Atom]) -> None:
        """Mark atoms as erased, with those that rest on erased segments only."""
        queue = [atom for atom in atoms if atom.id not in self._erased]
        while queue:
            atom = queue.pop()
            if atom.id in self._erased:
                continue
            self._erased[atom.id] = self._history(atom.id)
            if atom.is_segment:
                forms = (form for version in self._erased[atom.id] for form in _sentence_forms(version))
                self._segment_sentences |= {
                    form for form in forms if " " not in form or form.count(" ") >= _MIN_SENTENCE_WORDS - 1
                }
                queue += self._resting_only_on_erased(atom)
        for versions in self._erased.values():
            for evidence in dict.fromkeys(item for version in versions for item in version.evidence):
                self._add_sentence(evidence)

    def _resting_only_on_erased(self, segment: Atom) -> list[Atom]:
        keys = {(segment.id, passage.n) for version in self._history(segment.id) for passage in passages_of(version)}
        atoms = self._read(rest.atom_id for rest in self._store.graph.find_evidence(keys, self._scopes).spans)
        return [atom for atom in atoms if all(evidence.segment in self._erased for evidence in atom.evidence)]

    def _add_sentence(self, evidence: Evidence) -> None:
        """Add the sentence that evidence names, and its edited forms in later versions."""
        segment, place = AtomId(evidence.segment), (evidence.segment, evidence.passage)
        if segment in self._erased or not self._read([segment]):
            return
        forms = self._sentence_places.setdefault(place, set())
        originals: list[str] = []
        for text in self._texts(segment, evidence.passage):
            if not originals:
                spans = overlapping_sentences(text, evidence.start, evidence.end)
                matches = originals = [text[start:end] for start, end in spans]
            else:
                sentences = (text[start:end] for start, end in find_sentences(text))
                matches = [one for one in sentences if any(are_similar_sentences(one, other) for other in originals)]
            forms |= {normal_form(sentence) for sentence in matches}
        self._sentences |= forms

    def _texts(self, segment: AtomId, n: int) -> list[str]:
        passages = (passage_of(version, n) for version in self._history(segment))
        return list(dict.fromkeys(passage.text for passage in passages if passage is not None))

    def _find_copies(self, atoms: Iterable[Atom]) -> list[Atom]:
        """Return other statements with the same text, or with the same value of the same claim."""
        copies: dict[AtomId, Atom] = {}
        for atom in atoms:
            for version in self._erased[atom.id]:
                if not _is_statement(version):
                    continue
                if normal_form(version.content):
                    same_text = self._store.atoms.read(AtomFilter(scopes=self._scopes, contents=(version.content,)))
                    copies |= {copied.id: copied for copied in same_text}
                claim = claim_of(version)
                if claim is not None:
                    rivals = self._store.atoms.read(AtomFilter(scopes=self._scopes, claims=(str(claim),)))
                    copies |= {
                        rival.id: rival for rival in rivals if comparable_value(rival) == comparable_value(version)
                    }
        return [copied for copied in copies.values() if copied.id not in self._erased and not copied.is_segment]

    def _statements(self) -> Iterator[Atom]:
        for versions in self._erased.values():
            yield from filter(_is_statement, versions)

    def _contents(self) -> Iterator[str]:
        for version in self._statements():
            if not has_generated_section(version.content):
                yield normal_form(version.content)
                yield from _sentence_forms(version)

    def _claim_values(self) -> Iterator[TargetValue]:
        for version in self._statements():
            value = normal_form(version.value or "")
            # An extracted sentence has no attribute: its other words say what the value belongs to.
            attribute_text = version.attribute or (version.content if version.evidence else "")
            context_words = frozenset(normal_form(f"{version.subject} {attribute_text}").split())
            if len(value) >= _MIN_VALUE_CHARS or " " in value or any(map(str.isdigit, value)):
                yield TargetValue(value, context_words - _UNSPECIFIC_WORDS - set(value.split()))

    def _redact_segments(
        self, mentioning: Iterable[AtomId], terms: RemovalTarget
    ) -> dict[AtomId, tuple[list[Atom], list[str]]]:
        """Return the segments that contain erased text: every version without it, and the removed sentences."""
        cited = [AtomId(segment) for segment, _ in self._sentence_places]
        redacted: dict[AtomId, tuple[list[Atom], list[str]]] = {}
        self._spans: dict[PassageKey, list[Span]] = {}
        for head in self._read([*cited, *mentioning]):
            if not head.is_segment or head.id in self._erased:
                continue
            versions: list[Atom] = []
            forms: list[str] = []
            for version in self._history(head.id):
                choose = self._span_chooser(version, terms)
                content, spans = erase_in_segment(version.content, choose)
                versions.append(version.with_(content=content, metadata=_redact_metadata(version.metadata, terms)))
                if version.revision == head.revision:
                    self._spans |= {(head.id, n): passage_spans for n, passage_spans in spans.items()}
                    forms = [*_span_forms(version, spans)]
            if versions != self._history(head.id):
                redacted[head.id] = versions, forms
        return redacted

    def _span_chooser(self, segment: Atom, terms: RemovalTarget) -> Callable[[Passage], list[Span]]:
        def choose(passage: Passage) -> list[Span]:
            forms = self._sentence_places.get((segment.id, passage.n), set())
            echo = bool(forms) or is_assistant(passage.speaker) or segment.origin not in _SPEAKER_ORIGINS
            cited = [span for span in find_sentences(passage.text) if normal_form(passage.text[slice(*span)]) in forms]
            return [*terms.find_spans(passage.text, match_values=echo), *cited]

        return choose

    def _rewrite_others(
        self, mentioning: Iterable[AtomId], terms: RemovalTarget, segments: Collection[AtomId]
    ) -> dict[AtomId, Sequence[Atom]]:
        """Return other atoms that contain erased text, list erased atoms, or rest on text that moved."""
        ids = dict.fromkeys(mentioning)
        rewritten: dict[AtomId, Sequence[Atom]] = {}
        erased_count = -1
        while erased_count != len(self._erased):
            erased_count, rewritten = len(self._erased), {}
            moved_places = [*self._spans, *self._erased_places()]
            resting = self._store.graph.find_evidence(
                [(AtomId(segment), n) for segment, n in moved_places], self._scopes
            ).spans
            resting_ids, linked = (citation.atom_id for citation in resting), self._linked_atoms()
            for head in self._read([*ids, *resting_ids, *linked, *self._topic_pages()]):
                if head.id in self._erased or head.is_segment:
                    continue
                versions = [self._rewrite(version, terms) for version in self._history(head.id)]
                if self._is_emptied(head, versions[-1]):
                    self._erased[head.id] = self._history(head.id)
                elif versions != self._history(head.id):
                    rewritten[head.id] = versions
        return rewritten

    def _topic_pages(self) -> Iterator[AtomId]:
        """Return the topics pages: their lines are words of statements without being sentences of them."""
        pages = self._store.atoms.read(AtomFilter(scopes=self._scopes, kinds=frozenset({"entity"})))
        return (page.id for page in pages if root_page_name(page.metadata) == TOPICS_PAGE)

    def _linked_atoms(self) -> Iterator[AtomId]:
        """Return atoms that link to an erased one."""
        ids = list(self._erased)
        for start in range(0, len(ids), BATCH_SIZE):
            yield from (edge.source for edge in self._store.graph.edges(ids[start : start + BATCH_SIZE], self._scopes))

    def _erased_places(self) -> Iterator[PassageKey]:
        for atom_id, versions in self._erased.items():
            if versions[-1].is_segment:
                yield from {(atom_id, passage.n) for version in versions for passage in passages_of(version)}

    def _rewrite(self, atom: Atom, terms: RemovalTarget) -> Atom:
        is_topics_page = root_page_name(atom.metadata) == TOPICS_PAGE
        listed = replace_generated_section(atom.content, "# Topics") if is_topics_page else atom.content
        unlisted = remove_linked_lines(listed, self._erased.keys())
        content = terms.remove_from(unlisted, match_values=atom.origin is Origin.DREAM)
        evidence = tuple(
            dict.fromkeys(
                shift_evidence(item, self._spans.get((item.segment, item.passage), ()))
                for item in atom.evidence
                if item.segment not in self._erased
            )
        )
        rewritten = atom.with_(content=content, evidence=evidence, metadata=_redact_metadata(atom.metadata, terms))
        if evidence and atom.session_id in self._sessions():
            rewritten = rewritten.with_(session_id=self._session_of(evidence))
            rewritten = rewritten.with_(episode_id=rewritten.default_episode_id)
        return self._rewrite_box_heading(rewritten) if atom.kind == "box" and content != atom.content else rewritten

    def _sessions(self) -> set[str | None]:
        return {versions[-1].session_id for versions in self._erased.values() if versions[-1].is_segment}

    def _session_of(self, evidence: Sequence[Evidence]) -> str | None:
        """Return the session of the remaining evidence, instead of an erased one."""
        return next((segment.session_id for segment in self._read(AtomId(item.segment) for item in evidence)), None)

    def _rewrite_box_heading(self, box: Atom) -> Atom:
        """Return a box whose heading and tags only name what it still contains."""
        remaining = tuple(atom_id for atom_id in box.derived_from if atom_id not in self._erased)
        topics = frozenset(topic for atom in self._read(remaining) for topic in find_topics(atom))
        heading, newline, rest = box.content.partition("\n")
        names = [name for name in heading.removeprefix("# ").split(", ") if _matches_topics(name, topics)]
        tags = tuple(tag for tag in box.tags if tag in topics)
        return box.with_(content=f"# {', '.join(names)}{newline}{rest}", tags=tags, derived_from=remaining)

    def _is_emptied(self, head: Atom, rewritten: Atom) -> bool:
        """Return whether nothing is left of an atom, or a dream derived it from an erased one."""
        if head.kind == "box":
            return not rewritten.derived_from or "- [[" not in rewritten.content
        if has_generated_section(head.content):
            has_text = "- [[" in rewritten.content or extract_user_text(rewritten.content)
            return rewritten.content != head.content and not has_text
        is_derived = head.origin is Origin.DREAM and any(atom_id in self._erased for atom_id in head.derived_from)
        return is_derived or not normal_form(rewritten.content.replace(ERASED_MARK, " "))

    def _marks(self, forms: Iterable[str]) -> Iterator[FingerprintText]:
        for org in sorted({organisation_name(versions[-1].scope) for versions in self._erased.values()}):
            yield from (FingerprintText(org, FingerprintKind.SENTENCE, form) for form in sorted(forms))
        for version in self._statements():
            org = organisation_name(version.scope)
            yield FingerprintText(org, FingerprintKind.STATEMENT, normal_form(version.content))
            claim = claim_of(version)
            if claim is not None:
                yield FingerprintText(org, FingerprintKind.CLAIM, f"{claim}::{comparable_value(version)}")
        yield from self._neighbour_marks(frozenset(forms))
        org = organisation_name(next(iter(self._erased.values()))[-1].scope)
        for claim_value in self._claim_values():
            yield FingerprintText(org, FingerprintKind.VALUE, claim_value.value)
            yield from (
                FingerprintText(org, FingerprintKind.VALUE_WITH_TOPIC, f"{claim_value.value}\0{word}")
                for word in sorted(claim_value.about)
            )

    def _neighbour_marks(self, forms: Collection[str]) -> Iterator[FingerprintText]:
        """Return marks for the neighbours of erased sentences: they tell an old transcript from a new statement."""
        segments = [versions[-1] for versions in self._erased.values() if versions[-1].is_segment]
        redacted = dict.fromkeys(AtomId(segment_id) for segment_id, _ in self._spans)
        segments += [self._history(segment_id)[-1] for segment_id in redacted]
        for segment in segments:
            org = organisation_name(segment.scope)
            for _, _, form, near in sentences_with_neighbours([passage.text for passage in passages_of(segment)]):
                if form in forms:
                    yield from (
                        FingerprintText(org, FingerprintKind.SENTENCE_WITH_NEIGHBOUR, f"{form}\0{neighbour}")
                        for neighbour in near
                    )


def _is_statement(atom: Atom) -> bool:
    return not atom.is_segment and not kind_traits(atom.kind).is_listing


def _sentence_forms(atom: Atom) -> Iterator[str]:
    """Return the specific sentences of an atom, in normal form."""
    for passage in passages_of(atom):
        for start, end in find_sentences(passage.text):
            form = normal_form(passage.text[start:end])
            if is_distinctive(form):
                yield form


def _span_forms(segment: Atom, spans: Mapping[int, Sequence[Span]]) -> Iterator[str]:
    for passage in passages_of(segment):
        for start, end in spans.get(passage.n, ()):
            yield normal_form(passage.text[start:end])


def _redact_metadata(metadata: Metadata, terms: RemovalTarget) -> Metadata:
    return {name: map_texts(value, terms.remove_from) for name, value in metadata.items()}


def _matches_topics(name: str, topics: Collection[str]) -> bool:
    stems = analyse(name)
    return normal_form(name) in topics or (bool(stems) and all(stem in topics for stem in stems))
