"""Secrets as people say them: passwords, codes, and what restores an account, in the words of seven languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lamina.capture.redact.secret_values import (
    ACCOUNT,
    ANY_CASE,
    CARD,
    CHANGED,
    CODE,
    COMMON_WORDS,
    COPULA,
    END_OF_VALUE,
    HARMLESS_CODE,
    LOCK,
    PASSWORD,
    PLACE,
    SELF_NAMED_CODE,
    SIGN_OR_DIGIT,
    UNITS,
    SecretSpan,
    is_descriptive,
    is_harmless,
    is_uuid,
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


_TOKEN = re.compile(
    r"(?<![\w.,:/$€£-])(?:\d{1,2} (?:left|right|links|rechts)(?:,? (?:then )?\d{1,2} (?:left|right|links|rechts)){1,4}"
    r"|[#*]?\d(?:[ -]?\d){2,11}(?:[A-Za-z]{1,3})?[#*]?|[A-Z]{2,5}\d{1,2}|[#*]?\d{1,6}[A-Za-z]{1,3}\d{1,8}[#*]?"
    r"|[A-Za-z]{1,3}-?\d{3,8}"
    r"[A-Za-z]?[#*]?)(?![\w%€$£/]|[.,:]\d)"
)
MAX_DIGITS = 8
"""Longer numbers are telephone, card or account numbers, not what one types at a door."""
_CHARS_BEFORE, _CHARS_AFTER = 80, 50
_SENTENCE_END = re.compile(
    r"[.!?]\s+(?!(?:it|that)['’]?s\b|it is\b|(?:es|das) ist\b|c['’]est\b|es el\b|es la\b|è il\b|é o\b)|\n", ANY_CASE
)
_CONNECTOR = rf"(?:{COPULA}|{CHANGED}|[.!?]\s+(?:it|that)['’]?s[ ]|[.!?]\s+(?:es|das) ist[ ]|[.!?]\s+c['’]est[ ])"
_NAMED_CODE = re.compile(
    rf"\b(?:{SELF_NAMED_CODE}|{CODE})(?:['’]s)?\b(?:[^\d=:]{{0,60}}?{_CONNECTOR}"
    rf"|(?:(?:[ ]\w{{1,5}}){{0,2}}[ ]{PLACE})?[ ])\Z",
    ANY_CASE,
)
_OPENED = re.compile(
    rf"\b{LOCK}\b[^\d]{{0,50}}?[ ](?:opens? with|wants|takes|uses|used|wants the code|geht mit|geht auf mit|öffnet mit"
    rf"|s['’]ouvre"
    r" avec|se abre con|abre con|abre com|si apre con|punch in|type in|type|enter|press|pon|marca|teclea|digita|digite"
    r"|tippe?|tapez|composez)[ ]\Z",
    ANY_CASE,
)
_TYPED = re.compile(
    r"\b(?:use|type|type in|enter|punch in|press|dial|tipp?e?|gib|drücke|tape[rz]?|composez|pon|marca|teclea|digita"
    r"|digite)[ ]\Z",
    ANY_CASE,
)
_TYPED_AFTER = re.compile(rf"[ ](?:\w{{1,12}}[ ]){{1,4}}?{LOCK}\b", ANY_CASE)
_NAMED_AFTER = re.compile(
    rf"[ ](?:is|ist|est|es|è|é|was)[ ](?:\w{{1,12}}[ ]){{1,3}}?(?:{PLACE}[ -]?{CODE}|{SELF_NAMED_CODE}"
    rf"|{CODE}[^.\n!?]{{1,30}}?\b{PLACE})\b",
    ANY_CASE,
)
_UNLOCK = re.compile(r"\b(?:unlock|entsperren|déverrouiller|desbloquear|sbloccare)\b", ANY_CASE)
_CODE_NAME = re.compile(rf"\b(?:{CODE}|{SELF_NAMED_CODE})\b", ANY_CASE)
_LOCK = re.compile(rf"\b(?:{LOCK}|{CARD})\b", ANY_CASE)
_NOT_A_CODE_BEFORE = re.compile(
    r"(?:\b(?:in|since|until|at|by|room|apartment|apt|flat|unit|number|no|house|street|floor|seit|bis|um|zimmer|nummer"
    r"|depuis"
    r"|chambre|numéro|desde|habitación|número|dal|camera|numero|desde|quarto|extension|ext|bus|line|year|ending in"
    r"|phone|call"
    r"|from|option|version)\.?|#)[ ]\Z",
    ANY_CASE,
)
_SELF_NAMED = re.compile(rf"(?<![\"'])\b(?:{SELF_NAMED_CODE}|pin)\b", ANY_CASE)
_ANY_PLACE = re.compile(rf"\b{PLACE}\b", ANY_CASE)
_CODE_STEM_WORDS = """
    code cód codi combo combi kombi pin puk clav zahl nummer cvv cvc pad box numero use type enter punch press dial
    tip gib drück tape composez marca teclea digit open takes wants geht öffnet ouvre abre apre pon
