"""Rewrites the atoms that an erasure leaves: without the erased words, and with their evidence where it is now."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from lamina.atom.atom import (
    TOPICS_PAGE,
    Atom,
    AtomId,
    Evidence,
    change_generated_section,
    extract_user_text,
    has_generated_section,
    replace_generated_section,
    root_page_name,
)
from lamina.atom.metadata import map_texts
from lamina.atom.provenance import TRUST, Origin
from lamina.atom.sentence_erasure import ERASED_MARK, RemovalTarget, remove_linked_lines, shift_evidence
from lamina.capture.box import find_topics
from lamina.review.erased_passages import ErasedPassages, is_run_note
from lamina.review.erasure_reads import ErasureReads
from lamina.text.analyser import analyse
from lamina.text.normal_form import normal_form


class AtomRewriting:
    """Rewrites every version of the atoms that contain erased words, list erased atoms, or rest on text that moved.

    `target` recognises all erased words, `own` those that no other memory has. What is emptied is added to `erased`.
    """

    def __init__(
        self,
        reads: ErasureReads,
        erased: dict[AtomId, list[Atom]],
        passages: ErasedPassages,
        target: RemovalTarget,
        own: RemovalTarget,
        trust: float,
        everywhere: bool,
    ) -> None:
        self._reads, self._erased, self._passages = reads, erased, passages
        self._target, self._own, self._trust, self._everywhere = target, own, trust, everywhere

    def rewrite(self, mentioning: Sequence[Atom]) -> dict[AtomId, Sequence[Atom]]:
        """Return the rewritten atoms with all versions, oldest first."""
        segments = {head.id: head for head in (*mentioning, *self._reads.atoms(self._passages.contents))}
        rewritten: dict[AtomId, Sequence[Atom]] = {}
        for segment in segments.values():
            if segment.is_segment and (segment.id in self._passages.contents or self._may_quote(segment)):
                self._add(rewritten, segment, self._rewrite_segment(segment))
        return rewritten | self._rewrite_others(mentioning)

    def _rewrite_segment(self, segment: Atom) -> list[Atom]:
        history = self._reads.history(segment.id)
        contents = self._passages.contents.get(segment.id) or [version.content for version in history]
        return [
            self._redact_metadata(version.with_(content=content))
            for version, content in zip(history, contents, strict=True)
        ]

    def _rewrite_others(self, mentioning: Sequence[Atom]) -> dict[AtomId, Sequence[Atom]]:
        rewritten: dict[AtomId, Sequence[Atom]] = {}
        erased_count = -1
        while erased_count != len(self._erased):
            erased_count, rewritten = len(self._erased), {}
            resting = self._reads.atoms_resting_on(self._passages.moved_places())
            linked = self._reads.linked_to([*self._erased])
            heads = {head.id: head for head in (*mentioning, *resting, *linked, *self._topic_pages())}
            for head in heads.values():
                if head.id in self._erased or head.is_segment:
                    continue
                versions = [self._rewrite_version(version) for version in self._reads.history(head.id)]
                if self._is_emptied(head, versions[-1]):
                    self._erased[head.id] = self._reads.history(head.id)
                else:
                    self._add(rewritten, head, versions)
        return rewritten

    def _add(self, rewritten: dict[AtomId, Sequence[Atom]], head: Atom, versions: Sequence[Atom]) -> None:
        if versions != self._reads.history(head.id):
            rewritten[head.id] = versions

    def _topic_pages(self) -> list[Atom]:
        """Return the topics pages: their lines are words of statements without being sentences of them."""
        pages = self._reads.matching(kinds=frozenset({"entity"}))
        return [page for page in pages if root_page_name(page.metadata) == TOPICS_PAGE]

    def _rewrite_version(self, atom: Atom) -> Atom:
        evidence = tuple(
            dict.fromkeys(
                shift_evidence(item, self._passages.spans.get((item.segment, item.passage), ()))
                for item in atom.evidence
                if item.segment not in self._erased
            )
        )
        rewritten = self._redact_metadata(atom.with_(content=self._rewrite_content(atom), evidence=evidence))
        if evidence and atom.session_id in self._erased_sessions():
            rewritten = rewritten.with_(session_id=self._session_of(evidence))
            rewritten = rewritten.with_(episode_id=rewritten.default_episode_id)
        is_changed_box = atom.kind == "box" and rewritten.content != atom.content
        return self._rewrite_box_heading(rewritten) if is_changed_box else rewritten

    def _rewrite_content(self, atom: Atom) -> str:
        """Return the content without erased words: of a list or page without the lines about erased atoms, of any other
        atom without what it has from them."""
        content = atom.content
        if root_page_name(atom.metadata) == TOPICS_PAGE:
            content = replace_generated_section(content, "# Topics")
        if self._everywhere:
            unlisted = remove_linked_lines(content, self._erased.keys())
            return self._target.remove_from(unlisted, match_values=atom.origin is Origin.DREAM)
        if has_generated_section(content):
            return change_generated_section(content, self._remove_from_list)
        if atom.kind == "box":
            return self._remove_from_list(content)
        if self._is_derived(atom):
            return self._target.remove_from(content, match_values=atom.origin is Origin.DREAM)
        if (is_run_note(atom) or atom.kind == "block") and self._may_quote(atom):
            return self._own.remove_from(content)
        return content

    def _remove_from_list(self, text: str) -> str:
        """Return a list without the lines about erased atoms, and without erased words in lines about no atom."""
        lines = remove_linked_lines(text, self._erased.keys()).split("\n")
        return "\n".join(
            line if line.startswith("- [[") else self._target.remove_from(line, match_values=True) for line in lines
        )

    def _is_derived(self, atom: Atom) -> bool:
        says_the_same = self._passages.says_the_same(atom, self._trust)
        return says_the_same or not self._erased.keys().isdisjoint(atom.derived_from)

    def _may_quote(self, atom: Atom) -> bool:
        """Return whether quotes of the words may be taken from an atom: it is not more trusted than they are."""
        return self._everywhere or TRUST[atom.origin] <= self._trust

    def _redact_metadata(self, atom: Atom) -> Atom:
        if not self._may_quote(atom):
            return atom
        metadata = {name: map_texts(value, self._own.remove_from) for name, value in atom.metadata.items()}
        return atom.with_(metadata=metadata)

    def _erased_sessions(self) -> set[str | None]:
        return {versions[-1].session_id for versions in self._erased.values() if versions[-1].is_segment}

    def _session_of(self, evidence: Sequence[Evidence]) -> str | None:
        """Return the session of the remaining evidence, instead of an erased one."""
        segments = self._reads.atoms(AtomId(item.segment) for item in evidence)
        return next((segment.session_id for segment in segments), None)

    def _rewrite_box_heading(self, box: Atom) -> Atom:
        """Return a box whose heading and tags only name what it still contains."""
        remaining = tuple(atom_id for atom_id in box.derived_from if atom_id not in self._erased)
        topics = frozenset(topic for atom in self._reads.atoms(remaining) for topic in find_topics(atom))
        heading, newline, rest = box.content.partition("\n")
        names = [name for name in heading.removeprefix("# ").split(", ") if _matches_topics(name, topics)]
        tags = tuple(tag for tag in box.tags if tag in topics)
        return box.with_(content=f"# {', '.join(names)}{newline}{rest}", tags=tags, derived_from=remaining)

    def _is_emptied(self, head: Atom, rewritten: Atom) -> bool:
        """Return whether nothing is left of an atom."""
        if head.kind == "box":
            return not rewritten.derived_from or "- [[" not in rewritten.content
        if has_generated_section(head.content):
            has_text = "- [[" in rewritten.content or extract_user_text(rewritten.content)
            return rewritten.content != head.content and not has_text
        return rewritten.content != head.content and not normal_form(rewritten.content.replace(ERASED_MARK, " "))


def _matches_topics(name: str, topics: Collection[str]) -> bool:
    stems = analyse(name)
    return normal_form(name) in topics or (bool(stems) and all(stem in topics for stem in stems))
