"""Secrets recognised by their names: `password = …`, `"api_key": "…"`, `--token …`, "my password is …"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from lamina.capture.redact.secret_values import SecretSpan, is_placeholder, is_reference, is_uuid, looks_random

_FOREIGN_WORDS = "contraseña|senha|wachtwoord|lösenord|hasło|parola|пароль|密码|密碼|パスワード|비밀번호"
_STEMS = ("pass", "pwd", "pw", "secret", "token", "key", "credential", "pin", *_FOREIGN_WORDS.split("|"))
_STEM = re.compile(rf"pass|pwd|pw\b(?<!\w..)|secret|token|key|credential|pin\b(?<!\w...)|{_FOREIGN_WORDS}")
_WORD = re.compile(
    rf"(pass(?:words?|wd|wort|phrases?|codes?|e)?|pwd|pw|secrets?|tokens?|keys?|credentials?|pin|{_FOREIGN_WORDS})"
    r"(?:[_-]?(?:key|base|value|val|string|str|code|number|prod|production|dev|test|staging|live|old|new|b64|base64|main"
    r"|default|primary|secondary|admin|root|user|db|\d{1,3})){0,2}(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
_QUOTED = r"\"([^\"\n]{3,400})\"|'([^'\n]{3,400})'|`([^`\n]{3,400})`"
_UNQUOTED_GROUP = 4
"""The group of a value without quotes."""
_ASSIGNS = re.compile(
    r"(?:\\?[\"'`])?\]?\s{0,8}"
    r"(?:(?::\s{0,3}[A-Za-z][\w.\[\]| ]{0,40}?\s{0,3})?(?:=>|:=|\?=|={1,3}|%3D)|:|：|%3A|>)\s{0,8}"
    r"(?:(?:[brfu]{1,2}|\\)(?=[\"'`]))?"
    rf"(?:{_QUOTED}|((?:[^\s\"'`,;<>(){{}}\[\]&\\=]|&(?!\w{{1,30}}=)){{3,400}}={{0,2}}))",
    re.IGNORECASE,
)
_FLAGGED = re.compile(rf"[ \t]{{1,3}}(?:{_QUOTED}|([^\s\"'`;|<>-][^\s\"'`;|<>]{{2,400}}))")
_SPOKEN = re.compile(
    r"(?:\s(?:for|of|to|on|at|in)\s[^\n.:;,?!]{1,40}?)?"
    r"(?:\s{0,3}[:：=]\*{0,2}|['’]s|\s[-–—]"
    r"|\s(?:is:?|was|are|will be|to|should be|has been set to|is set to|is now|was changed to))\s{1,3}"
    r"(?:now |still |also |just )?"
    r"(?:[\"“”‘'`*]{1,2}([^\s\"“”‘’'`*]{4,200})[\"“”’'`*]|([^\s\"“”‘’'`*]{4,200}))"
    r"|\s([^\s\"“”‘’'`*]{6,200})",
    re.IGNORECASE,
)
_SECRET_KEY_WORDS = """
    api access secret auth account encryption encrypt signing sign master service private app application shared
    storage subscription session webhook consumer bot client deploy admin server license ssh user hmac crypto cipher aes
    openai google stripe aws azure gcp
"""
_SECRET_KEY_PREFIXES = frozenset(_SECRET_KEY_WORDS.split())
"""Words before "key" that make it a secret; other keys are names of rows and caches."""
_HARMLESS_WORDS = """
    page next prev previous continuation pad eos bos unk mask sep cls special stop start end cancel csrf xsrf public
    sync resume max min num total n no is has use forgot reset show hide input output prompt completion cached split sub
    image vision line last first lookahead current primary foreign cache sort partition row group change confirm by
    bypass com type field label hint id name length tree
"""
_HARMLESS_PREFIXES = frozenset(_HARMLESS_WORDS.split())
"""Words before "token", "password" or "key" that make it harmless."""
_PIN_OWNERS = frozenset(
    {"my", "our", "your", "his", "her", "the", "bank", "card", "atm", "door", "phone", "sim", "alarm"}
)
"""Words before "pin" that make it a secret number."""
_PLAIN_VALUES = """
    true false none null nil undefined required optional string str text bytes int integer number bool boolean object
    array password passwd secret token key admin root user test postgres mysql redis guest default value empty hidden
    varchar missing invalid wrong incorrect correct valid expired password1 password123 secretstr unset disabled enabled
    masked
