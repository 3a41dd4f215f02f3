"""Checks that tell real secrets, card and account numbers from similar text: check digits and decoded contents."""

from __future__ import annotations

import base64
import binascii
import json
import zlib

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
