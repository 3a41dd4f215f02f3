"""Secrets are replaced in a text before anything is written, embedded, logged or hashed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lamina.capture.redact.credentials import find_credentials
from lamina.capture.redact.key_blocks import find_key_blocks
from lamina.capture.redact.named_secrets import find_named_secrets
from lamina.capture.redact.personal_numbers import find_personal_numbers
from lamina.capture.redact.provider_keywords import find_provider_secrets
from lamina.capture.redact.secret_formats import find_formatted_secrets
from lamina.capture.redact.secret_span import SecretFinder, SecretSpan


@dataclass(frozen=True, slots=True)
class RedactedSecret:
    """The name of a redacted secret and where its mark is in the redacted text; the secret itself is not stored."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RedactedText:
    """A text without its secrets."""

    text: str
    secrets: tuple[RedactedSecret, ...] = ()

    def __str__(self) -> str:
        """Return one line for a receipt: how many secrets were replaced, and of which types."""
        if not self.secrets:
            return "no secrets were found"
        counts_by_name = Counter(secret.name for secret in self.secrets)
        names = ", ".join(name if count == 1 else f"{name} ({count} times)" for name, count in counts_by_name.items())
        count = len(self.secrets)
        return f"{count} {'secret' if count == 1 else 'secrets'} redacted: {names}"


_SECRET_FINDERS: tuple[SecretFinder, ...] = (
    find_key_blocks,
    find_formatted_secrets,
    find_provider_secrets,
    find_credentials,
    find_named_secrets,
)
"""The finders in the order in which their names are preferred: a format first, a mere label last."""


def redact(text: str, *, personal: bool = False) -> RedactedText:
    """Return the text with a readable mark in place of every secret.

    `personal` also replaces card, account, social security and passport numbers. E-mail addresses and telephone numbers
    stay, as a memory is usually asked to store them.
    """
    finders = (*_SECRET_FINDERS, find_personal_numbers) if personal else _SECRET_FINDERS
    spans = [(span, rank) for rank, finder in enumerate(finders) for span in finder(text)]
    return _replace_spans(text, _merge_spans(spans)) if spans else RedactedText(text)


def _merge_spans(spans: Iterable[tuple[SecretSpan, int]]) -> list[SecretSpan]:
    """Return the spans in order, overlapping ones merged under the name of the preferred finder."""
    merged: list[tuple[SecretSpan, int]] = []
    for span, rank in sorted(spans, key=lambda entry: (entry[0].start, entry[1], -entry[0].end)):
        if merged and span.start < merged[-1][0].end:
            last, best_rank = merged[-1]
            name = span.name if rank < best_rank else last.name
            merged[-1] = SecretSpan(last.start, max(last.end, span.end), name), min(rank, best_rank)
        else:
            merged.append((span, rank))
    return [span for span, _ in merged]


def _replace_spans(text: str, spans: Sequence[SecretSpan]) -> RedactedText:
    parts: list[str] = []
    secrets: list[RedactedSecret] = []
    length = position = 0
    for span in spans:
        mark = f"[redacted: {span.name}]"
        parts += [text[position : span.start], mark]
        length += span.start - position
        secrets.append(RedactedSecret(span.name, length, length + len(mark)))
        length += len(mark)
        position = span.end
    return RedactedText("".join([*parts, text[position:]]), tuple(secrets))