"""
_HARMLESS_VALUES = frozenset(_PLAIN_VALUES.split())
_SCHEMES = re.compile(
    r"(?:md5|sha-?\d|base\d\d|utf|aes|rsa|bcrypt|argon|pbkdf|hmac|oauth|http|ipv\d|v\d|log4j|k8s|i18n|x\.?509|scrypt"
    r"|ed25519|ecdsa|es\d{3}|rs\d{3}|hs\d{3}|totp|u2f|fido|saml|p12|pkcs|tls|ssl"
    r"|\d+-?(?:bit|char|byte|day|month|hour)s?)[A-Za-z0-9.]{0,5}(?:$|[-_/+:,])",
    re.IGNORECASE,
)
"""Names of algorithms and formats, which are no secrets."""
_MAY_FOLLOW = frozenset("\"'’`\\] \t\n=:：>?%*")
_IDENTIFIER = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_LAST_SEGMENT = re.compile(r"([A-Z]?[a-z0-9]+|[A-Z0-9]+)[_.-]{0,3}$")
_LAST_WORD = re.compile(r"(\w{1,16})\s$")
_SIGNS = re.compile(r"[!@#$%^&*+=?~|\\]")
_CALL = re.compile(r"[A-Za-z_][\w.]*[(\[](?:[^)\]]*|.*[)\]]\W*)$")
_SEPARATORS = re.compile(r"[-_/.:,]+")
_ENV_LINE = re.compile(r"(?:^|\n|\\n)[ \t]*(?:export[ \t]+|set[ \t]+|ENV[ \t]+|- )?[A-Z][A-Z0-9_]{1,60}=$")
_BRACKETS = ("(", "[", "{")
_REST_OF_VALUE = re.compile(r"^[^\s\"'`\\;,<>]*")
_REST_OF_WORD = re.compile(r"^[^\s\"'`\\]*")
_CHARS_BEFORE, _CHARS_AFTER = 100, 900
"""How far before and after a word anything is examined; equal surroundings give equal results."""
_MAX_CACHED = 64
"""How many surroundings without a secret are cached, so that a repetitive text costs no more than another."""
_PLAIN_LOWER = {code: code + 32 for code in range(65, 91)}


class _SecretWord(NamedTuple):
    """A word that announces a secret: where it ends, the word, what is before it, and whether it is a flag."""

    end: int
    word: str
    prefix: str
    is_flag: bool


def find_named_secrets(text: str) -> Iterator[SecretSpan]:
    """Yield every value that is called a password, secret, token or key and looks like one."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text.translate(_PLAIN_LOWER)
    covered_until = 0
    without_secret: set[tuple[int, str]] = set()
    for stem in _STEM.finditer(lowered) if any(stem in lowered for stem in _STEMS) else ():
        at = stem.start()
        surroundings = min(at, _CHARS_BEFORE), text[max(0, at - _CHARS_BEFORE) : at + _CHARS_AFTER]
        if at < covered_until or surroundings in without_secret:
            continue
        secret_word = _match_secret_word(text, at)
        span = _find_value(text, secret_word) if secret_word else None
        if span:
            covered_until = span.end
            yield span
        elif len(without_secret) < _MAX_CACHED:
            without_secret.add(surroundings)


def _match_secret_word(text: str, at: int) -> _SecretWord | None:
    """Return the word at this position if it announces a secret, else None."""
    word = _WORD.match(text, at)
    if word is None:
        return None
    preceding = text[max(0, at - 40) : at]
    before_identifier = preceding.rstrip(_IDENTIFIER)
    identifier = preceding[len(before_identifier) :]
    last_part = _LAST_SEGMENT.search(identifier) if identifier else _LAST_WORD.search(before_identifier)
    before = last_part[1].lower() if last_part else ""
    stem = word[1].lower()
    if before in _HARMLESS_PREFIXES or (stem.startswith("key") and before not in _SECRET_KEY_PREFIXES):
        return None
    if stem == "pin" and before not in _PIN_OWNERS and not word[1].isupper():
        return None
    is_glued = identifier[-1:].islower() and text[at].islower()
    if (
        is_glued
        and before not in _SECRET_KEY_PREFIXES
        and not stem.startswith(("passw", "passp", "pwd", "token", "secret"))
    ):
        return None
    return _SecretWord(word.end(), stem, before, identifier.startswith("--"))


def _find_value(text: str, secret_word: _SecretWord) -> SecretSpan | None:
    if text[secret_word.end : secret_word.end + 1] not in _MAY_FOLLOW:
        return None
    return (
        _find_flag_value(text, secret_word)
        or _find_assigned_value(text, secret_word)
        or _find_spoken_value(text, secret_word)
    )


def _find_flag_value(text: str, secret_word: _SecretWord) -> SecretSpan | None:
    """Return the span of the value in `--password hunter2`."""
    match = _FLAGGED.match(text, secret_word.end) if secret_word.is_flag else None
    if match is None or match.lastindex is None:
        return None
    is_secret = _is_secret(secret_word, match[match.lastindex], is_quoted=match.lastindex < _UNQUOTED_GROUP)
    return SecretSpan(*match.span(match.lastindex), _secret_name(secret_word)) if is_secret else None


