"""The guidelines of a scope: short lines, learnt from use or written by a person, that extraction follows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from lamina.atom.atom import GUIDELINES_PAGE, extract_generated_section, extract_user_text, root_page_name
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import Status
from lamina.capture.extractor import Extractor
from lamina.store.base import AtomFilter, Store
from lamina.text.normal_form import one_line

MAX_GUIDELINES = 20
MAX_GUIDELINE_CHARS = 200


class GuidedExtractor(ABC):
    """An extractor that can follow guidelines."""

    @abstractmethod
    def following(self, guidelines: Sequence[str]) -> Extractor:
        """Return the extractor that follows these lines."""


def follow_guidelines(extractor: Extractor, store: Store, scope: Scope) -> Extractor:
    """Return the extractor with the guidelines of a scope; one that words nothing itself stays as it is."""
    if not isinstance(extractor, GuidedExtractor):
        return extractor
    guidelines = read_guidelines(store, scope)
    return extractor.following(guidelines) if guidelines else extractor


def read_guidelines(store: Store, scope: Scope) -> tuple[str, ...]:
    """Return the lines of the guidelines page, a person's first. No agent can write on it: dreams and people do."""
    pages = store.atoms.read(
        AtomFilter(
            scopes=(scope,), kinds=frozenset({"entity"}), subject=GUIDELINES_PAGE, statuses=frozenset({Status.ACTIVE})
        )
    )
    own_pages = (page for page in pages if root_page_name(page.metadata) == GUIDELINES_PAGE)
    page = next((page for page in own_pages if page.origin is Origin.DREAM), None)
    if page is None:
        return ()
    texts = extract_user_text(page.content), extract_generated_section(page.content)
    return tuple(line for text in texts for line in _list_lines(text))[:MAX_GUIDELINES]


def _list_lines(text: str) -> Iterator[str]:
    """Yield the list items of a text."""
    for line in text.splitlines():
        if line.startswith(("- ", "* ")) and (item := one_line(line[2:])):
            yield item[:MAX_GUIDELINE_CHARS]
