"""Credentials in URLs, headers and commands: passwords, authorization tokens, logins."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lamina.capture.redact.placeholders import is_placeholder, is_reference, looks_random
from lamina.capture.redact.secret_span import SecretSpan

_URL = re.compile(r"://([^\s/:@\"'<>`]{0,200}):([^\s/\"'<>`]{1,300})@(?=[\w\[.-])")
_HEADER = re.compile(
    r"\b(?:bearer|basic|digest|ssws|token|apikey)[ \t]{1,4}[\"']?([A-Za-z0-9_~+/.=:|-]{16,4000})", re.IGNORECASE
)
_LOGIN = re.compile(
    r"(?:\bcurl\b[^\n]{0,160}?\s(?:-u|--user)[ =]{1,2}[\"']?[^\s:\"']{1,100}:|\bsshpass\s{1,4}-p\s{0,4}[\"']?"
    r"|\bmysql(?:dump|admin)?\b[^\n]{0,120}?\s-p(?=[^\s-])[\"']?|\bredis-cli\b[^\n]{0,120}?\s-a\s{1,4}[\"']?"
    r"|\s-u\s{0,4}[^\s:]{1,100}\s{1,4}(?:-p|--password)[ =]{0,4}[\"']?"
    r"|\blogin\s{1,4}\S{1,100}\s{1,4}password\s{1,4})([^\s\"']{4,200})"
)
_PLACEHOLDERS = "pass password passwd pwd secret token user username port host key x xxx xxxx test"
_PLACEHOLDER_VALUES = frozenset(_PLACEHOLDERS.split())


def find_credentials(text: str) -> Iterator[SecretSpan]:
    """Yield the secret part of every URL, authorization header and login command."""
    if "://" in text:
        yield from _find_secrets(_URL, text, 2, "password")
    lowered = text.lower()
    if any(word in lowered for word in ("bearer", "basic", "digest", "ssws", "token", "apikey")):
        for span in _find_secrets(_HEADER, text, 1, "authorization"):
            if looks_random(text[span.start : span.end]):
                yield span
    if any(word in text for word in ("curl ", "sshpass", "mysql", "redis-cli", "login ", " -u")):
        yield from _find_secrets(_LOGIN, text, 1, "password")


def _find_secrets(pattern: re.Pattern[str], text: str, group: int, name: str) -> Iterator[SecretSpan]:
    for match in pattern.finditer(text):
        value = match[group]
        if value.lower() not in _PLACEHOLDER_VALUES and not is_reference(value) and not is_placeholder(value):
            yield SecretSpan(*match.span(group), name)
