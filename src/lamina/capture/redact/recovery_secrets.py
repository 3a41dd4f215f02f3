"""Secrets that restore an account: seeds of one-time passwords, recovery phrases and backup codes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lamina.capture.redact.secret_span import SecretSpan
from lamina.capture.redact.secret_words import ANY_CASE, COMMON_WORDS

_SEED = re.compile(
    r"\b(?:totp|2fa|mfa|otp|setup key|einrichtungsschlüssel|authenticator|autenti(?:c|k)a[dt]or\w*|authentifi\w*"
    r"|two[- ]factor|zwei-?faktor)[^\n]{0,60}?(?<![A-Za-z0-9])"
    r"((?-i:[A-Z2-7]{4}(?:[ -]?[A-Z2-7]{4}){3,15}|[a-z2-7]{4}(?:[ ]?[a-z2-7]{4}){3,15}|[A-Z2-7]{16,64}))"
    r"(?![A-Za-z0-9])",
    ANY_CASE,
)
_SEED_ADDRESS = re.compile(r"otpauth://[^\s]{0,200}?secret=([A-Za-z2-7]{8,128})", ANY_CASE)
_PHRASE_NAME = re.compile(
    r"\b(?:seed|mnemonic|recovery|wallet|wiederherstellungs\w{0,12}|récupération|phrase secrète|recuperación|semilla"
    r"|recupero"
    r"|frase segreta|recuperação|semente|24[ -](?:words|wörter|mots|palabras|parole|palavras))\b",
    ANY_CASE,
)
_WORDS = re.compile(
    r"(?:(?:\d{1,2}[.):]?\s?)?(?<![^\W_])[^\W\d_]{2,10}(?:[ \n]|,\s?)\s?){11,39}(?:\d{1,2}[.):]?\s?)?[^\W\d_]{3,10}"
)
_WORD = re.compile(r"[^\W\d_]+")
_MIN_WORDS = 12
_CHARS_BEFORE, _CHARS_INSIDE = 120, 40
_BACKUP_CODES = re.compile(
    r"\b(?:(?:backup|recovery|rescue|emergency|one-time)[ -]codes?|(?:backup|wiederherstellungs|notfall)-?codes?"
    r"|codes? de (?:secours|récupération)|códigos? de (?:respaldo|recuperación|recuperação|backup|emergencia|segurança)"
    r"|codici di (?:backup|recupero|emergenza))\b[^\d]{0,60}?[:=\s]\s{0,3}"
    r"((?:(?=[A-Za-z-]{0,12}\d)[A-Za-z0-9]{2,12}(?:[ -][A-Za-z0-9]{2,12})?(?:[\s,;/]{1,3}(?:(?:and|und|et|y|e)[ ])?"
    r"|$)){1,16})",
    ANY_CASE,
)
_CODE = re.compile(r"(?=[A-Za-z-]{0,12}\d)[A-Za-z0-9]{3,12}(?:-[A-Za-z0-9]{2,12}){0,4}")
_STEM_WORDS = """
    seed setup einricht phrase frase words mnemonic wallet wiederher recover backup rescue emergency secours récup
    recup respaldo notfall segurança one-time totp 2fa mfa otp authent autentic factor faktor
"""
_STEMS = tuple(_STEM_WORDS.split())


def find_recovery_secrets(text: str) -> Iterator[SecretSpan]:
    """Yield seeds of one-time passwords, recovery phrases of twelve words and more, and backup codes."""
    lowered = text.lower()
    if not any(stem in lowered for stem in _STEMS):
        return
    for match in _SEED.finditer(text):
        if _is_seed(match[1]):
            yield SecretSpan(*match.span(1), "one-time password seed")
    for match in _SEED_ADDRESS.finditer(text):
        yield SecretSpan(*match.span(1), "one-time password seed")
    if _PHRASE_NAME.search(text):
        yield from _find_phrases(text)
    for match in _BACKUP_CODES.finditer(text):
        for item in _CODE.finditer(match[1]):
            start = match.start(1) + item.start()
            yield SecretSpan(start, start + len(item.group()), "recovery code")


def _find_phrases(text: str) -> Iterator[SecretSpan]:
    for match in _WORDS.finditer(text):
        if not _PHRASE_NAME.search(text, max(0, match.start() - _CHARS_BEFORE), match.start() + _CHARS_INSIDE):
            continue
        run: list[re.Match[str]] = []
        for word in _WORD.finditer(match.group()):
            if word.group().lower() not in COMMON_WORDS:
                run.append(word)
            elif len(run) < _MIN_WORDS:
                run.clear()
            else:
                break
        if len(run) >= _MIN_WORDS:
            yield SecretSpan(match.start() + run[0].start(), match.start() + run[-1].end(), "recovery phrase")


def _is_seed(value: str) -> bool:
    """Return whether a run of base-32 characters is no run of words: it has digits, or is in capitals throughout."""
    compact = value.replace(" ", "").replace("-", "")
    return len(compact) >= 16 and (any(char.isdigit() for char in compact) or compact.isupper())
