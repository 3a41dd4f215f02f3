"""The form of secrets: their spans, their checksums, and the words and placeholders that are none."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

ESCAPE_LETTERS = "nrtbfv"


class SecretSpan(NamedTuple):
    """The place of a secret and its name; never the secret itself."""

    start: int
    end: int
    name: str


SecretFinder = Callable[[str], Iterator[SecretSpan]]


def is_word_start(text: str, position: int) -> bool:
    r"""Return whether no word runs into this position; the letter of an escape such as `\n` or `%3D` is no word."""
    if position == 0 or not (text[position - 1].isalnum() and text[position - 1].isascii()):
        return True
    before = text[max(0, position - 6) : position]
    is_escape = before[-2:-1] == "\\" and before[-1] in ESCAPE_LETTERS
    return is_escape or before[-3:-2] == "%" or before[-4:-2] == "\\x" or before[:2] == "\\u"


_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_BECH32_STEPS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)


def base62_crc32(body: str) -> str:
    """Return the six characters that end a GitHub or npm token, computed from the thirty before them."""
    number, digits = zlib.crc32(body.encode()), ""
    while number:
        number, digit = divmod(number, 62)
        digits = _BASE62[digit] + digits
    return digits.rjust(6, "0")


def has_base62_crc32(token: str) -> bool:
    """Return whether a token `xxx_` + 36 characters ends in its own checksum."""
    body = token.rpartition("_")[2]
    return len(body) == 36 and body.isascii() and base62_crc32(body[:30]) == body[30:]


def bech32_checksum(prefix: str, words: list[int]) -> list[int]:
    """Return the six five-bit words that end a Bech32 string (BIP 173)."""
    expanded = [ord(char) >> 5 for char in prefix] + [0] + [ord(char) & 31 for char in prefix]
    state = _bech32_state([*expanded, *words, 0, 0, 0, 0, 0, 0]) ^ 1
    return [(state >> 5 * (5 - at)) & 31 for at in range(6)]


def is_bech32(text: str) -> bool:
    """Return whether a string of one case ends in the checksum of the text before it."""
    prefix, separator, data = text.lower().rpartition("1")
    if not separator or len(data) < 6 or any(char not in _BECH32 for char in data):
        return False
    words = [_BECH32.index(char) for char in data]
    return bech32_checksum(prefix, words[:-6]) == words[-6:]


def _bech32_state(words: list[int]) -> int:
    state = 1
    for word in words:
        top = state >> 25
        state = (state & 0x1FFFFFF) << 5 ^ word
        for bit, step in enumerate(_BECH32_STEPS):
            state ^= step if top >> bit & 1 else 0
    return state


def is_json_web_token(token: str) -> bool:
    """Return whether the first part decodes to a JSON object, as the header of a JSON web token does."""
    header = token.partition(".")[0]
    try:
        return isinstance(json.loads(_decode_base64(header)), dict)
    except (ValueError, RecursionError):
        return False


def has_discord_user_id(token: str) -> bool:
    """Return whether the first part decodes to the id of a Discord user."""
    try:
        return _decode_base64(token.partition(".")[0]).isdigit()
    except ValueError:
        return False


def _decode_base64(part: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except binascii.Error as error:
        raise ValueError("not base64") from error


def passes_luhn(number: str) -> bool:
    """Return whether the last digit of a card number is its check digit."""
    digits = [int(char) for char in number if char.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def passes_mod97(account: str) -> bool:
    """Return whether the two check digits of an international bank account number are right."""
    rotated = account[4:] + account[:4]
    return int("".join(str(int(char, 36)) for char in rotated)) % 97 == 1


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


ANY_CASE = re.IGNORECASE


def alternatives(words: str) -> str:
    """Return a pattern of words separated by white space; `_` stands for a space or hyphen, or for nothing."""
    return "|".join(word.replace("_", "[ -]?") for word in sorted(words.split(), key=len, reverse=True))


_PASSWORD_NAMES = """
    passwords? pass_?phrases? pass_?codes? pass pwd pw passwort kennwort passwörter mot_de_passe mdp contraseña
    contrasena senha palavra-passe psk wifi_key wi-fi_key wpa2?_key network_key wlan-?schlüssel wlan_key clé_wi-?fi
    chiave_wi-?fi netzwerkschlüssel api-?key api-?schlüssel clé_api clé_d['’]api token_d['’]accès token_de_acesso
    token_de_acceso token_di_accesso zugriffstoken clave_de_(?:la_)?api chiave_api chave_(?:da_|de_)?api
"""
_SPANISH_KEY = (
    r"clave(?: secreta)?(?= (?:de |del |para )?(?:la |el |mi |nuestr[oa] )?(?:wi-?fi|red|netflix|banco|correo))"
)
PASSWORD = rf"(?:{alternatives(_PASSWORD_NAMES)}|{_SPANISH_KEY})"
_CODE_NAMES = """
    codes? combination combo pins? pin_?code pin_?number puk zahlencode zahlenkombination zahlenkombi kombination kombi
    combinaison código codigo clave combinación codice combinazione combinação segredo segredo
