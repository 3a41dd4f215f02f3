"""Passwords called by their name in ordinary speech, logins, and settings with a name and a value apart."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lamina.capture.redact.placeholders import is_uuid
from lamina.capture.redact.secret_span import SecretSpan
from lamina.capture.redact.secret_words import (
    ACCOUNT,
    ANY_CASE,
    CODE,
    COMMON_WORDS,
    COPULA,
    END_OF_VALUE,
    PASSWORD,
    SIGN_OR_DIGIT,
    UNITS,
    is_descriptive,
    is_harmless,
    without_punctuation,
)

_TAIL = r"[^.\n:=!?;]{0,60}?"
"""What may stand between the name of a secret and its value: "of the shed", "at home"."""
_WORD = r"[^\s\"“”„‘'`«»,;()\[\]]{3,120}"
_QUOTED = r"[\"“„‘'`«][ ]?([^\"“”„‘’'`«»\n]{3,80}?)[ ]?[\"”“’'`»]"
_NAMED = re.compile(
    rf"\b{PASSWORD}\b(?:{_TAIL}(?:{COPULA}|[ ]to[ ])|(?P<adjacent>[ ]))(?:(?P<quoted>{_QUOTED})|(?P<word>{_WORD}))",
    ANY_CASE,
)
_AND_NOW = re.compile(
    rf"(?:[ ](?:before|vorher|avant))?,[ ](?:(?:and|but|now|und|jetzt|maintenant|ahora|ora"
    rf"|agora)[ ]?){{0,2}}{COPULA}({_WORD})",
    ANY_CASE,
)
_NEAR = re.compile(
    rf"\b{PASSWORD}\b[^\n.!?\d]{{1,70}}?(?P<before>[^\s\"“‘'(]{{0,8}})[ \t\"“‘'(](?=[^\s]{{0,40}}\d)(?P<value>{_WORD})",
    ANY_CASE,
)
_SYSTEM_FOLLOWS = re.compile(
    r"(?:for|on|of|at|from|für|von|auf|am|pour|sur|de|du|en|para|del|su|di|per|em|no|na|user|account)\Z", ANY_CASE
)
_OTHER = re.compile(
    r"v?\d+(?:[.,:/-]\d+)+\w{0,3}[.,;]?$|\d+(?:st|nd|rd|th|x|k|m|h|s|d|min|ms|gb|mb|am|pm|er|e|º|ª)\b|sha-?\d|md5|aes"
    r"|tls|oauth|2fa|mfa"
    r"|[a-z]{1,6}-?\d{1,2}$|http|1password|office365|web\d|ios\d|win\d",
    ANY_CASE,
)
_SHORT_NAME = re.compile(r"(?:pw|pwd|mdp|psw) ", ANY_CASE)
_QUALIFIED = re.compile(rf"{PASSWORD} (?:for|to|of|at|from|für|vom|zum|pour|de|del|della|per|do|da|para) ", ANY_CASE)
_SET_AS = re.compile(
    rf"[ ]({_WORD})[ ](?:as|comme|como|come|als)[ ](?:[^\s.]{{1,12}}[ ]){{0,3}}?{PASSWORD}\b", ANY_CASE
)
_CHANGED_TO = re.compile(
    r"\b(?:changed|switched|set|reset)[ ](?:my |the |our )?(?:netflix|hulu|spotify|disney\S{0,2}|hbo|prime|steam|gmail"
    r"|icloud|amazon"
    rf"|wi-?fi|router|email|paypal|facebook|instagram)[ ]to[ ]({_WORD})",
    ANY_CASE,
)
_FROM_TO = re.compile(
    rf"\b(?:{PASSWORD}|{CODE})\b{_TAIL}[ ](?:from|von|de|da|del)[ ]({_WORD})[ ](?:to|auf|zu|in|à|a|para)[ ]({_WORD})",
    ANY_CASE,
)
_LOGIN = re.compile(
    r"\b(?:log-?[ ]?ins?|credentials|creds|sign-?[ ]?in|zugang(?:sdaten)?|anmeldung|identifiants?|acceso|credenciales"
    r"|accesso|credenziali|acesso|credenciais|account|acct)\b(?:[^.\n:=!?;]{0,40}?)(?:[ ]?[:=][ ]?|"
    r"[ ](?=[^\s@]{1,64}@)|[ ](?:is|are|ist|sind|est"
    r"|sont|es|son|è|sono|é|são)[ ])"
    rf"({_WORD})(?:[ ](?:/|\||and|und|et|y|e|with|mit)[ ]|/|,[ ]|[ ]?:[ ]?)(?:{PASSWORD}[ :]{{1,3}})?({_WORD})",
    ANY_CASE,
)
_PAIR = re.compile(rf"(?:\b[\w.]{{2,20}}: {_WORD} / |[^\s@]{{1,64}}@[^\s@/|]{{3,80}} [/|] )({_WORD})")
_SETTING = re.compile(
    r"\bname[\"']?\s{0,4}[:=]\s{0,4}[\"']?[\w.-]{0,60}(?:pass(?:w(?:or)?d|phrase)?|pwd|secret|token|api[_-]?key"
    r"|private[_-]?key|credential)(?:[_.-][\w.-]{0,40})?[\"']?,?\s{1,80}(?:- )?[\"']?value[\"']?\s{0,4}[:=]\s{0,4}"
    r"(?:\"([^\"\n]{3,300})\"|'([^'\n]{3,300})'|([^\s\"',{}]{3,300}))",
    ANY_CASE,
)
_ENVIRONMENT = re.compile(
    r"(?<![\w-])[A-Z][A-Z0-9_]{0,60}?(?:PASSWOR[DT]|PASSPHRASE|PASSWD|SENHA|CONTRASENA|MDP"
    r"|SECRET)(?:_KEY)?=(?:\"([^\"\n]{6,300})\"|'([^'\n]{6,300})'"
    r"|([^\s\"']{6,300}))(?=\s|$)"
)
_PHRASE = re.compile(
    rf"\b(?:pass[ -]?phrase|master[ -]?password|passwort-?satz|phrase de passe|frase[ -](?:de contraseña|secreta|senha"
    rf"|di accesso|segreta))\b{_TAIL}{COPULA}"
    r"([^\W\d_]{3,12}(?:[ -][^\W\d_]{3,12}){2,9})(?=[ ]?(?:[.,;!?)\n]|$))",
    ANY_CASE,
)
_ANSWER = re.compile(
    r"\b(?:security (?:question )?answer|answer to (?:the|my|our) security question|(?:security question"
    r"|sicherheitsfrage|question"
    r" (?:secrète|de sécurité)|pregunta de seguridad|domanda di sicurezza|pergunta de segurança)[^.\n]{0,60}?"
    r"(?:answer|antwort|réponse|respuesta|risposta|resposta))\b"
    rf"{_TAIL}{COPULA}([^\s.,;!?\n]{{3,30}}(?:[ ][A-ZÀ-Ü][^\s.,;!?\n]{{1,20}}){{0,3}})",
    ANY_CASE,
)
_STEM_WORDS = """
    pass psk frase phrase pwd pw kennwort mdp contrase senha clav key schlüssel clé chiave security segur sicher
    sécur log cred zugang anmeld identif acces acceso accesso account code cód codi combo kombi combi pin puk name
    secret changed switched set / _
