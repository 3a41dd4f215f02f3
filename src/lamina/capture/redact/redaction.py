"""Replaces secrets in a text before anything is written, embedded, logged or hashed.

Recognised here: key blocks, credentials in URLs, headers and commands, secrets after a provider's name, and, if the
settings ask for it, numbers that identify a person or an account.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lamina.capture.redact.named_secrets import find_named_secrets
from lamina.capture.redact.secret_formats import find_formatted_secrets
from lamina.capture.redact.secret_values import (
    SecretFinder,
    SecretSpan,
    is_descriptive,
    is_placeholder,
    is_reference,
    looks_random,
    passes_luhn,
    passes_mod97,
)
from lamina.capture.redact.spoken_secrets import find_recovery_secrets, find_spoken_codes, find_spoken_passwords

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
        is_word = value.lower() in _PLACEHOLDER_VALUES or is_descriptive(value)
        if not is_word and not is_reference(value) and not is_placeholder(value):
            yield SecretSpan(*match.span(group), name)


_BEGIN = re.compile(
    r"-{4,5} ?BEGIN ([A-Z0-9 ]{0,40}?)(PRIVATE KEY(?: BLOCK)?|SECRET KEY|Static key V1)(?: BLOCK)? ?-{4,5}"
)
_END = re.compile(r"-{4,5} ?END [A-Za-z0-9 ]{3,60}?-{4,5}")
_REST = re.compile(
    r"(?:(?:\s|\\[nrt]|[\"'+]){0,16}+"
    r"(?:[A-Z][A-Za-z-]{3,20}: [^\n\\]{0,80}+|[A-Za-z0-9+/=]{16,}+|[A-Za-z0-9+/=]{1,15}+(?=\r?\n|\\|[\"']|$))){1,2000}+"
)
_PUTTY = re.compile(r"Private-Lines: \d{1,4}\r?\n(?:[A-Za-z0-9+/=]{1,80}(?:\r?\n|$)){1,200}")


def find_key_blocks(text: str) -> Iterator[SecretSpan]:
    """Yield every private key block; one without an end line as far as it looks like a key."""
    if "BEGIN " in text:
        yield from _find_armoured_blocks(text)
    if "Private-Lines:" in text:
        for match in _PUTTY.finditer(text):
            yield SecretSpan(*match.span(), "private key")


def _find_armoured_blocks(text: str) -> Iterator[SecretSpan]:
    at, has_end = 0, True
    while begin := _BEGIN.search(text, at):
        end = _END.search(text, begin.end()) if has_end else None
        has_end = end is not None
        rest = _REST.match(text, begin.end())
        at = end.end() if end else rest.end() if rest else begin.end()
        if at > begin.end() and not _is_too_short(text, begin.end(), end.start() if end else at):
            yield SecretSpan(begin.start(), at, "pgp private key" if "PGP" in begin[1] else "private key")


def _is_too_short(text: str, start: int, end: int) -> bool:
    """Return whether too little text is between the lines to be a key."""
    return sum(char.isalnum() for char in text[start : min(end, start + 400)]) < 40


_CARD = re.compile(r"\d(?<![\w.+/-]\d)(?:[ -]?\d){12,18}(?![\w/-]|\.\d)", re.ASCII)
_CARD_STARTS = re.compile(
    r"4|5[1-5]|2(?:2[2-9]|[3-6]\d|7[01]|720)|3[47]|3(?:0[0-5]|[68])|6(?:011|5|4[4-9]|2)|35|50|5[6-9]|6"
)
_IBAN = re.compile(r"[A-Z](?<![\w.+/-].)[A-Z]\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)", re.ASCII)
_SSN = re.compile(r"\d(?<![\w.+/-]\d)\d\d-\d\d-\d{4}(?![\w-]|\.\d)", re.ASCII)
_NEVER_SSN = re.compile(r"000|666|9\d\d|\d{3}-00|.{7}0000")
_PASSPORT = re.compile(r"\bpassport\b[^\n\d]{0,24}?\b([A-Z]{1,2}\d{6,8}|\d{9})\b", re.IGNORECASE | re.ASCII)
_LENGTHS = """
    AD:24 AE:23 AL:28 AT:20 AZ:28 BA:20 BE:16 BG:22 BH:22 BR:29 BY:28 CH:21 CR:22 CY:28 CZ:24 DE:22 DK:18 DO:28 EE:20
    EG:29 ES:24 FI:18 FO:18 FR:27 GB:22 GE:22 GI:23 GL:18 GR:27 GT:28 HR:21 HU:28 IE:22 IL:23 IQ:23 IS:26 IT:27 JO:30
    KW:30 KZ:20 LB:28 LI:21 LT:20 LU:20 LV:21 MC:27 MD:24 ME:22 MK:19 MR:27 MT:31 MU:30 NL:18 NO:15 PK:24 PL:28 PS:29
    PT:25 QA:29 RO:24 RS:22 SA:24 SE:24 SI:19 SK:24 SM:27 TN:24 TR:26 UA:29 VG:24 XK:20