"""
CODE = rf"(?:{alternatives(_CODE_NAMES)})"
_SELF_NAMED_CODES = """
    pin_?code puk(?:-?code)? cv[vc]2? geheimzahl digicode keycode code_secret código_secreto
    codice_segreto numero_segreto
"""
_COMPOUND = (
    r"(?:alarm|tür|haustür|tor|garagen(?:tor)?|tresor|safe|zugangs|eingangs|schließfach|schloss|sperr|entsperr"
    r"|sicherheits|handy|geheim|karten|keller|pin)-?(?:code|kombination|pin|zahl|nummer)"
)
SELF_NAMED_CODE = rf"(?:{alternatives(_SELF_NAMED_CODES)}|{_COMPOUND})"
"""What needs no word that says which door or card it opens."""
_LOCKS = """
    alarm burglar safe vault lock padlock locker keypad keybox key_box lock_?box gate garage door entry entrance shed
    alarmanlage tresor schließfach schloss fahrradschloss haustür tür garagentor garage tor
    alarme coffre coffre-fort cadenas antivol portail porte digicode
    alarma caja_fuerte candado portón garaje puerta cassaforte antifurto allarme lucchetto cancello portone
    cofre cadeado portão garagem
"""
LOCK = rf"(?:{alternatives(_LOCKS)})"
_CARDS = """
    sim card debit atm phone voicemail ipad iphone android visa mastercard handy karte ec-karte kreditkarte carte
    téléphone
    portable tarjeta móvil movil carta bancomat telefono cartão telemóvel celular
"""
CARD = rf"(?:{alternatives(_CARDS)})"
_PLACES = (
    _LOCKS
    + """
    access security unlock voicemail building lobby elevator pool parking sim card debit bank atm phone screen
    tablet house
    bike gym office flat apartment airbnb luggage suitcase wi-?fi login 2fa otp mfa tan sms verification banking laptop
    ipad iphone android visa mastercard cellar basement storage lift barn stable boat intercom
    eingang zugang handy karte ec-karte kreditkarte koffer keller tiefgarage schlüsselbox wohnung büro simkarte
    immeuble entrée carte accès téléphone portable boîte_à_clés valise
    tarjeta acceso entrada móvil movil edificio portal maleta trastero
    porta carta bancomat ingresso telefono palazzo valigia cantina
    cartão acesso telemóvel celular prédio mala condomínio
"""
)
PLACE = rf"(?:{alternatives(_PLACES)})"
_HARMLESS_CODES = """
    error status exit return http zip post area country dialling dialing promo coupon discount voucher gift referral
    invite
    booking reservation confirmation tracking order product bar qr dress source morse color colour tax airport building
    flight model part sort legal penal
    fehler gutschein rabatt buchungs vorwahl länder status farb
    postal promo erreur réduction réservation civil
    hotline helpline line manual reader page
    descuento promocional reserva fiscal sconto prenotazione errore cap desconto erro
