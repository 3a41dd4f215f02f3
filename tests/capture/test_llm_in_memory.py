"""A memory with a language model: it adds statements and answers; whatever goes wrong, no word is lost."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

import lamina
from lamina import Memory, Result, Settings, Status
from lamina.capture.queued_extraction import SessionLease
from lamina.models.errors import ModelError, ModelMissing
from llm_server import Json, Scripted, completion, error, scripted

pytest.importorskip("openai", reason="chat needs pip install 'lamina[llm]'")

STATEMENT: Json = {
    "quote": "I moved to Lisbon",
    "content": "Ann moved to Lisbon.",
    "subject": "Ann",
    "attribute": "home",
    "value": "Lisbon",
    "date": "",
}
TURNS = [{"speaker": "Ann", "content": "I moved to Lisbon. My dentist is Dr Reyes."}]
STATEMENTS = "My dentist is Dr Reyes."


def open_memory(folder: Path, url: str, **more: object) -> Memory:
    settings = Settings.model_validate(
        {
            "embedder": "none",
            "watch": False,
            "background": False,
            "chat": "openai:m",
            "chat_url": f"{url}/v1",
            "chat_key": "key",
            "chat_timeout": 2.0,
            "chat_retries": 0,
            **more,
        }
    )
    return lamina.open(folder / "vault", settings=settings)


def extracted_statements(memory: Memory) -> list[str]:
    return [atom.content for atom in memory.list(limit=None) if atom.evidence]


def test_the_receipt_reports_that_the_model_was_used(tmp_path: Path) -> None:
    with scripted(completion({"statements": [STATEMENT]})) as server, open_memory(tmp_path, server.address) as memory:
        receipt = memory.capture(TURNS, session_id="s")
        assert [outcome.result for outcome in receipt.outcomes] == [Result.KEPT, Result.NEW, Result.NEW]
        assert dict(receipt.stages)["statements"].startswith("read by state model and openai:m@")
        assert dict(receipt.stages)["language model"] == "1 call, 1 statement kept"
        assert receipt.counts is not None
        assert receipt.counts.kept == 1
        assert sorted(extracted_statements(memory)) == ["Ann moved to Lisbon.", STATEMENTS]
        (used,) = memory.upkeep.stats()["chat"].values()
        assert used["calls"] == 1
        assert used["tokens_in"] > 0


@pytest.mark.parametrize(
    "broken",
    [
        error(500, "on fire"),
        error(401, "no such key"),
        completion("no json at all"),
        completion({"statements": 3}),
        completion('{"statements": [', finish="length"),
        completion(None, refusal="I would rather not"),
    ],
    ids=["down", "refused", "prose", "wrong", "truncated", "unwilling"],
)
def test_on_any_model_failure_the_state_model_takes_over_and_the_receipt_says_why(
    tmp_path: Path, broken: Scripted
) -> None:
    with scripted(broken) as server, open_memory(tmp_path, server.address) as memory:
        receipt = memory.capture(TURNS, session_id="s")
        statements = dict(receipt.stages)["statements"]
        assert statements.startswith("read by state model, because ")
        assert "fallback: " in dict(receipt.stages)["language model"]
        assert STATEMENTS in extracted_statements(memory)
        assert memory.waiting() == 0
        assert memory.recall("Lisbon").hits


def test_an_unreachable_server_loses_only_its_statements(tmp_path: Path) -> None:
    with scripted(completion({"statements": []})) as server:
        address = server.address
    with open_memory(tmp_path, address) as memory:
        assert "read by state model, because" in dict(memory.capture(TURNS, session_id="s").stages)["statements"]
        with pytest.raises(ModelError):
            memory.answer("where does Ann live?")
        assert STATEMENTS in extracted_statements(memory)


def test_a_slow_server_is_given_up(tmp_path: Path) -> None:
    done_event = threading.Event()
    slow = Scripted({}, before=lambda: done_event.wait(20) and None)
    with scripted(slow) as server, open_memory(tmp_path, server.address, chat_timeout=0.2) as memory:
        try:
            statements = dict(memory.capture(TURNS, session_id="s").stages)["statements"]
        finally:
            done_event.set()
        assert statements.startswith("read by state model, because ")


def test_no_passage_is_read_twice_with_a_background_worker(tmp_path: Path) -> None:
    """A background that is woken all the time and callers who wait never pay for the same words."""
    nothing = Scripted(completion({"statements": []}).body, before=lambda: time.sleep(0.02))
    with scripted(nothing) as server, open_memory(tmp_path, server.address, background=True) as memory:
        for n in range(12):
            memory.capture([{"speaker": "Ann", "content": f"Item {n} is early."}], session_id=f"s{n % 3}")
            turns = [{"speaker": "Ann", "content": f"Item {n} is late."}]
            receipt = memory.capture(turns, session_id=f"s{n % 3}", wait=True)
            assert dict(receipt.stages)["statements"].startswith("read by ")
        memory.read_waiting()
        assert memory.waiting() == 0
    lines = [line for request in server.asked for line in request["messages"][1]["content"].splitlines()]
    read = [line for line in lines if line.startswith("turn | ")]
    assert len(read) == len(set(read)) == 24


def test_a_session_leased_by_another_process_is_waited_for(tmp_path: Path) -> None:
    with scripted(completion({"statements": []})) as server, open_memory(tmp_path, server.address) as memory:
        other = SessionLease(memory.engine.store.queue, memory.scope, "s")
        assert other.acquire()
        freed = threading.Timer(0.2, other.release)
        freed.start()
        memory.capture(TURNS, session_id="s")
        freed.join()
        assert len(server.asked) == 1
        assert memory.waiting() == 0


def test_a_spent_budget_leaves_the_state_model(tmp_path: Path) -> None:
    script = completion({"statements": [STATEMENT]})
    with scripted(script) as server, open_memory(tmp_path, server.address, chat_calls_per_day=1) as memory:
        memory.capture(TURNS, session_id="s")
        statements = dict(memory.capture(TURNS, session_id="t").stages)["statements"]
        assert "budget" in statements
        assert len(server.asked) == 1
        assert STATEMENTS in extracted_statements(memory)


def test_claims_of_the_model_end_nothing(tmp_path: Path) -> None:
    """A weak model puts unrelated sentences into one slot: all of them stay active, whoever stated the first."""
    turns = ("My dentist is Dr Reyes.", "I type with two fingers.", "I take levothyroxine at dawn.")
    values = ("Dr Reyes", "two fingers", "levothyroxine")
    script = [
        completion(
            {
                "statements": [
                    {
                        "quote": text.rstrip("."),
                        "content": text,
                        "subject": "I",
                        "attribute": "dentist",
                        "value": value,
                        "date": "",
                    }
                ]
            }
        )
        for text, value in zip(turns, values, strict=True)
    ]
    with scripted(script[0]) as server, open_memory(tmp_path, server.address) as memory:
        for n, (text, answer) in enumerate(zip(turns, script, strict=True)):
            server.script = [answer, completion({"answers": []})]
            memory.capture([{"speaker": "Ann", "content": text}], session_id=f"s{n}")
        statements = [atom for atom in memory.list(limit=None, status=None) if atom.evidence]
        assert {statement.status for statement in statements} == {Status.ACTIVE}
        assert not any(statement.superseded_by or statement.valid_until for statement in statements)
        assert {statement.value for statement in statements} >= {"Dr Reyes", "two fingers", "levothyroxine"}


def test_an_answer_cites_its_evidence(tmp_path: Path) -> None:
    answer: Json = {"known": True, "text": "In Lisbon [1].", "cites": [1], "tool": "none", "arguments": []}
    with scripted(completion(answer)) as server, open_memory(tmp_path, server.address, extractor="none") as memory:
        receipt = memory.capture(TURNS, session_id="s")
        result = memory.answer("where does Ann live?")
        assert (result.is_known, result.cited) == (True, (receipt.outcomes[0].atom.id,))
        assert memory.answer("what is the capital of Mongolia?").is_known is False
        assert len(server.asked) == 1


def test_without_a_chat_model_an_answer_names_the_setting(tmp_path: Path) -> None:
    settings = Settings(embedder="none", watch=False, background=False)
    with lamina.open(tmp_path / "vault", settings=settings) as memory, pytest.raises(ModelMissing, match="set chat to"):
        memory.answer("anything")
