"""Secrets called by their name in ordinary speech: most are removed, and talk about secrets is never touched."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from corpus import read_corpus
from lamina.capture.redact import redact
from lamina.capture.redact.secret_values import is_descriptive
from lamina.capture.redact.spoken_secrets import find_recovery_secrets, find_spoken_codes, find_spoken_passwords

DATA = Path(__file__).parent / "data"
LANGUAGES = {"en", "de", "fr", "es", "it", "pt"}


@pytest.mark.parametrize(
    ("corpus", "least"), [("spoken_secrets", 0.94), ("spoken_secrets_held_out", 0.8)], ids=["development", "held out"]
)
def test_most_secrets_called_by_their_name_are_removed_in_six_languages(corpus: str, least: float) -> None:
    rows = [row for row in read_corpus(DATA / f"{corpus}.jsonl") if row["secrets"]]
    assert {row["language"] for row in rows} == LANGUAGES
    secrets = [(row["text"], secret) for row in rows for secret in row["secrets"]]
    assert len(secrets) >= 90
    missed = [text for text, secret in secrets if secret in redact(text).text]
    assert len(missed) <= (1 - least) * len(secrets), missed


@pytest.mark.parametrize("corpus", ["spoken_secrets", "spoken_secrets_held_out"])
def test_talk_about_secrets_and_similar_numbers_is_never_touched(corpus: str) -> None:
    texts = [row["text"] for row in read_corpus(DATA / f"{corpus}.jsonl") if not row["secrets"]]
    assert len(texts) >= 80
    assert [redact(text).text for text in texts] == texts


@pytest.mark.parametrize(
    ("text", "remaining"),
    [
        ("The alarm code is 9931.", "The alarm code is [redacted: code]."),
        ("netflix login: ann / tulip77x", "netflix login: ann / [redacted: password]"),
        ("- name: DB_PASSWORD\n  value: tulip77x", "- name: DB_PASSWORD\n  value: [redacted: secret]"),
        (
            "Changed the root password from tulip77x to rose88y.",
            "Changed the root password from [redacted: password] to [redacted: password].",
        ),
        ("my passphrase is correct horse battery staple", "my passphrase is [redacted: password]"),
        ("totp seed JBSW Y3DP EHPK 3PXP", "totp seed [redacted: one-time password seed]"),
        (
            "backup codes: 8391-2230 and 1129-3381",
            "backup codes: [redacted: recovery code] and [redacted: recovery code]",
        ),
        ("Die Geheimzahl ist 5512.", "Die Geheimzahl ist [redacted: code]."),
        ("la senha do wifi é praia2020", "la senha do wifi é [redacted: password]"),
    ],
)
def test_only_the_value_is_replaced(text: str, remaining: str) -> None:
    assert redact(text).text == remaining


def test_a_word_that_describes_a_password_is_none() -> None:
    assert all(map(is_descriptive, ("wrong", "Expired", "vergessen", "affiché", "shared")))
    assert not any(map(is_descriptive, ("sunflower", "hunter2")))


UNITS = [
    "code ",
    "the code for the alarm ",
    "my password is the ",
    "name: x_token\n",
    "use 4711 for the ",
    "login: a ",
    "seed phrase: abandon able ",
    "backup codes: ab12 ",
    "from a to b code ",
    "passphrase is ",
    "a4711 is the code ",
]


@pytest.mark.parametrize("unit", UNITS)
def test_the_work_grows_with_the_text_and_not_with_its_square(unit: str) -> None:
    def cost(length: int) -> float:
        text = (unit * (length // len(unit) + 1))[:length]
        began = time.process_time()
        for find in (find_spoken_codes, find_spoken_passwords, find_recovery_secrets):
            list(find(text))
        return time.process_time() - began

    assert min(cost(16_000) for _ in range(2)) < 4 * max(cost(8_000), 0.002)