"""
HARMLESS_CODE = re.compile(
    rf"pin[ ](?:the|it|this|that|them|your|our)\b|(?:{alternatives(_HARMLESS_CODES)})[ -]?{CODE}|{CODE}[ ](?:(?:de|di"
    rf"|da|do)[ ])?(?:{alternatives(_HARMLESS_CODES)})\b",
    ANY_CASE,
)
COPULA = (
    r"(?:[ ]?[:=：][ ]?|[ ][-–—>]+[ ]|['’]s[ ]"
    r"|,?[ ](?:is|it['’]s|its|was|are|becomes|ist|sind|lautet|heißt|war|est|c['’]est|c['’]était|était|sont|es|son|era"
    r"|è|sono|é"
    r"|são|será)(?:[ ]?:)?[ ])"
    r"(?:(?:now|still|currently|just|again|einfach|jetzt|nun|noch|immer noch|neu|désormais|maintenant|toujours|ahora"
    r"|todavía"
    r"|sempre|adesso|ora|ancora|agora|ainda|set to|changed to)[ :]{1,2}){0,2}"
)
CHANGED = (
    r"[ ](?:(?:has |have |had )?(?:been |was |is )?(?:changed|set|reset|updated|switched)(?: it)?[ ]to|to|auf|zu|en|à"
    r"|a|per"
    r"|para)[ ]"
)
UNITS = re.compile(
    r"[ -]?(?:digits?|characters?|chars|letters|words|seconds?|minutes?|hours?|days?|weeks?|months?|years?|people"
    r"|attempts?|times|bits?|stell\w*|ziffern|zeichen|tage?|zeilen|chiffres|caractères|lignes|jours|dígitos|caracteres"
    r"|cifras?|cifre|caratteri|giorni|dias|días|%|ms|s\b|am\b|pm\b|uhr\b|tokens?|lines|euros?|dollars?|pounds|eur\b"
    r"|usd\b|kg\b|cm\b|m\b)",
    ANY_CASE,
)
ACCOUNT = re.compile(
    r"(?:\b(?:my|our|his|her|their|your|mein\w{0,2}|unser\w{0,2}|mon|ma|notre|mi|nuestr[ao]|mio|mia|nostr[ao]|minha"
    r"|meu|noss[ao])"
    r"|['’]s|wi-?fi|wlan|netflix|spotify|disney\w*|router|guest|gäste|invité\w*|network|netzwerk|rete|red|rede|server"
    r"|root"
    r"|admin|email|e-mail|mail|gmail|icloud|amazon|steam|hulu|hbo|prime|banking|bank|laptop|computer|pc|nas|account)\b",
    ANY_CASE,
)
_NO_VALUE_WORDS = """
    the a an in on at by for from to of with under behind inside not never only always too so very quite really also
    still already now again and or but if that this these those what which who it its my your our his her their there
    here everywhere nowhere anything something nothing everything wrong weak strong long short safe secure secret
    correct
    right easy hard difficult gone missing new old fine good bad same different required optional invalid valid empty
    blank null none true false unknown hidden visible unique random known public private just up down about between
    written stored saved kept changed expired reset leaked shared hashed encrypted stolen lost forgotten broken case
    incorrect ridiculous terrible important annoying due yes no ok okay todo tbd pending fixed set unset default enough
    being getting going like as more less one two three four five six seven eight nine ten minimum maximum required!
    auf im in am an bei unter hinter der die das den dem ein eine nicht nie zu sehr noch immer falsch richtig neu
    alt lang
    kurz sicher unsicher schwach stark gleich anders weg da hier dort abgelaufen geändert vergessen gespeichert gesperrt
    wichtig pflicht erforderlich leer ungültig
    dans sur sous derrière chez le la les un une pas jamais trop très encore toujours mauvais faux bon nouveau
    ancien long
    court faible fort sûr perdu oublié expiré changé écrit noté incorrect obligatoire collé affiché
    en sobre bajo detrás el los las una no nunca demasiado muy todavía siempre mala malo incorrecta incorrecto nueva
    nuevo
    vieja larga corta débil fuerte segura seguro perdida olvidada caducada cambiada escrita apuntada obligatoria pegada
    nel nella sul sulla sotto dietro il lo gli una non mai troppo molto ancora sempre sbagliata sbagliato errata nuova
    vecchia lunga corta debole forte sicura persa dimenticata scaduta cambiata scritta obbligatoria
    no na nos nas em sob atrás o os as uma não nunca muito demais ainda sempre errada errado nova velha longa curta
    fraca
    forte segura perdida esquecida expirada trocada escrita anotada obrigatória colada
"""
_NO_VALUES = frozenset(_NO_VALUE_WORDS.split())
_NO_ENDINGS = ("ed", "ing", "able", "ible", "ly", "less", "ful", "able", "ado", "ada", "ato", "ata", "ido", "ida")
END_OF_VALUE = re.compile(
    r"[ ]?(?:[.!?,;)\n]|$)|[ ](?:and|but|by the way|und|aber|wie|et|mais|y|pero|e|ma|mas|btw|ok|fyi|please|pls|[-–—(])"
)
_COMMON_WORDS = "the a an to for is of and in on at it that this with not too very we you der die das und"
_TO_FILL_IN = re.compile(
    r"(?:^|[_-])(?:hier|aqu[ií]|ici|qui)(?:[_-]|$)|eintragen|einf(?:ü|ue)gen|inserisci|coloque|votre|deine?[_-]",
    ANY_CASE,
)
COMMON_WORDS = frozenset(_COMMON_WORDS.split())
SIGN_OR_DIGIT = re.compile(r"[\d!@#$%^&*+=?~|_]")


def is_descriptive(word: str) -> bool:
    """Return whether a word describes a password instead of being one."""
    lowered = word.lower().strip("'’")
    return lowered in _NO_VALUES or (lowered.isalpha() and lowered.endswith(_NO_ENDINGS))


def is_harmless(value: str) -> bool:
    """Return whether a value is a placeholder, a reference to a secret or a mark that replaced one."""
    return is_placeholder(value) or is_reference(value) or "[redacted" in value or _TO_FILL_IN.search(value) is not None


def without_punctuation(value: str) -> str:
    """Return a value without the punctuation of the sentence it ends; a password may end in an exclamation mark."""
    return value.rstrip(".,;:)»]}?" if SIGN_OR_DIGIT.search(value[:-1]) else ".,;:)»]}?!")
