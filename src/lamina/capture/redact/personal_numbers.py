"""Numbers that identify a person or an account, redacted only if the settings ask for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lamina.capture.redact.checks import passes_luhn, passes_mod97
from lamina.capture.redact.secret_span import SecretSpan

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
