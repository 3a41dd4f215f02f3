"""A real, small model behind a real server: that everything holds together, breaks well and comes back.

What it says is of no account; it invents and it stutters. One file, so that one server is enough.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal
from urllib.request import urlopen

import pytest
from pydantic import BaseModel, Field

import lamina
from lamina import FixedClock, Settings
from lamina.atom.atom import Atom, AtomId, Evidence
from lamina.capture.change.change_nomination import SentenceLine
from lamina.capture.extractors import CapturedTurn, ExtractedStatement
from lamina.capture.llm.change_nominator import ChatNominator
from lamina.capture.llm.extractor import LlmExtractor
from lamina.capture.llm.quotes import occurs_in
from lamina.capture.receipt import ModelCounts
from lamina.models.anthropic_chat import AnthropicChat
from lamina.models.chat import system_message, user_message
from lamina.models.chat_budget import ChatBudget, DailyLimits, TokenPrices
from lamina.models.errors import BudgetSpent, ModelError, ModelUnreachable
from lamina.models.openai_chat import OpenAIChat
from lamina.models.reranker import ChatReranker
from lamina.models.retry_and_circuit_breaker import BREAK_SECONDS, CallTiming
from lamina.recall.cited_answer import NOT_KNOWN, answer_question
from lamina.store.sqlite.recalls_and_usage import SqliteUsage
from lamina.testing.admin import day_total
from llm_server import Smol, needs_a_model

pytestmark = needs_a_model

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
MESSAGES = [system_message("Judge what is said."), user_message("I moved to Lisbon.")]
TURN = CapturedTurn("seg", 1, "I moved to Lisbon in April and I work for Acme.", "Ann", NOON)


class Judgement(BaseModel):
    worth: Literal["lasting", "transient"]
    why: str = Field(max_length=12)


class LongAnswer(BaseModel):
    words: list[str] = Field(max_length=400, min_length=300)


class Rules:
    name = "rules"
    instant = True

    def extract(self, turns: Sequence[CapturedTurn], before: Sequence[CapturedTurn] = ()) -> list[ExtractedStatement]:
        return [ExtractedStatement(content=turn.text, kind="fact", evidence=Evidence("seg", 1, 0, 9)) for turn in turns]


@pytest.fixture(scope="module")
def smol() -> Iterator[Smol]:
    """The real model, started once."""
    server = Smol()
    yield server
    server.kill()


@pytest.fixture
def usage(tmp_path: Path) -> Iterator[SqliteUsage]:
    with closing(SqliteUsage(tmp_path / "usage.db")) as usage:
        yield usage


def test_answers_conform_to_the_schema_repeat_and_are_counted(smol: Smol, usage: SqliteUsage) -> None:
    budget = ChatBudget(usage, FixedClock(NOON), DailyLimits(calls=2), TokenPrices(tokens_in=1.0, tokens_out=2.0))
    with closing(smol.chat(meter=budget)) as chat:
        first, again = (chat.ask(MESSAGES, Judgement, most_tokens=120) for _ in range(2))
        with pytest.raises(BudgetSpent):
            chat.ask(MESSAGES, Judgement)
    assert isinstance(first.value, Judgement)
    assert again.value == first.value
    used = day_total(usage, NOON.date())
    assert (used.calls, used.tokens_in, used.tokens_out) == (
        2,
        first.tokens_in + again.tokens_in,
        first.tokens_out + again.tokens_out,
    )
    assert first.tokens_out > 4
    assert used.money == pytest.approx((used.tokens_in + 2 * used.tokens_out) / 1e6)


def test_a_truncated_answer_is_reported_and_the_next_one_is_complete(smol: Smol, usage: SqliteUsage) -> None:
    with closing(smol.chat(meter=ChatBudget(usage, FixedClock(NOON)))) as chat:
        with pytest.raises(ModelError, match="cut off at 3 tokens"):
            chat.ask(MESSAGES, Judgement, most_tokens=3)
        assert day_total(usage, NOON.date()).tokens_out == 3
        assert isinstance(chat.ask(MESSAGES, Judgement, most_tokens=120).value, Judgement)


TURNS = (
    ("Ann", "I moved to Lisbon in April and I work for Acme."),
    ("Ann", "My dentist is Dr Reyes."),
    ("Bob", "I take levothyroxine every morning."),
    ("Bob", "ugh, the bus was late again"),
    ("Ann", "I type with two fingers."),
    ("Bob", "My sister Eva lives in Porto."),
    ("Ann", "Should I buy a bike?"),
    ("Bob", "I don't drink coffee."),
    ("Ann", "Our standup is at nine on Mondays."),
    ("Bob", "If I get the job, I move to Berlin."),
    ("Ann", "I drive a red Skoda."),
    ("Bob", "Room B has 14 seats."),
    ("Ann", "Room A has 30 seats."),
    ("Bob", "I used to play the cello."),
    ("Ann", "I prefer dark roast."),
    ("Ann", "I've switched to light roast coffee."),
    ("Bob", "Eva adopted a dog called Pim."),
    ("Ann", "My phone is a Nokia."),
    ("Ann", "Picked up a Pixel 8a yesterday."),
    ("Bob", "The staging database runs Postgres 17."),
)


def captured(folder: Path, smol: Smol | None) -> tuple[list[Atom], ModelCounts]:
    """The atoms of all turns, four a session, read with or without the language model, and its counts."""
    settings = Settings.model_validate(
        {"embedder": "none", "watch": False, "background": False}
        | ({"chat": "openai:smollm2", "chat_url": f"{smol.address}/v1", "chat_timeout": 300.0} if smol else {})
    )
    counts = ModelCounts()
    with lamina.open(folder, watch=False, clock=FixedClock(NOON), settings=settings) as memory:
        for start in range(0, len(TURNS), 4):
            at = NOON + timedelta(days=start)
            turns = [{"speaker": who, "content": text, "at": at.isoformat()} for who, text in TURNS[start : start + 4]]
            receipt = memory.capture(turns, session_id=f"s{start}")
            counts += receipt.counts or ModelCounts()
        return memory.list(limit=None, status=None), counts


def rests_on(atoms: Sequence[Atom]) -> set[tuple[str | None, int, int, int]]:
    """Where the statements rest: session, passage and span of their sentences."""
    sessions = {atom.id: atom.session_id for atom in atoms}
    return {
        (sessions.get(AtomId(evidence.segment)), evidence.passage, evidence.start, evidence.end)
        for atom in atoms
        if not atom.is_segment
        for evidence in atom.evidence
    }


def test_a_weak_model_does_no_harm(smol: Smol, tmp_path: Path) -> None:
    """What the base finds is found with the model too, nothing else is ended, and what is added stands in the words."""
    alone, _ = captured(tmp_path / "alone", None)
    together, counts = captured(tmp_path / "together", smol)
    print(counts, *(atom.content for atom in together if not atom.is_segment), sep="\n")
    assert rests_on(alone) <= rests_on(together)
    assert sum(not atom.is_segment for atom in alone) <= sum(not atom.is_segment for atom in together)

    def ended(atoms: Sequence[Atom]) -> set[tuple[str, str]]:
        return {(atom.content, str(atom.status)) for atom in atoms if atom.superseded_by or atom.valid_until}

    assert ended(together) <= ended(alone)
    assert counts.calls >= 5
    assert counts.sure == 0
    sentence = " ".join(text for _, text in TURNS)
    assert all(atom.value is None or occurs_in(atom.value, sentence) for atom in together)


def test_a_truncated_extraction_leaves_the_base_statements(smol: Smol) -> None:
    with closing(smol.chat()) as chat:
        result = LlmExtractor(chat, Rules(), max_tokens=5).extract_with_counts([TURN])
    assert (result.extractor_name, list(result.statements)) == ("rules", Rules().extract([TURN]))
    assert result.failure is not None
    assert "cut off at 5 tokens" in result.failure


def test_a_real_model_reranks(smol: Smol) -> None:
    with closing(smol.chat()) as chat:
        scores = ChatReranker(chat).scores("which tree?", ["a rose", "an oak", "a fern"])
    assert len(scores) == 3
    assert all(0.0 <= score <= 1.0 for score in scores)


def test_an_answer_of_a_real_model_is_cited_or_not_known(smol: Smol, tmp_path: Path) -> None:
    settings = Settings(embedder="none", background=False)
    with (
        lamina.open(tmp_path / "vault", watch=False, clock=FixedClock(NOON), settings=settings) as memory,
        closing(smol.chat()) as chat,
    ):
        memory.remember("Ann lives in Lisbon.", subject="Ann")
        recalled = memory.recall("where does Ann live?")
        try:
            got = answer_question("where does Ann live?", recalled, chat, NOON, most_tokens=120)
        except ModelError as error:
            assert "cut off" in str(error)
            return
    atom_ids = {hit.atom.id for hit in recalled.relevant}
    assert set(got.cited) <= atom_ids
    assert got.is_known == bool(got.cited) == (got.text != NOT_KNOWN)


def test_a_real_model_works_over_the_other_protocol(smol: Smol, usage: SqliteUsage) -> None:
    pytest.importorskip("anthropic", reason="this wire needs pip install 'lamina[anthropic]'")
    budget = ChatBudget(usage, FixedClock(NOON))
    with (
        closing(AnthropicChat("smollm2", smol.address, meter=budget)) as chat,
        pytest.raises(ModelError, match="cut off at 4 tokens"),
    ):
        chat.ask(MESSAGES, Judgement, most_tokens=4)
    used = day_total(usage, NOON.date())
    assert used.tokens_in > 5
    assert used.tokens_out == 4


def test_a_model_that_writes_too_long_is_abandoned_and_free_again(smol: Smol) -> None:
    with closing(smol.chat(timeout=0.5)) as chat, pytest.raises(ModelUnreachable, match=r"takes longer than 0\.5 s"):
        chat.ask(MESSAGES, LongAnswer)
    with closing(smol.chat()) as chat:
        assert isinstance(chat.ask(MESSAGES, Judgement, most_tokens=120).value, Judgement)


def is_busy(address: str) -> bool:
    with urlopen(f"{address}/slots", timeout=10) as answered:
        return any(slot["is_processing"] for slot in json.load(answered))


def test_a_server_killed_during_an_answer_leaves_the_base_and_is_called_again() -> None:
    server = Smol()
    now = [1000.0]
    timing = CallTiming(60.0, sleep=lambda seconds: None, monotonic=lambda: now[0])
    failed: list[Exception] = []
    with closing(OpenAIChat("smollm2", f"{server.address}/v1", timing=timing)) as chat:

        def ask() -> None:
            try:
                chat.ask(MESSAGES, LongAnswer)
            except ModelError as error:
                failed.append(error)

        asking = threading.Thread(target=ask)
        asking.start()
        while not is_busy(server.address):
            assert asking.is_alive()
        server.kill()
        asking.join()
        (error,) = failed
        assert isinstance(error, ModelUnreachable)
        assert "does not answer" in str(error)

        result = LlmExtractor(chat, Rules()).extract_with_counts([TURN])
        assert (result.extractor_name, list(result.statements)) == ("rules", Rules().extract([TURN]))
        assert result.failure is not None
        assert "does not answer" in result.failure

        again = Smol(server.port)
        try:
            now[0] += BREAK_SECONDS + 1
            assert isinstance(chat.ask(MESSAGES, Judgement, most_tokens=120).value, Judgement)
        finally:
            again.kill()


def test_nominations_are_among_the_lines_of_the_prompt(smol: Smol) -> None:
    earlier = [
        SentenceLine(Evidence("a", n, 0, 9), text, "Ann", NOON)
        for n, text in enumerate(("My evenings belong to the chess club.", "Our cat is called Pim."), 1)
    ]
    new = [SentenceLine(Evidence("b", 1, 0, 9), "The judo mat has all my evenings.", "Ann", NOON)]
    with closing(smol.chat()) as chat:
        named = ChatNominator(chat).nominate(earlier, new)
    sentence = {item.evidence: item.text for item in (*earlier, *new)}
    assert (named.pairs, named.calls) == (2, 1)
    assert all(
        occurs_in(change.old_value, sentence[change.old_evidence])
        and occurs_in(change.new_value, sentence[change.new_evidence])
        for change in named.changes
    )
    assert not any(change.is_sure for change in named.changes)