"""
_STEMS = tuple(_STEM_WORDS.split())


def find_spoken_passwords(text: str) -> Iterator[SecretSpan]:
    """Yield the passwords that a person or a configuration calls by their name, and those of logins."""
    lowered = text.lower()
    if any(stem in lowered for stem in _STEMS):
        yield from _find_named(text)
        yield from _find_pairs(text)
        yield from _find_phrases(text)


def _find_named(text: str) -> Iterator[SecretSpan]:
    for match in _NAMED.finditer(text):
        if match["quoted"]:
            if not is_harmless(match[3]) and (" " in match[3] or not is_descriptive(match[3])):
                yield SecretSpan(*match.span(3), "password")
        elif _is_password(text, match):
            start = match.start("word")
            end = start + len(without_punctuation(match["word"]))
            yield SecretSpan(start, end, "password")
            following = _AND_NOW.match(text, end)
            if following and _is_made_up(without_punctuation(following[1])):
                yield _span(following, 1)
    for match in _NEAR.finditer(text):
        value = match["value"]
        is_system = _SYSTEM_FOLLOWS.match(match["before"]) or _OTHER.match(value) or is_uuid(value)
        if _is_made_up(without_punctuation(value)) and not is_system:
            yield _span(match, "value")
    for pattern in (_SET_AS, _CHANGED_TO):
        for match in pattern.finditer(text):
            if _is_made_up(without_punctuation(match[1])):
                yield _span(match, 1)


def _is_password(text: str, match: re.Match[str]) -> bool:
    """Return whether the word after "the password is" is one: it has digits or signs, or it is all that is said."""
    start, value = match.start("word"), without_punctuation(match["word"])
    rest = text[start + len(value) : start + len(value) + 20]
    if is_harmless(value) or is_descriptive(value) or UNITS.match(rest):
        return False
    if match["adjacent"]:
        is_short_name = _SHORT_NAME.match(match.group()) is not None
        return _is_made_up(value) or (is_short_name and value.isalpha() and bool(END_OF_VALUE.match(rest)))
    if SIGN_OR_DIGIT.search(value):
        return len(value) >= 4 and any(char.isalnum() for char in value)
    is_qualified = ACCOUNT.search(text[max(0, match.start() - 40) : start]) or _QUALIFIED.match(match.group())
    return value.isalpha() and len(value) >= 4 and bool(is_qualified) and bool(END_OF_VALUE.match(rest))


def _is_made_up(value: str) -> bool:
    """Return whether letters are mixed with digits or signs, as they hardly are in words, addresses and dates."""
    if len(value) < 6 or "@" in value[1:] or is_harmless(value) or "://" in value:
        return False
    return any(char.isalpha() for char in value[1:]) and SIGN_OR_DIGIT.search(value) is not None


def _find_pairs(text: str) -> Iterator[SecretSpan]:
    for match in _FROM_TO.finditer(text):
        values = [without_punctuation(match[group]) for group in (1, 2)]
        if all(len(value) >= 4 and not is_harmless(value) and not is_descriptive(value) for value in values):
            yield _span(match, 1)
            yield _span(match, 2)
    for match in _LOGIN.finditer(text):
        value = without_punctuation(match[2])
        is_named = SIGN_OR_DIGIT.search(value) or ACCOUNT.search(text[max(0, match.start() - 20) : match.start()])
        is_value = len(value) >= 4 and is_named and not value.endswith(":") and not is_descriptive(value)
        rest = text[match.start(2) + len(value) : match.start(2) + len(value) + 20]
        if is_value and not is_harmless(value) and not UNITS.match(rest):
            yield _span(match, 2)
    for match in _PAIR.finditer(text):
        value = without_punctuation(match[1])
        if _is_made_up(value) and len(value) >= 8 and not value.islower() and "/" not in value:
            yield _span(match, 1)
    for pattern in (_SETTING, _ENVIRONMENT):
        for match in pattern.finditer(text):
            group = match.lastindex or 1
            if not is_harmless(match[group]):
                yield SecretSpan(*match.span(group), "secret")


def _find_phrases(text: str) -> Iterator[SecretSpan]:
    for match in _PHRASE.finditer(text):
        words = match[1].lower().split()
        if not COMMON_WORDS & set(words) and (len(words) > 3 or not is_descriptive(words[0])):
            yield SecretSpan(*match.span(1), "password")
    for match in _ANSWER.finditer(text):
        if not is_descriptive(match[1].split()[0]):
            yield SecretSpan(*match.span(1), "security answer")


def _span(match: re.Match[str], group: int | str) -> SecretSpan:
    start = match.start(group)
    return SecretSpan(start, start + len(without_punctuation(match[group])), "password")