def _find_assigned_value(text: str, secret_word: _SecretWord) -> SecretSpan | None:
    """Return the span of the value in `password = "hunter2"`."""
    match = _ASSIGNS.match(text, secret_word.end)
    if match is None or match.lastindex is None:
        return None
    start, end = match.span(match.lastindex)
    is_quoted = match.lastindex < _UNQUOTED_GROUP
    if not is_quoted and _ENV_LINE.search(text[max(0, start - 90) : start]):
        is_quoted = True
        end += len(_REST_OF_WORD.findall(text[end : end + 200])[0])
    if text[end : end + 1] in _BRACKETS and _is_called_password(secret_word):
        rest = _REST_OF_VALUE.findall(text[end : end + 200])[0]
        end += 0 if _CALL.match(text[start:end] + rest) else len(rest)
    value = text[start:end].rstrip("\\")
    is_secret = text[end : end + 1] not in _BRACKETS and _is_secret(secret_word, value, is_quoted=is_quoted)
    return SecretSpan(start, start + len(value), _secret_name(secret_word)) if is_secret else None


def _find_spoken_value(text: str, secret_word: _SecretWord) -> SecretSpan | None:
    """Return the span of the value in `my password is hunter2`."""
    match = _SPOKEN.match(text, secret_word.end)
    if match is None or not match.lastindex:
        return None
    value = match[match.lastindex].rstrip(".,;:)»]}")
    start = match.start(match.lastindex)
    if (value.isalpha() and len(value) < 16) or _CALL.match(value) or is_placeholder(value) or is_reference(value):
        return None
    if secret_word.word == "pin":
        is_secret = match.lastindex < 3 and value.isdigit() and 4 <= len(value) <= 8
    elif secret_word.word == "pass":
        is_secret = _is_made_up(value) and len(value) >= 8 and value.isalnum()
    elif _is_called_password(secret_word):
        is_secret = _is_made_up(value) and (match.lastindex < 3 or len(value) >= 6)
    else:
        is_secret = (
            len(value) >= 16
            and _is_key(secret_word, value, is_quoted=False)
            and (match.lastindex < 3 or _is_made_up(value))
        )
    return SecretSpan(start, start + len(value), _secret_name(secret_word)) if is_secret else None


def _is_made_up(value: str) -> bool:
    """Return whether a word in prose is no ordinary word: letters and digits mixed, or special characters inside."""
    if _SCHEMES.match(value) or is_uuid(value):
        return False
    if _SIGNS.search(value[:-1]) and any(char.isalnum() for char in value):
        return True
    return any(
        any(char.isdigit() for char in part) and any(char.isalpha() for char in part) and len(part) >= 4
        for part in _SEPARATORS.split(value)
    )


def _is_secret(secret_word: _SecretWord, value: str, *, is_quoted: bool) -> bool:
    if len(value) < 4 or (value.isalpha() and not is_quoted and len(value) < 16) or value.lower() in _HARMLESS_VALUES:
        return False
    if is_placeholder(value) or is_reference(value):
        return False
    if " " in value:
        return secret_word.word.startswith("passphrase") and _is_phrase(value)
    if secret_word.word == "pin":
        return value.isdigit() and 4 <= len(value) <= 8
    if secret_word.word == "pass":
        return _is_made_up(value) and (is_quoted or secret_word.prefix != "")
    if _is_called_password(secret_word):
        return _is_password(value, is_quoted)
    return _is_key(secret_word, value, is_quoted)


def _is_password(value: str, is_quoted: bool) -> bool:
    if _SCHEMES.fullmatch(value):
        return False
    if value.isdigit():
        return is_quoted or len(value) >= 6
    if _is_made_up(value) or (len(value) >= 12 and looks_random(value)):
        return True
    return is_quoted and len(value) >= 6 and value.isascii() and value.isalpha() and value.islower()


def _is_key(secret_word: _SecretWord, value: str, is_quoted: bool) -> bool:
    if value.isdigit() or len(value) < (8 if is_quoted else 12) or _SCHEMES.fullmatch(value):
        return False
    if is_uuid(value):
        return secret_word.word.startswith(("secret", "key")) or secret_word.prefix in (
            "access",
            "auth",
            "api",
            "refresh",
            "bearer",
        )
    is_mixed = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    return (is_mixed or len(value) >= 20) and looks_random(value)


def _is_phrase(value: str) -> bool:
    words = value.split()
    return len(words) >= 3 and value.islower() and not {"the", "to", "for", "a", "is", "of", "and", "in"} & set(words)


def _is_called_password(secret_word: _SecretWord) -> bool:
    return not secret_word.word.startswith(("secret", "token", "key", "credential", "pin"))


def _secret_name(secret_word: _SecretWord) -> str:
    if secret_word.word == "pin":
        return "pin"
    if secret_word.word.startswith(("pass", "pwd")):
        return "password"
    return (
        "token"
        if secret_word.word.startswith("token")
        else "secret"
        if secret_word.word.startswith(("secret", "cred"))
        else "key"
    )
