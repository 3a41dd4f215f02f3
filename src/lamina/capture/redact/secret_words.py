"""Words of six languages with which people speak of passwords and codes, and words that are never one."""

from __future__ import annotations

import re

from lamina.capture.redact.placeholders import is_placeholder, is_reference

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
