"""Secrets told by what they are called: `password = …`, `"api_key": "…"`, `--token …`, "my password is …"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from lamina.capture.redact.placeholder import is_reference, is_stand_in, is_uuid, looks_random
from lamina.capture.redact.span import Span

_ABROAD = "contraseña|senha|wachtwoord|lösenord|hasło|parola|пароль|密码|密碼|パスワード|비밀번호"
_STEMS = ("pass", "pwd", "pw", "secret", "token", "key", "credential", "pin", *_ABROAD.split("|"))
_STEM = re.compile(rf"pass|pwd|pw\b(?<!\w..)|secret|token|key|credential|pin\b(?<!\w...)|{_ABROAD}")
_WORD = re.compile(
    rf"(pass(?:words?|wd|wort|phrases?|codes?|e)?|pwd|pw|secrets?|tokens?|keys?|credentials?|pin|{_ABROAD})"
    r"(?:[_-]?(?:key|base|value|val|string|str|code|number|prod|production|dev|test|staging|live|old|new|b64|base64|main"
    r"|default|primary|secondary|admin|root|user|db|\d{1,3})){0,2}(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
_QUOTED = r"\"([^\"\n]{3,400})\"|'([^'\n]{3,400})'|`([^`\n]{3,400})`"
_BARE = 4
"""The group of a value without quotes."""
_ASSIGNS = re.compile(
    r"(?:\\?[\"'`])?\]?\s{0,8}"
    r"(?:(?::\s{0,3}[A-Za-z][\w.\[\]| ]{0,40}?\s{0,3})?(?:=>|:=|\?=|={1,3}|%3D)|:|：|%3A|>)\s{0,8}"
    r"(?:(?:[brfu]{1,2}|\\)(?=[\"'`]))?"
    rf"(?:{_QUOTED}|((?:[^\s\"'`,;<>(){{}}\[\]&\\=]|&(?!\w{{1,30}}=)){{3,400}}={{0,2}}))",
    re.IGNORECASE,
)
_FLAGGED = re.compile(rf"[ \t]{{1,3}}(?:{_QUOTED}|([^\s\"'`;|<>-][^\s\"'`;|<>]{{2,400}}))")
_SAID = re.compile(
    r"(?:\s(?:for|of|to|on|at|in)\s[^\n.:;,?!]{1,40}?)?"
    r"(?:\s{0,3}[:：=]\*{0,2}|['’]s|\s[-–—]"
    r"|\s(?:is:?|was|are|will be|to|should be|has been set to|is set to|is now|was changed to))\s{1,3}"
    r"(?:now |still |also |just )?"
    r"(?:[\"“”‘'`*]{1,2}([^\s\"“”‘’'`*]{4,200})[\"“”’'`*]|([^\s\"“”‘’'`*]{4,200}))"
    r"|\s([^\s\"“”‘’'`*]{6,200})",
    re.IGNORECASE,
)
_OPENERS = """
    api access secret auth account encryption encrypt signing sign master service private app application shared
    storage subscription session webhook consumer bot client deploy admin server license ssh user hmac crypto cipher aes
    openai google stripe aws azure gcp
"""
_OPENED = frozenset(_OPENERS.split())
"""What makes a key one that opens something; other keys are names of rows and caches."""
_NO_OPENERS = """
    page next prev previous continuation pad eos bos unk mask sep cls special stop start end cancel csrf xsrf public
    sync resume max min num total n no is has use forgot reset show hide input output prompt completion cached split sub
    image vision line last first lookahead current primary foreign cache sort partition row group change confirm by
    bypass com type field label hint id name length tree
"""
_HARMLESS = frozenset(_NO_OPENERS.split())
"""What makes a token, password or key one that opens nothing."""
_PIN_OWNERS = frozenset(
    {"my", "our", "your", "his", "her", "the", "bank", "card", "atm", "door", "phone", "sim", "alarm"}
)
"""Whose pin is a number to be kept secret; other pins hold things together."""
_PLAIN_VALUES = """
    true false none null nil undefined required optional string str text bytes int integer number bool boolean object
    array password passwd secret token key admin root user test postgres mysql redis guest default value empty hidden
    varchar missing invalid wrong incorrect correct valid expired password1 password123 secretstr unset disabled enabled
    masked