"""
_CODE_STEMS = tuple(_CODE_STEM_WORDS.split())


def find_spoken_codes(text: str) -> Iterator[SecretSpan]:
    """Yield every number that is said to open a door, a card, a safe or an account."""
    lowered = text.lower()
    if not any(stem in lowered for stem in _CODE_STEMS):
        return
    for match in _TOKEN.finditer(text):
        value = match.group()
        if sum(map(str.isalnum, value)) < 3 or sum(map(str.isdigit, value)) > MAX_DIGITS:
            continue
        before = _SENTENCE_END.split(text[max(0, match.start() - _CHARS_BEFORE) : match.start()])[-1]
        after = _SENTENCE_END.split(text[match.end() : match.end() + _CHARS_AFTER])[0]
        if not UNITS.match(after) and _is_announced(before, after):
            yield SecretSpan(*match.span(), "code")


def _is_announced(before: str, after: str) -> bool:
    """Return whether the words around a number say that it is a code and what it opens."""
    named = _NAMED_CODE.search(before)
    if named:
        is_place_named = _SELF_NAMED.search(before) or _ANY_PLACE.search(before) or _ANY_PLACE.search(after)
        return bool(is_place_named) and HARMLESS_CODE.search(before[max(0, named.start() - 16) :]) is None
    mentioned = list(_CODE_NAME.finditer(before + "\0" + after))
    if mentioned and not _NOT_A_CODE_BEFORE.search(before):
        around = before + "\0" + after
        return _LOCK.search(around) is not None and HARMLESS_CODE.search(around) is None
    if _OPENED.search(before) or _NAMED_AFTER.match(after):
        return True
    return _TYPED.search(before) is not None and bool(_TYPED_AFTER.match(after) or _UNLOCK.search(before))


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
_PHRASE_WORD = re.compile(r"[^\W\d_]+")
_MIN_WORDS = 12
_RECOVERY_CHARS_BEFORE, _CHARS_INSIDE = 120, 40
_BACKUP_CODES = re.compile(
    r"\b(?:(?:backup|recovery|rescue|emergency|one-time)[ -]codes?|(?:backup|wiederherstellungs|notfall)-?codes?"
    r"|codes? de (?:secours|récupération)|códigos? de (?:respaldo|recuperación|recuperação|backup|emergencia|segurança)"
    r"|codici di (?:backup|recupero|emergenza))\b[^\d]{0,60}?[:=\s]\s{0,3}"
    r"((?:(?=[A-Za-z-]{0,12}\d)[A-Za-z0-9]{2,12}(?:[ -][A-Za-z0-9]{2,12})?(?:[\s,;/]{1,3}(?:(?:and|und|et|y|e)[ ])?"
    r"|$)){1,16})",
    ANY_CASE,
)
_CODE = re.compile(r"(?=[A-Za-z-]{0,12}\d)[A-Za-z0-9]{3,12}(?:-[A-Za-z0-9]{2,12}){0,4}")
_RECOVERY_STEM_WORDS = """
    seed setup einricht phrase frase words mnemonic wallet wiederher recover backup rescue emergency secours récup
    recup respaldo notfall segurança one-time totp 2fa mfa otp authent autentic factor faktor
"""
_RECOVERY_STEMS = tuple(_RECOVERY_STEM_WORDS.split())


def find_recovery_secrets(text: str) -> Iterator[SecretSpan]:
    """Yield seeds of one-time passwords, recovery phrases of twelve words and more, and backup codes."""
    lowered = text.lower()
    if not any(stem in lowered for stem in _RECOVERY_STEMS):
        return
    for match in _SEED.finditer(text):
        if _is_seed(match[1]):
            yield SecretSpan(*match.span(1), "one-time password seed")
    for match in _SEED_ADDRESS.finditer(text):
        yield SecretSpan(*match.span(1), "one-time password seed")
    if _PHRASE_NAME.search(text):
        yield from _find_recovery_phrases(text)
    for match in _BACKUP_CODES.finditer(text):
        for item in _CODE.finditer(match[1]):
            start = match.start(1) + item.start()
            yield SecretSpan(start, start + len(item.group()), "recovery code")


def _find_recovery_phrases(text: str) -> Iterator[SecretSpan]:
    for match in _WORDS.finditer(text):
        if not _PHRASE_NAME.search(text, max(0, match.start() - _RECOVERY_CHARS_BEFORE), match.start() + _CHARS_INSIDE):
            continue
        run: list[re.Match[str]] = []
        for word in _PHRASE_WORD.finditer(match.group()):
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
