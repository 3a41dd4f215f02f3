"""A dream asks a chat model only so often, and does the rest without it."""

from __future__ import annotations

from pathlib import Path

import pytest

import lamina
from lamina import Settings
from lamina.dream.step import BudgetedChat
from lamina.models.errors import BudgetSpent
from llm_server import completion, scripted

pytest.importorskip("openai", reason="chat needs pip install 'lamina[llm]'")

FACTS = ("grinds on Tuesdays", "sells rye flour", "has two stones", "stands by the weir", "was built of oak")


def test_beyond_the_call_budget_pages_are_written_without_a_model(tmp_path: Path) -> None:
    with scripted(completion({"sentences": []})) as server:
        settings = Settings.model_validate(
            {
                "embedder": "none",
                "watch": False,
                "background": False,
                "extractor": "rules",
                "chat": "openai:m",
                "chat_url": f"{server.address}/v1",
                "chat_key": "key",
                "dream_chat_calls": 0,
            }
        )
        with lamina.open(tmp_path / "vault", settings=settings) as memory:
            for name in ("Old Mill", "New Mill", "Tide Mill"):
                for words in FACTS:
                    memory.remember(f"{name} {words}.", subject=name)
            report = memory.upkeep.dream(["cards"])
        assert not server.asked and not report.failed
        assert sum(move.action == "card" for move in report.moves) == 3


def test_a_step_that_calls_without_checking_the_budget_gets_an_error() -> None:
    with scripted(completion({})) as server, pytest.raises(BudgetSpent, match="dream_chat_calls"):
        BudgetedChat(server.chat(), 0).ask([], object)  # type: ignore[type-var]
