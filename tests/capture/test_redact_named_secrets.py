"""Secrets that only their context gives away. Each must be removed: the corpora have no tolerance."""

from __future__ import annotations

from pathlib import Path

from corpus import read_corpus
from lamina.capture.redact import redact

DATA = Path(__file__).parent / "data"


def test_every_named_secret_is_removed_whole() -> None:
    rows = read_corpus(DATA / "named_secrets.jsonl")
    assert len(rows) >= 49
    for row in rows:
        text, secret = row["text"], row["secret"]
        remaining = redact(text.format(secret)).text
        assert remaining.startswith(text.format("\0").partition("\0")[0]), f"what precedes it stays: {remaining}"
        assert not any(secret[at : at + 4] in remaining for at in range(len(secret) - 3)), remaining


def test_text_about_secrets_is_kept() -> None:
    texts = read_corpus(DATA / "text_about_secrets.jsonl")
    assert len(texts) >= 31
    assert [redact(text).text for text in texts] == texts


def test_a_secret_is_found_after_other_announcing_words() -> None:
    text = "secret stuff, a token gesture, the key idea; and my password is hunter2xyz"
    assert redact(text).text.endswith("my password is [redacted: password]")
