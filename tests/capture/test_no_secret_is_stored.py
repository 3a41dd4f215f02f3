"""Secrets reach no file, index, journal or log, whichever verb they came with.

Covers `lamina.capture.redact.secret_values`.
"""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from planted_secrets import plant_secrets

import lamina
from lamina import Settings

SEED = 11


def test_no_byte_of_a_secret_is_in_the_vault(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    samples = list(plant_secrets(SEED, per_format=1))
    settings = Settings(embedder="light", watch=False, background=False)
    with lamina.open(tmp_path / "vault", settings=settings) as memory:
        actual = [{"speaker": "Ann", "content": f"Remember that this works: {sample.text}"} for sample in samples]
        receipt = memory.capture(actual, session_id="s", source_id="chat")
        assert len(receipt.redacted) >= len(samples)
        result = memory.remember_many(
            [
                {"content": sample.text, "subject": f"key {n}", "metadata": {"said": sample.text}}
                for n, sample in enumerate(samples)
            ]
        )
        assert result.redacted
        memory.revise(result.atom.id, samples[1].text, reason=f"they sent {samples[2].text}")
        memory.embed()
        memory.recall("deploy key token")
        memory.export()
    files = [path for path in (tmp_path / "vault").rglob("*") if path.is_file()]
    text = b"\0".join(file.read_bytes() for file in files)
    assert len(text) > 100_000
    assert [sample.name for sample in samples if sample.secret.encode() in text] == []
    assert [sample.name for sample in samples if sample.secret in caplog.text] == []
