"""What is secret reaches no file, no index, no journal and no log, whichever verb it came with."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from lamina import Memory, Settings
from lamina.testing.planted_secrets import plant_secrets

SEED = 11


def test_no_byte_of_a_secret_is_found_in_the_whole_vault(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    samples = list(plant_secrets(SEED, per_format=1))
    settings = Settings(embedder="light", watch=False, background=False)
    with Memory(tmp_path / "vault", settings=settings) as memory:
        told = [{"speaker": "Ann", "content": f"Remember that this works: {sample.text}"} for sample in samples]
        receipt = memory.capture(told, session_id="s", source_id="chat")
        assert len(receipt.redacted) >= len(samples)
        found = memory.remember_many(
            [
                {"content": each.text, "subject": f"key {n}", "metadata": {"said": each.text}}
                for n, each in enumerate(samples)
            ]
        )
        assert found.redacted
        memory.revise(found.atom.id, samples[1].text, reason=f"they sent {samples[2].text}")
        memory.embed()
        memory.recall("deploy key token")
        memory.export()
    files = [path for path in (tmp_path / "vault").rglob("*") if path.is_file()]
    held = b"\0".join(file.read_bytes() for file in files)
    assert len(held) > 100_000
    assert [sample.name for sample in samples if sample.secret.encode() in held] == []
    assert [sample.name for sample in samples if sample.secret in caplog.text] == []
