"""Secrets without a format of their own, recognised by the provider's name before them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lamina.capture.redact.placeholder import is_stand_in, looks_random
from lamina.capture.redact.span import Span

_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_KEY_WORD = re.compile(r"key|token|secret|passw|pwd|auth|cred", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Keyed:
    """A provider's name, and the pattern of its secrets a few words later on the same line."""

    name: str
    word: str
    pattern: re.Pattern[str]

    def find(self, text: str) -> Iterator[Span]:
        """Yield the secrets of this provider."""
        for match in self.pattern.finditer(text):
            secret = match[2]
            if _KEY_WORD.search(match[1]) and not is_stand_in(secret) and looks_random(secret):
                yield Span(*match.span(2), self.name)


def _keyed(name: str, word: str, secret: str) -> Keyed:
    """Return a keyword with a pattern: the name, at most sixty characters, then the secret as a word of its own."""
    pattern = rf"(?i:{re.escape(word)})([^\n]{{0,60}}?)(?<![\w+/.-])((?:{secret}))(?![\w+/-])"
    return Keyed(name, word.lower(), re.compile(pattern, re.ASCII))


KEYED: tuple[Keyed, ...] = (
    _keyed("aws secret key", "aws", r"[A-Za-z0-9+/]{40}"),
    _keyed("heroku key", "heroku", _UUID),
    _keyed("okta token", "okta", r"00[\w-]{40}"),
    _keyed("fastly token", "fastly", r"[\w-]{32}"),
    _keyed("cloudflare token", "cloudflare", r"[\w-]{40}|[a-f0-9]{37}"),
    _keyed("cloudflare token", "cf_api", r"[\w-]{40}|[a-f0-9]{37}"),
    _keyed("datadog key", "datadog", r"[a-f0-9]{32}|[a-f0-9]{40}"),
    _keyed("datadog key", "dd_a", r"[a-f0-9]{32}|[a-f0-9]{40}"),
    _keyed("algolia key", "algolia", r"[a-f0-9]{32}"),
    _keyed("weights and biases key", "wandb", r"[a-f0-9]{40}"),
    _keyed("cohere key", "cohere", r"[A-Za-z0-9]{40}"),
    _keyed("mistral key", "mistral", r"[A-Za-z0-9]{32}"),
    _keyed("deepgram key", "deepgram", r"[a-f0-9]{40}"),
    _keyed("azure key", "azure", r"[A-Za-z0-9+/]{86}==|[A-Za-z0-9]{84}|[a-f0-9]{32}"),
    _keyed("snyk token", "snyk", _UUID),
    _keyed("postmark token", "postmark", _UUID),
    _keyed("paypal secret", "paypal", r"E[\w-]{79}"),
    _keyed("vault token", "vault", r"s\.[A-Za-z0-9]{24}"),
    _keyed("vercel token", "vercel", r"[A-Za-z0-9]{24}"),
    _keyed("twilio token", "twilio", r"[a-f0-9]{32}"),
    _keyed("dropbox secret", "dropbox", r"[a-z0-9]{15}"),
    _keyed("asana secret", "asana", r"[a-f0-9]{32}"),
    _keyed("airtable key", "airtable", r"key[A-Za-z0-9]{14}"),
    _keyed("coinbase secret", "coinbase", r"[A-Za-z0-9]{64}"),
    _keyed("confluent secret", "confluent", r"[A-Za-z0-9+/]{64}"),
    _keyed("gocardless token", "gocardless", r"live_[\w-]{40}"),
    _keyed("kubernetes token", "kube", r"[a-z0-9]{6}\.[a-z0-9]{16}"),
)


def find_keyed(text: str) -> Iterator[Span]:
    """Yield every secret that only its provider's name identifies."""
    lowered = text.lower()
    mentioned = [keyword for keyword in KEYED if keyword.word in lowered]
    if mentioned and _KEY_WORD.search(lowered):
        for keyword in mentioned:
            yield from keyword.find(text)