"""
_VALUES = frozenset(_PLAIN_VALUES.split())
_SCHEMES = re.compile(
    r"(?:md5|sha-?\d|base\d\d|utf|aes|rsa|bcrypt|argon|pbkdf|hmac|oauth|http|ipv\d|v\d|log4j|k8s|i18n|x\.?509|scrypt"
    r"|ed25519|ecdsa|es\d{3}|rs\d{3}|hs\d{3}|totp|u2f|fido|saml|p12|pkcs|tls|ssl"
    r"|\d+-?(?:bit|char|byte|day|month|hour)s?)[A-Za-z0-9.]{0,5}(?:$|[-_/+:,])",
    re.IGNORECASE,
)
"""What secrets are made with, which is no secret."""
_MAY_FOLLOW = frozenset("\"'’`\\] \t\n=:：>?%*")
_IDENTIFIER = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_LAST_SEGMENT = re.compile(r"([A-Z]?[a-z0-9]+|[A-Z0-9]+)[_.-]{0,3}$")
_LAST_SPOKEN = re.compile(r"(\w{1,16})\s$")
_SIGNS = re.compile(r"[!@#$%^&*+=?~|\\]")
_CALL = re.compile(r"[A-Za-z_][\w.]*[(\[](?:[^)\]]*|.*[)\]]\W*)$")
_APART = re.compile(r"[-_/.:,]+")
_ENV_LINE = re.compile(r"(?:^|\n|\\n)[ \t]*(?:export[ \t]+|set[ \t]+|ENV[ \t]+|- )?[A-Z][A-Z0-9_]{1,60}=$")
_BRACKETS = ("(", "[", "{")
_REST_OF_VALUE = re.compile(r"^[^\s\"'`\\;,<>]*")
_REST_OF_WORD = re.compile(r"^[^\s\"'`\\]*")
_BEHIND, _AHEAD = 100, 900
"""As far as anything here looks from a word; where the same stands around it, the same is found."""
_REMEMBERED = 64
"""Surroundings that held no secret, kept so that a text that repeats itself costs no more than another."""
_PLAIN_LOWER = {code: code + 32 for code in range(65, 91)}


class _Place(NamedTuple):
    """A word that announces a secret: where it ends, what it is, and what stands in front of it."""

    end: int
    word: str
    before: str
    flag: bool


def find_assigned(text: str) -> Iterator[Span]:
    """Every value that is called a password, secret, token or key and looks like one."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text.translate(_PLAIN_LOWER)
    done = 0
    nothing: set[tuple[int, str]] = set()
    for stem in _STEM.finditer(lowered) if any(stem in lowered for stem in _STEMS) else ():
        at = stem.start()
        around = min(at, _BEHIND), text[max(0, at - _BEHIND) : at + _AHEAD]
        if at < done or around in nothing:
            continue
        place = _place(text, at)
        span = _value(text, place) if place else None
        if span:
            done = span.end
            yield span
        elif len(nothing) < _REMEMBERED:
            nothing.add(around)


def _place(text: str, at: int) -> _Place | None:
    word = _WORD.match(text, at)
    if word is None:
        return None
    near = text[max(0, at - 40) : at]
    ahead = near.rstrip(_IDENTIFIER)
    joined = near[len(ahead) :]
    last = _LAST_SEGMENT.search(joined) if joined else _LAST_SPOKEN.search(ahead)
    before = last[1].lower() if last else ""
    stem = word[1].lower()
    if before in _HARMLESS or (stem.startswith("key") and before not in _OPENED):
        return None
    if stem == "pin" and before not in _PIN_OWNERS and not word[1].isupper():
        return None
    glued = joined[-1:].islower() and text[at].islower()
    if glued and before not in _OPENED and not stem.startswith(("passw", "passp", "pwd", "token", "secret")):
        return None
    return _Place(word.end(), stem, before, joined.startswith("--"))


def _value(text: str, place: _Place) -> Span | None:
    if text[place.end : place.end + 1] not in _MAY_FOLLOW:
        return None
    return _flagged(text, place) or _set(text, place) or _told(text, place)


def _flagged(text: str, place: _Place) -> Span | None:
    """`--password hunter2`"""
    found = _FLAGGED.match(text, place.end) if place.flag else None
    if found is None or found.lastindex is None:
        return None
    holds = _is_secret(place, found[found.lastindex], quoted=found.lastindex < _BARE)
    return Span(*found.span(found.lastindex), _name(place)) if holds else None


