"""Secrets without a format of their own, recognised by the provider's name before them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lamina.capture.redact.placeholders import is_placeholder, looks_random
from lamina.capture.redact.secret_span import SecretSpan

_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_KEY_WORD = re.compile(r"key|token|secret|passw|pwd|auth|cred", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ProviderKeyword:
    """A provider's name, and the pattern of its secrets a few words later on the same line."""

    name: str
    keyword: str
    pattern: re.Pattern[str]

    def find(self, text: str) -> Iterator[SecretSpan]:
        """Yield the secrets of this provider."""
        for match in self.pattern.finditer(text):
            secret = match[2]
            if _KEY_WORD.search(match[1]) and not is_placeholder(secret) and looks_random(secret):
                yield SecretSpan(*match.span(2), self.name)


def _provider_keyword(name: str, keyword: str, secret: str) -> ProviderKeyword:
    """Return a keyword with a pattern: the name, at most sixty characters, then the secret as a word of its own."""
    pattern = rf"(?i:{re.escape(keyword)})([^\n]{{0,60}}?)(?<![\w+/.-])((?:{secret}))(?![\w+/-])"
    return ProviderKeyword(name, keyword.lower(), re.compile(pattern, re.ASCII))


PROVIDER_KEYWORDS: tuple[ProviderKeyword, ...] = (
    _provider_keyword("aws secret key", "aws", r"[A-Za-z0-9+/]{40}"),
    _provider_keyword("heroku key", "heroku", _UUID),
    _provider_keyword("okta token", "okta", r"00[\w-]{40}"),
    _provider_keyword("fastly token", "fastly", r"[\w-]{32}"),
    _provider_keyword("cloudflare token", "cloudflare", r"[\w-]{40}|[a-f0-9]{37}"),
    _provider_keyword("cloudflare token", "cf_api", r"[\w-]{40}|[a-f0-9]{37}"),
    _provider_keyword("datadog key", "datadog", r"[a-f0-9]{32}|[a-f0-9]{40}"),
    _provider_keyword("datadog key", "dd_a", r"[a-f0-9]{32}|[a-f0-9]{40}"),
    _provider_keyword("algolia key", "algolia", r"[a-f0-9]{32}"),
    _provider_keyword("weights and biases key", "wandb", r"[a-f0-9]{40}"),
    _provider_keyword("cohere key", "cohere", r"[A-Za-z0-9]{40}"),
    _provider_keyword("mistral key", "mistral", r"[A-Za-z0-9]{32}"),
    _provider_keyword("deepgram key", "deepgram", r"[a-f0-9]{40}"),
    _provider_keyword("azure key", "azure", r"[A-Za-z0-9+/]{86}==|[A-Za-z0-9]{84}|[a-f0-9]{32}"),
    _provider_keyword("snyk token", "snyk", _UUID),
    _provider_keyword("postmark token", "postmark", _UUID),
    _provider_keyword("paypal secret", "paypal", r"E[\w-]{79}"),
    _provider_keyword("vault token", "vault", r"s\.[A-Za-z0-9]{24}"),
    _provider_keyword("vercel token", "vercel", r"[A-Za-z0-9]{24}"),
    _provider_keyword("twilio token", "twilio", r"[a-f0-9]{32}"),
    _provider_keyword("dropbox secret", "dropbox", r"[a-z0-9]{15}"),
    _provider_keyword("asana secret", "asana", r"[a-f0-9]{32}"),
    _provider_keyword("airtable key", "airtable", r"key[A-Za-z0-9]{14}"),
    _provider_keyword("coinbase secret", "coinbase", r"[A-Za-z0-9]{64}"),
    _provider_keyword("confluent secret", "confluent", r"[A-Za-z0-9+/]{64}"),
    _provider_keyword("gocardless token", "gocardless", r"live_[\w-]{40}"),
    _provider_keyword("kubernetes token", "kube", r"[a-z0-9]{6}\.[a-z0-9]{16}"),
)


def find_provider_secrets(text: str) -> Iterator[SecretSpan]:
    """Yield every secret that only its provider's name identifies."""
    lowered = text.lower()
    mentioned = [keyword for keyword in PROVIDER_KEYWORDS if keyword.keyword in lowered]
    if mentioned and _KEY_WORD.search(lowered):
        for keyword in mentioned:
            yield from keyword.find(text)
