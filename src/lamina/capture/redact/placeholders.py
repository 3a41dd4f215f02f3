"""Values that look like secrets but are none: placeholders, names, code, digests and plain words."""

from __future__ import annotations

import math
import re
from collections import Counter

_PLACEHOLDER = re.compile(
    r"example|x{5}|your[-_ ]|[-_<]your|changeme|change[-_ ]me|placeholder|redacted|dummy|sample|insert|replace"
    r"|\btodo\b|foo_?bar|\.\.\.|…|\*{3}|#{3}|•{3}|_here\b|-here\b|-goes-",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"^\$[A-Z_][A-Z0-9_]*$|\$\{|\$\(|\{\{|^\{[^{}]*\}$|\{[A-Za-z_][\w.\[\]]*\}|^<[^<>]*>$|^\[[^\]]*\]$|%\(\w+\)|^%[sdr]|^%\w+%$|^@\w+@$"
    r"|^&\w+$|^!\w+$|::|->|=>|^\w+(?:\.\w+)*\(.*\)$"
    r"|^(?:os|env|process|self|this|cls|config|settings|args|options|params|request|req|ctx|secrets|vars|var|data|local"
    r"|module|props|state|event|user|credentials)[.?\[]"
)
_DIGEST = re.compile(r"(?:sha\d{1,3}|md5)[-:=$]|\$2[aby]\$|\$(?:argon2|pbkdf2|scrypt|[156]\$)|\{SSHA", re.IGNORECASE)
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_PATH = re.compile(r"^(?:\.{0,2}/|~/|[A-Za-z]:\\|https?://|file:|[\w-]+/[\w./-]+\.\w{1,5}$)")
_LETTERS = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{3,}")
_CHANGE = re.compile(r"(?<=[a-z])[A-Z]|(?<=[A-Za-z])\d|(?<=\d)[A-Za-z]")
_VOWEL = re.compile(r"[aeiouy]", re.IGNORECASE)
_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]{5}", re.IGNORECASE)


def is_placeholder(value: str) -> bool:
    """Return whether a value is a placeholder for a secret by its words, or hardly varies."""
    return len(set(value)) < min(6, max(3, len(value) // 4)) or _PLACEHOLDER.search(value) is not None


def is_reference(value: str) -> bool:
    """Return whether a value is code, a variable, a path, an address or a digest: it leads to a secret and is none."""
    return any(form.search(value) for form in (_CODE, _PATH)) or _DIGEST.match(value) is not None


def is_uuid(value: str) -> bool:
    """Return whether a value is a UUID."""
    return _UUID.fullmatch(value) is not None


def entropy(value: str) -> float:
    """Return the entropy of a value in bits per character, by its own letter counts."""
    total = len(value)
    return -sum(count / total * math.log2(count / total) for count in Counter(value).values()) if total else 0.0


def word_share(value: str) -> float:
    """Return the share of a value that is in pronounceable runs of letters: large in a name, small in random text."""
    pronounceable = sum(
        len(run.group())
        for run in _LETTERS.finditer(value)
        if len(run.group()) >= 4 and _VOWEL.search(run.group()) and not _CONSONANTS.search(run.group())
    )
    return pronounceable / len(value) if value else 0.0


def looks_random(value: str) -> bool:
    """Return whether a long value looks random: it varies and is not made of words."""
    is_varied = entropy(value) >= min(3.0, math.log2(max(2, len(value))) * 0.75)
    is_mixed = any(char.isdigit() for char in value) or entropy(value) >= 4.0
    changes_often = len(value) >= 20 and len(_CHANGE.findall(value)) >= len(value) / 5
    return is_varied and is_mixed and word_share(value) < (0.8 if changes_often else 0.45)