"""
_IBAN_LENGTHS = {pair[:2]: int(pair[3:]) for pair in _LENGTHS.split()}
"""The length of an account number by country."""


def find_personal_numbers(text: str) -> Iterator[SecretSpan]:
    """Yield payment cards, bank accounts, US social security numbers and passports."""
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match.group())
        if _CARD_STARTS.match(digits) and passes_luhn(digits) and len(set(digits)) > 1:
            yield SecretSpan(*match.span(), "card number")
    for match in _IBAN.finditer(text):
        end = _find_account_end(match)
        if end:
            yield SecretSpan(match.start(), end, "bank account")
    for match in _SSN.finditer(text):
        if not _NEVER_SSN.match(match.group()):
            yield SecretSpan(*match.span(), "social security number")
    for match in _PASSPORT.finditer(text):
        yield SecretSpan(*match.span(1), "passport number")


def _find_account_end(match: re.Match[str]) -> int | None:
    """Return where the account number ends, by the length of its country; words in capitals may follow. Else None."""
    length = _IBAN_LENGTHS.get(match.group()[:2], 0)
    end, account = match.start(), ""
    while len(account) < length and end < match.end():
        account += match.string[end].strip()
        end += 1
    return end if length and len(account) == length and passes_mod97(account) else None


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
_SPOKEN_SECRET_FINDERS: tuple[SecretFinder, ...] = (find_recovery_secrets, find_spoken_passwords, find_spoken_codes)
"""The finders in the order in which their names are preferred: a format first, a mere label last."""
MAX_ROUNDS = 4
"""How often a text is searched: a mark separates words, so that another secret may be recognised beside it."""
_MARK = re.compile(r"\[redacted: [^\]\n]{1,60}\]")


def redact(text: str, *, personal: bool = False) -> RedactedText:
    """Return the text with a readable mark in place of every secret.

    `personal` also replaces card, account, social security and passport numbers. E-mail addresses and telephone numbers
    stay, as users usually want to store them.
    """
    redacted = RedactedText(text)
    for _ in range(MAX_ROUNDS):
        spans = list(_find_spans(redacted.text, personal=personal))
        if not spans:
            break
        redacted = _replace_spans(redacted, _merge_spans(spans))
    return redacted


def _find_spans(text: str, *, personal: bool) -> Iterator[tuple[SecretSpan, int]]:
    """Yield the secrets of a text, each with the rank of its finder."""
    # A mark contains the name of a secret: where words call secrets by their name, it ends what is read.
    unmarked = _MARK.sub(lambda mark: "\n" * len(mark.group()), text) if "[redacted: " in text else text
    finders = [(finder, text) for finder in _SECRET_FINDERS]
    finders += [(finder, unmarked) for finder in _SPOKEN_SECRET_FINDERS]
    if personal:
        finders.append((find_personal_numbers, text))
    for rank, (finder, read) in enumerate(finders):
        yield from ((span, rank) for span in finder(read))


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


def _replace_spans(redacted: RedactedText, spans: Sequence[SecretSpan]) -> RedactedText:
    """Return the text with marks in place of the spans, and the places of all marks; marks inside a span are gone."""
    text, parts = redacted.text, list[str]()
    secrets: list[RedactedSecret] = []
    earlier = deque(redacted.secrets)
    length = position = 0
    for start, end, name in [*((span.start, span.end, span.name) for span in spans), (len(text), len(text), "")]:
        while earlier and earlier[0].end <= start:
            secret = earlier.popleft()
            secrets.append(replace(secret, start=secret.start - position + length, end=secret.end - position + length))
        while earlier and earlier[0].start < end:
            earlier.popleft()
        mark = f"[redacted: {name}]" if name else ""
        parts += [text[position:start], mark]
        length += start - position
        if mark:
            secrets.append(RedactedSecret(name, length, length + len(mark)))
        length, position = length + len(mark), end
    return RedactedText("".join(parts), tuple(secrets))