def _set(text: str, place: _Place) -> Span | None:
    """`password = "hunter2"`"""
    found = _ASSIGNS.match(text, place.end)
    if found is None or found.lastindex is None:
        return None
    start, end = found.span(found.lastindex)
    quoted = found.lastindex < _BARE
    if not quoted and _ENV_LINE.search(text[max(0, start - 90) : start]):
        quoted = True
        end += len(_REST_OF_WORD.findall(text[end : end + 200])[0])
    if text[end : end + 1] in _BRACKETS and _is_called_password(place):
        rest = _REST_OF_VALUE.findall(text[end : end + 200])[0]
        end += 0 if _CALL.match(text[start:end] + rest) else len(rest)
    value = text[start:end].rstrip("\\")
    holds = text[end : end + 1] not in _BRACKETS and _is_secret(place, value, quoted=quoted)
    return Span(start, start + len(value), _name(place)) if holds else None


def _told(text: str, place: _Place) -> Span | None:
    """`my password is hunter2`"""
    found = _SAID.match(text, place.end)
    if found is None or not found.lastindex:
        return None
    value = found[found.lastindex].rstrip(".,;:)»]}")
    start = found.start(found.lastindex)
    if (value.isalpha() and len(value) < 16) or _CALL.match(value) or is_stand_in(value) or is_reference(value):
        return None
    if place.word == "pin":
        holds = found.lastindex < 3 and value.isdigit() and 4 <= len(value) <= 8
    elif place.word == "pass":
        holds = _is_made_up(value) and len(value) >= 8 and value.isalnum()
    elif _is_called_password(place):
        holds = _is_made_up(value) and (found.lastindex < 3 or len(value) >= 6)
    else:
        holds = len(value) >= 16 and _is_key(place, value, quoted=False) and (found.lastindex < 3 or _is_made_up(value))
    return Span(start, start + len(value), _name(place)) if holds else None


def _is_made_up(value: str) -> bool:
    """Whether a word in running text is no word of the language: letters and digits in one piece, or signs inside."""
    if _SCHEMES.match(value) or is_uuid(value):
        return False
    if _SIGNS.search(value[:-1]) and any(char.isalnum() for char in value):
        return True
    return any(
        any(char.isdigit() for char in piece) and any(char.isalpha() for char in piece) and len(piece) >= 4
        for piece in _APART.split(value)
    )


def _is_secret(place: _Place, value: str, *, quoted: bool) -> bool:
    if len(value) < 4 or (value.isalpha() and not quoted and len(value) < 16) or value.lower() in _VALUES:
        return False
    if is_stand_in(value) or is_reference(value):
        return False
    if " " in value:
        return place.word.startswith("passphrase") and _is_phrase(value)
    if place.word == "pin":
        return value.isdigit() and 4 <= len(value) <= 8
    if place.word == "pass":
        return _is_made_up(value) and (quoted or place.before != "")
    if _is_called_password(place):
        return _is_password(value, quoted)
    return _is_key(place, value, quoted)


def _is_password(value: str, quoted: bool) -> bool:
    if _SCHEMES.fullmatch(value):
        return False
    if value.isdigit():
        return quoted or len(value) >= 6
    if _is_made_up(value) or (len(value) >= 12 and looks_random(value)):
        return True
    return quoted and len(value) >= 6 and value.isascii() and value.isalpha() and value.islower()


def _is_key(place: _Place, value: str, quoted: bool) -> bool:
    if value.isdigit() or len(value) < (8 if quoted else 12) or _SCHEMES.fullmatch(value):
        return False
    if is_uuid(value):
        return place.word.startswith(("secret", "key")) or place.before in (
            "access",
            "auth",
            "api",
            "refresh",
            "bearer",
        )
    mixed = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    return (mixed or len(value) >= 20) and looks_random(value)


def _is_phrase(value: str) -> bool:
    words = value.split()
    return len(words) >= 3 and value.islower() and not {"the", "to", "for", "a", "is", "of", "and", "in"} & set(words)


def _is_called_password(place: _Place) -> bool:
    return not place.word.startswith(("secret", "token", "key", "credential", "pin"))


def _name(place: _Place) -> str:
    if place.word == "pin":
        return "pin"
    if place.word.startswith(("pass", "pwd")):
        return "password"
    return (
        "token" if place.word.startswith("token") else "secret" if place.word.startswith(("secret", "cred")) else "key"
    )
