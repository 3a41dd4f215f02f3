"""Secrets are replaced in a text before anything is written, embedded, logged or hashed."""

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
    """The name of a redacted secret and where its mark is in the redacted text; the secret itself is not stored."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets."""

    text: str
    found: tuple[Secret, ...] = ()

    def __str__(self) -> str:
        """Return one line for a receipt: how many secrets were replaced, and of which types."""
        if not self.found:
            return "no secrets were found"
        counts_by_name = Counter(secret.name for secret in self.found)
        names = ", ".join(name if count == 1 else f"{name} ({count} times)" for name, count in counts_by_name.items())
        count = len(self.found)
        return f"{count} {'secret' if count == 1 else 'secrets'} redacted: {names}"


_SECRETS: tuple[Finder, ...] = (find_blocks, find_formats, find_keyed, find_addresses, find_assigned)
"""The finders in the order in which their names are preferred: a format first, a mere label last."""


def redact(text: str, *, personal: bool = False) -> Redacted:
    """Return the text with a readable mark in place of every secret.

    `personal` also replaces card, account, social security and passport numbers. E-mail addresses and telephone numbers
    stay, as a memory is usually asked to store them.
    """
    finders = (*_SECRETS, find_personal) if personal else _SECRETS
    spans = [(span, rank) for rank, finder in enumerate(finders) for span in finder(text)]
    return _marked(text, _joined(spans)) if spans else Redacted(text)


def _joined(spans: Iterable[tuple[Span, int]]) -> list[Span]:
    """Return the spans in order, overlapping ones merged under the name of the preferred finder."""
    merged: list[tuple[Span, int]] = []
    for span, rank in sorted(spans, key=lambda entry: (entry[0].start, entry[1], -entry[0].end)):
        if merged and span.start < merged[-1][0].end:
            last, best_rank = merged[-1]
            name = span.name if rank < best_rank else last.name
            merged[-1] = Span(last.start, max(last.end, span.end), name), min(rank, best_rank)
        else:
            merged.append((span, rank))
    return [span for span, _ in merged]


def _marked(text: str, spans: Sequence[Span]) -> Redacted:
    parts: list[str] = []
    secrets: list[Secret] = []
    length = position = 0
    for span in spans:
        mark = f"[redacted: {span.name}]"
        parts += [text[position : span.start], mark]
        length += span.start - position
        secrets.append(Secret(span.name, length, length + len(mark)))
        length += len(mark)
        position = span.end
    return Redacted("".join([*parts, text[position:]]), tuple(secrets))
