"""The passages that lose a sentence in an erasure: those an erased atom rests on, and an assistant's echo of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from lamina.atom.atom import Atom, AtomId, Evidence
from lamina.atom.kinds import Layer
from lamina.atom.passage import Passage, is_assistant, passage_of, passages_of
from lamina.atom.provenance import TRUST, Origin, Scope
from lamina.atom.sentence_erasure import (
    RemovalTarget,
    Span,
    are_similar_sentences,
    erase_in_segment,
    overlapping_sentences,
)
from lamina.review.erasure_reads import ErasureReads
from lamina.text.normal_form import normal_form
from lamina.text.sentences import find_sentences

PassageKey = tuple[str, int]
_SPEAKER_ORIGINS = (Origin.HUMAN, Origin.AGENT)


class ErasedPassages:
    """Collects the places of the sentences that erased atoms rest on, and strikes them from the segments."""

    def __init__(self, reads: ErasureReads, erased: Collection[AtomId], *, everywhere: bool) -> None:
        self._reads, self._erased, self._everywhere = reads, erased, everywhere
        self._forms: dict[PassageKey, set[str]] = {}
        self._sessions: set[tuple[Scope, str | None]] = set()
        """The sessions of the places: an assistant's echo there repeats them."""
        self.contents: dict[AtomId, list[str]] = {}
        """The text of every version of each segment that loses a sentence."""
        self.spans: dict[PassageKey, list[Span]] = {}
        """What is struck from the current version."""

    def add_evidence_of(self, versions: Sequence[Atom]) -> Iterator[set[str]]:
        """Add the sentences that an erased atom rests on; yield their normal forms.

        Words that are trusted more than the atom stay: it only reports them.
        """
        evidence = dict.fromkeys(item for version in versions for item in version.evidence)
        segments = {segment.id: segment for segment in self._reads.atoms(AtomId(item.segment) for item in evidence)}
        for item in evidence:
            segment = segments.get(AtomId(item.segment))
            if segment is None or segment.id in self._erased:
                continue
            if self._everywhere or TRUST[segment.origin] <= TRUST[versions[-1].origin]:
                self._sessions.add((segment.scope, segment.session_id))
                yield self._add_sentences(item)

    def _add_sentences(self, evidence: Evidence) -> set[str]:
        """Add the sentence that evidence names, and its edited forms in later versions."""
        forms = self._forms.setdefault((evidence.segment, evidence.passage), set())
        originals: list[str] = []
        for text in self._texts(AtomId(evidence.segment), evidence.passage):
            if not originals:
                spans = overlapping_sentences(text, evidence.start, evidence.end)
                matches = originals = [text[start:end] for start, end in spans]
            else:
                sentences = (text[start:end] for start, end in find_sentences(text))
                matches = [one for one in sentences if any(are_similar_sentences(one, other) for other in originals)]
            forms |= {normal_form(sentence) for sentence in matches}
        return forms

    def _texts(self, segment: AtomId, n: int) -> list[str]:
        passages = (passage_of(version, n) for version in self._reads.history(segment))
        return list(dict.fromkeys(passage.text for passage in passages if passage is not None))

    def strike(self, mentioning: Iterable[Atom], target: RemovalTarget, trust: float) -> dict[AtomId, list[str]]:
        """Strike the sentences from all segments concerned; return the normal forms of what each of them loses."""
        cited = self._reads.atoms(AtomId(segment) for segment, _ in self._forms)
        removed: dict[AtomId, list[str]] = {}
        for head in {head.id: head for head in (*cited, *mentioning)}.values():
            if not head.is_segment or head.id in self._erased:
                continue
            history = self._reads.history(head.id)
            choose = self._span_chooser(head, target, trust)
            struck = [erase_in_segment(version.content, choose) for version in history]
            if any(spans for _, spans in struck):
                self.contents[head.id] = [content for content, _ in struck]
                self.spans |= {(head.id, n): spans for n, spans in struck[-1][1].items()}
                removed[head.id] = [*_span_forms(head, struck[-1][1])]
        return removed

    def _span_chooser(self, segment: Atom, target: RemovalTarget, trust: float) -> Callable[[Passage], list[Span]]:
        session = (segment.scope, segment.session_id)
        is_echo = segment.session_id is not None and session in self._sessions and TRUST[segment.origin] <= trust

        def choose(passage: Passage) -> list[Span]:
            forms = self._forms.get((segment.id, passage.n), set())
            cited = [span for span in find_sentences(passage.text) if normal_form(passage.text[slice(*span)]) in forms]
            if self._everywhere:
                is_repeat = forms or is_assistant(passage.speaker) or segment.origin not in _SPEAKER_ORIGINS
                return [*target.find_spans(passage.text, match_values=bool(is_repeat)), *cited]
            if forms or (is_echo and is_assistant(passage.speaker)):
                return [*target.find_spans(passage.text, match_values=True), *cited]
            return []

        return choose

    def spans_of(self, segment: AtomId) -> dict[int, list[Span]]:
        """Return what the current version of a segment loses, by passage."""
        return {n: spans for (segment_id, n), spans in self.spans.items() if segment_id == segment}

    def says_the_same(self, atom: Atom, trust: float) -> bool:
        """Return whether an atom was made from a struck sentence, and is not trusted more than this."""
        is_resting = any(
            start < evidence.end and evidence.start < end
            for evidence in atom.evidence
            for start, end in self.spans.get((evidence.segment, evidence.passage), ())
        )
        return is_resting and TRUST[atom.origin] <= trust and self._reads.is_made_from_others(atom)

    def moved_places(self) -> set[tuple[AtomId, int]]:
        """Return the passages whose text is shorter now, and those of erased segments."""
        places = {(AtomId(segment), n) for segment, n in self.spans}
        for atom_id in self._erased:
            for version in self._reads.history(atom_id):
                if version.is_segment:
                    places |= {(atom_id, passage.n) for passage in passages_of(version)}
        return places


def is_run_note(atom: Atom) -> bool:
    """Return whether an atom is a note of a run, which repeats what the run used."""
    return atom.layer is Layer.WORKING and atom.run_id is not None


def _span_forms(segment: Atom, spans: Mapping[int, Sequence[Span]]) -> Iterator[str]:
    for passage in passages_of(segment):
        for start, end in spans.get(passage.n, ()):
            yield normal_form(passage.text[start:end])
