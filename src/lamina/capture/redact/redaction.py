"""Secrets are taken out of a text before anything is written, embedded, logged or hashed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lamina.capture.redact.addresses import find_addresses
from lamina.capture.redact.assigned import find_assigned
from lamina.capture.redact.blocks import find_blocks
from lamina.capture.redact.formats import find_formats
from lamina.capture.redact.keyed import find_keyed
from lamina.capture.redact.personal import find_personal
from lamina.capture.redact.span import Finder, Span


@dataclass(frozen=True, slots=True)
class Secret:
    """What was taken out and where its mark stands in the redacted text; the secret itself is kept nowhere."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets."""

    text: str
    found: tuple[Secret, ...] = ()

    def __str__(self) -> str:
        """One line for a receipt: how many secrets were taken out, and of what sort."""
        if not self.found:
            return "no secrets were found"
        sorts = Counter(secret.name for secret in self.found)
        told = ", ".join(name if count == 1 else f"{name} ({count} times)" for name, count in sorts.items())
        count = len(self.found)
        return f"{count} {'secret was' if count == 1 else 'secrets were'} taken out: {told}"


_SECRETS: tuple[Finder, ...] = (find_blocks, find_formats, find_keyed, find_addresses, find_assigned)
"""In the order in which a name is believed: what has a format of its own first, what is only called a secret last."""


def redact(text: str, *, personal: bool = False) -> Redacted:
    """The text with a readable mark in place of every secret.

    `personal` also takes out card, account, social security and passport numbers. E-mail addresses and telephone
    numbers stay: a memory is usually asked to keep them.
    """
    finders = (*_SECRETS, find_personal) if personal else _SECRETS
    spans = [(span, rank) for rank, finder in enumerate(finders) for span in finder(text)]
    return _marked(text, _joined(spans)) if spans else Redacted(text)


def _joined(spans: Iterable[tuple[Span, int]]) -> list[Span]:
    """Spans in order without overlap: those that touch become one, called what the best finder called it."""
    joined: list[tuple[Span, int]] = []
    for span, rank in sorted(spans, key=lambda each: (each[0].start, each[1], -each[0].end)):
        if joined and span.start < joined[-1][0].end:
            last, best = joined[-1]
            name = span.name if rank < best else last.name
            joined[-1] = Span(last.start, max(last.end, span.end), name), min(rank, best)
        else:
            joined.append((span, rank))
    return [span for span, _ in joined]


def _marked(text: str, spans: Sequence[Span]) -> Redacted:
    pieces: list[str] = []
    found: list[Secret] = []
    length = at = 0
    for span in spans:
        mark = f"[redacted: {span.name}]"
        pieces += [text[at : span.start], mark]
        length += span.start - at
        found.append(Secret(span.name, length, length + len(mark)))
        length += len(mark)
        at = span.end
    return Redacted("".join([*pieces, text[at:]]), tuple(found))
