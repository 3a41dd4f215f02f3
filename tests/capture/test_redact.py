"""Secrets are removed from a text before anything else reads it, and nothing else is.

Covers `lamina.capture.redact.secret_formats` and `lamina.capture.redact.secret_values`.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from planted_secrets import PlantedSecret, benign_lines, format_names, plant_secrets

from lamina.capture.redact import RedactedText, redact

SEED = 20_261_114
PER_FORMAT = 6


def is_removed(secret: PlantedSecret) -> bool:
    """Whether neither the secret nor its last two thirds in pieces of eight are left."""
    text = redact(secret.text).text
    tail = secret.secret[len(secret.secret) // 3 :] if len(secret.secret) >= 12 else secret.secret
    return not any(tail[at : at + 8] in text for at in range(max(1, len(tail) - 7)))


def test_at_least_forty_formats_are_known() -> None:
    assert len(format_names()) >= 40


def test_ninety_five_percent_of_the_secrets_of_every_format_are_redacted() -> None:
    counter: Counter[str] = Counter()
    missed: list[str] = []
    for planted_secret in plant_secrets(SEED, PER_FORMAT):
        counter[planted_secret.name] += is_removed(planted_secret)
        if not is_removed(planted_secret):
            missed.append(f"{planted_secret.name}: {planted_secret.text}")
    assert sum(counter.values()) >= 0.95 * PER_FORMAT * len(format_names()), missed
    assert min(counter[name] for name in format_names()) >= PER_FORMAT - 1, missed


def test_technical_lines_without_a_secret_are_unchanged() -> None:
    touched = [line for line in benign_lines(SEED, 1500) if redact(line).secrets]
    assert len(touched) <= 7, touched


def test_the_same_seed_plants_the_same_secrets() -> None:
    assert list(plant_secrets(7, 1)) == list(plant_secrets(7, 1))
    assert list(plant_secrets(7, 1)) != list(plant_secrets(8, 1))
    assert list(benign_lines(7, 100)) == list(benign_lines(7, 100))


def test_a_mark_names_the_type_of_secret_and_nothing_more() -> None:
    redacted = redact("The key is AKIAQ2W3E4R5T6Y7U2I3 and the password is Tr0ub4dor&3, Ann.")
    assert redacted.text == "The key is [redacted: aws access key id] and the password is [redacted: password], Ann."
    assert [redacted.text[secret.start : secret.end] for secret in redacted.secrets] == [
        "[redacted: aws access key id]",
        "[redacted: password]",
    ]
    assert str(redacted) == "2 secrets redacted: aws access key id, password"


def test_a_receipt_counts_secrets_of_each_type() -> None:
    assert str(redact("password = 'abc123def' and password = 'xyz789uvw'")) == (
        "2 secrets redacted: password (2 times)"
    )
    assert str(redact("password = 'abc123def'")) == "1 secret redacted: password"
    assert str(redact("nothing here")) == "no secrets were found"


def test_a_text_without_secrets_is_the_same_object() -> None:
    text = "I moved to Lisbon last spring, and Ann visits every other weekend."
    assert redact(text) == RedactedText(text)
    assert redact(text).text is text


def test_a_private_key_is_removed_with_its_frame_and_lines() -> None:
    body = "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"] * 4)
    block = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"
    assert redact(f"here:\n{block}\nthanks").text == "here:\n[redacted: private key]\nthanks"
    escaped = block.replace("\n", "\\n")
    assert redact(f'{{"private_key": "{escaped}"}}').text == '{"private_key": "[redacted: private key]"}'


def test_a_private_key_without_an_end_is_removed_as_far_as_it_goes() -> None:
    lines = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\nq8Zr3LmN0pXc7VbY5tKd"
    redacted = redact(f"-----BEGIN RSA PRIVATE KEY-----\n{lines}\n\nThat is all, I lost the rest.")
    assert redacted.text == "[redacted: private key]\n\nThat is all, I lost the rest."


def test_public_keys_and_certificates_are_kept() -> None:
    for label in ("PUBLIC KEY", "CERTIFICATE"):
        text = f"-----BEGIN {label}-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END {label}-----"
        assert redact(text).text == text


def test_only_the_password_of_an_address_is_removed() -> None:
    assert redact("postgres://ann:s3cr3t@db:5432/shop?x=1").text == (
        "postgres://ann:[redacted: password]@db:5432/shop?x=1"
    )
    assert redact("amqp://ann:p@ss!word@mq/v").text == "amqp://ann:[redacted: password]@mq/v"
    for harmless in ("https://host.dev:8080/a@b", "postgres://ann:${PASSWORD}@db/shop", "ssh://git@host.dev/a.git"):
        assert redact(harmless).text == harmless


@pytest.mark.parametrize("before", ["", "=", '"', "\\n", "%3D", "\\u003d", ":", "(", "_", " "])
def test_a_secret_is_found_after_any_punctuation(before: str) -> None:
    token = "glpat-" + "q8Zr3LmN0pXc7VbY5tKd"
    assert redact(before + token).text == before + "[redacted: gitlab token]"


def test_a_token_inside_a_word_is_ignored() -> None:
    for harmless in ("task-q8Zr3LmN0pXc7VbY5tKdA", "NOTAKIAQ2W3E4R5T6Y7U2I3X", "skeleton-q8zr3lmn0pxc7vby5t"):
        assert redact(harmless).text == harmless


def test_a_valid_checksum_outweighs_the_form_of_a_placeholder() -> None:
    from lamina.capture.redact.secret_values import base62_crc32

    body = "x" * 30
    assert redact(f"npm_{body}{base62_crc32(body)}").secrets
    assert not redact(f"npm_{'x' * 36}").secrets


def test_documented_placeholders_are_kept() -> None:
    for harmless in (
        "AKIAIOSFODNN7EXAMPLE",
        "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "ghp_your-token-here",
        "glpat-xxxxxxxxxxxxxxxxxxxx",
    ):
        assert redact(f"key {harmless}").text == f"key {harmless}"


def test_a_secret_found_by_two_finders_is_marked_once_by_the_more_specific_name() -> None:
    redacted = redact("api_key = 'glpat-q8Zr3LmN0pXc7VbY5tKd'")
    assert redacted.text == "api_key = '[redacted: gitlab token]'"


RANDOM_TEXT = st.text(
    st.sampled_from("aB3 =:\"'-_./@\n\\{}[]()<>&$é字") | st.sampled_from("pwdtokensecretkey"), max_size=200
)
PIECES = st.lists(
    st.sampled_from(
        ["password", "token", " is ", "=", ": ", '"', "'", "sk-", "ghp_", "eyJ", "://", "@", "hunter2x", "AKIA"]
    )
    | st.text("aB3-_.", max_size=40),
    max_size=12,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(RANDOM_TEXT | PIECES)
def test_marks_are_where_the_spans_say_and_all_other_text_is_kept(text: str) -> None:
    redacted = redact(text, personal=True)
    stored, at = [], 0
    for secret in redacted.secrets:
        assert redacted.text[secret.start : secret.end] == f"[redacted: {secret.name}]"
        stored.append(redacted.text[at : secret.start])
        at = secret.end
    stored.append(redacted.text[at:])
    rest = text
    for piece in stored:
        start = rest.index(piece)
        rest = rest[start + len(piece) :]


@settings(max_examples=300, deadline=None)
@given(RANDOM_TEXT | PIECES)
@example("password is 4711x is 3333B_")
@example("The gate code is 4711 and the alarm code is [redacted: code] or 9931.")
def test_redaction_is_idempotent(text: str) -> None:
    once = redact(text).text
    assert redact(once).text == once


@pytest.mark.parametrize(
    "unit",
    [
        "token=",
        "pwd='",
        "eyJa.",
        "sk-",
        "sl.",
        "-----BEGIN PRIVATE KEY-----",
        "://a:b",
        "glc_",
        "azure key ",
        "a",
        "é",
        "4 ",
    ],
)
def test_a_long_repetitive_text_is_read_to_its_end(unit: str) -> None:
    """Where any finder took the square of the length, this would not come back in a day."""
    soup = unit * (200_000 // len(unit))
    assert redact(f"{soup} glpat-q8Zr3LmN0pXc7VbY5tKd", personal=True).text.endswith("[redacted: gitlab token]")
