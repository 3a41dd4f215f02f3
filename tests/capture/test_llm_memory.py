"""A memory with a language model: it adds statements and answers; whatever goes wrong, no word is lost."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from lamina import Memory, Result, Settings, Status
from lamina.capture.session_lease import SessionLease
from lamina.clock import SystemClock
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
SAID = [{"speaker": "Ann", "content": "I moved to Lisbon. My dentist is Dr Reyes."}]
STATED = "My dentist is Dr Reyes."


def opened(folder: Path, url: str, **more: object) -> Memory:
    settings = Settings.model_validate(
        {
            "embedder": "none",
            "watch": False,
            "background": False,
            "chat": "openai:m",
            "chat_url": f"{url}/v1",
            "chat_key": "key",
            "chat_timeout": 2.0,
            **more,
        }
    )
    return Memory(folder / "vault", settings=settings)


def made(memory: Memory) -> list[str]:
    return [each.content for each in memory.list(limit=None) if each.evidence]


def test_the_model_reads_and_the_receipt_says_so(tmp_path: Path) -> None:
    with scripted(completion({"statements": [STATEMENT]})) as server, opened(tmp_path, server.address) as memory:
        receipt = memory.capture(SAID, session_id="s")
        assert [outcome.result for outcome in receipt.outcomes] == [Result.KEPT, Result.NEW, Result.NEW]
        assert dict(receipt.stages)["statements"].startswith("read by state model and openai:m@")
        assert dict(receipt.stages)["language model"] == "1 call, 1 statement kept"
        assert receipt.counts is not None
        assert receipt.counts.kept == 1
        assert sorted(made(memory)) == ["Ann moved to Lisbon.", STATED]
        (used,) = memory.stats()["chat"].values()
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
def test_whatever_the_model_does_the_state_model_stands_in_and_the_receipt_tells_why(
    tmp_path: Path, broken: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lamina.models.retry.RETRY_DELAYS", ())
    with scripted(broken) as server, opened(tmp_path, server.address) as memory:
        receipt = memory.capture(SAID, session_id="s")
        told = dict(receipt.stages)["statements"]
        assert told.startswith("read by state model, because ")
        assert "fallback: " in dict(receipt.stages)["language model"]
        assert STATED in made(memory)
        assert memory.waiting() == 0
        assert memory.recall("Lisbon").hits


def test_a_server_that_is_not_there_costs_nothing_but_its_statements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lamina.models.retry.RETRY_DELAYS", ())
    with scripted(completion({"statements": []})) as server:
        address = server.address
    with opened(tmp_path, address) as memory:
        assert "read by state model, because" in dict(memory.capture(SAID, session_id="s").stages)["statements"]
        with pytest.raises(ModelError):
            memory.answer("where does Ann live?")
        assert STATED in made(memory)


def test_a_slow_server_is_given_up(tmp_path: Path) -> None:
    gone = threading.Event()
    slow = Scripted({}, before=lambda: gone.wait(20) and None)
    with scripted(slow) as server, opened(tmp_path, server.address, chat_timeout=0.2) as memory:
        try:
            told = dict(memory.capture(SAID, session_id="s").stages)["statements"]
        finally:
            gone.set()
        assert told.startswith("read by state model, because ")


def test_no_passage_is_read_twice_beside_a_background(tmp_path: Path) -> None:
    """A background that is woken all the time and callers who wait never pay for the same words."""
    nothing = Scripted(completion({"statements": []}).body, before=lambda: time.sleep(0.02))
    with scripted(nothing) as server, opened(tmp_path, server.address, background=True) as memory:
        for n in range(12):
            memory.capture([{"speaker": "Ann", "content": f"Item {n} is early."}], session_id=f"s{n % 3}")
            told = [{"speaker": "Ann", "content": f"Item {n} is late."}]
            receipt = memory.capture(told, session_id=f"s{n % 3}", wait=True)
            assert dict(receipt.stages)["statements"].startswith("read by ")
        memory.read_waiting()
        assert memory.waiting() == 0
    lines = [line for asked in server.asked for line in asked["messages"][1]["content"].splitlines()]
    read = [line for line in lines if line.startswith("turn | ")]
    assert len(read) == len(set(read)) == 24


def test_a_session_that_another_program_reads_is_waited_for(tmp_path: Path) -> None:
    with scripted(completion({"statements": []})) as server, opened(tmp_path, server.address) as memory:
        other = SessionLease(memory._store.buffer, memory.scope, "s", SystemClock().now)
        assert other.acquire()
        freed = threading.Timer(0.2, other.release)
        freed.start()
        memory.capture(SAID, session_id="s")
        freed.join()
        assert len(server.asked) == 1
        assert memory.waiting() == 0


def test_a_spent_budget_leaves_the_state_model(tmp_path: Path) -> None:
    script = completion({"statements": [STATEMENT]})
    with scripted(script) as server, opened(tmp_path, server.address, chat_calls_per_day=1) as memory:
        memory.capture(SAID, session_id="s")
        told = dict(memory.capture(SAID, session_id="t").stages)["statements"]
        assert "budget" in told
        assert len(server.asked) == 1
        assert STATED in made(memory)


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
    with scripted(script[0]) as server, opened(tmp_path, server.address) as memory:
        for n, (text, answer) in enumerate(zip(turns, script, strict=True)):
            server.script = [answer, completion({"answers": []})]
            memory.capture([{"speaker": "Ann", "content": text}], session_id=f"s{n}")
        statements = [each for each in memory.list(limit=None, status=None) if each.evidence]
        assert {statement.status for statement in statements} == {Status.ACTIVE}
        assert not any(statement.superseded_by or statement.valid_until for statement in statements)
        assert {statement.value for statement in statements} >= {"Dr Reyes", "two fingers", "levothyroxine"}


def test_an_answer_cites_what_it_rests_on(tmp_path: Path) -> None:
    answer: Json = {"known": True, "text": "In Lisbon [1].", "cites": [1], "tool": "none", "arguments": []}
    with scripted(completion(answer)) as server, opened(tmp_path, server.address, extractor="none") as memory:
        receipt = memory.capture(SAID, session_id="s")
        found = memory.answer("where does Ann live?")
        assert (found.is_known, found.cited) == (True, (receipt.outcomes[0].atom.id,))
        assert memory.answer("what is the capital of Mongolia?").is_known is False
        assert len(server.asked) == 1


def test_without_a_chat_model_an_answer_says_what_to_set(tmp_path: Path) -> None:
    settings = Settings(embedder="none", watch=False, background=False)
    with Memory(tmp_path / "vault", settings=settings) as memory, pytest.raises(ModelMissing, match="set chat to"):
        memory.answer("anything")
