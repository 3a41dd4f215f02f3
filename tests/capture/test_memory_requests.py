"""Direct orders to forget are recognised without a model, and idioms with the same words are not."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import beam, locomo, longmemeval
from benchmarks.data_set import BenchCollection
from corpus import read_corpus, share_right
from fake_state_models import FakeStateModel
from lamina.atom.passage import is_assistant
from lamina.capture.memory_requests import RequestKind, find_forget_requests
from lamina.text.sentences import find_sentences

FOLDER = Path(os.environ.get("LAMINA_BENCH_DATA") or Path(__file__).parents[3] / "shared" / "data")

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize(
    ("corpus", "count", "threshold"), [("forget_requests", 105, 1.0), ("forget_requests_held_out", 20, 0.7)]
)
def test_direct_orders_are_recognised_with_their_topics(corpus: str, count: int, threshold: float) -> None:
    """Other orders are left to the model."""

    def is_right(order: dict[str, str]) -> bool:
        requests = find_forget_requests(order["text"])
        topics = " ".join(request.topic for request in requests).lower()
        return order["topic"].lower() in topics and {request.kind for request in requests} == {RequestKind.FORGET}

    orders = read_corpus(DATA / f"{corpus}.jsonl")
    assert len(orders) >= count
    assert share_right(orders, is_right) >= threshold


@pytest.mark.parametrize(("corpus", "count"), [("forget_idioms", 90), ("forget_idioms_held_out", 18)])
def test_idioms_with_the_same_words_are_no_requests(corpus: str, count: int) -> None:
    idioms = read_corpus(DATA / f"{corpus}.jsonl")
    assert len(idioms) >= count
    assert share_right(idioms, lambda text: not find_forget_requests(text)) == 1.0


@pytest.mark.parametrize(
    "text", ["Please don't save this.", "That stays between us.", "Off the record: I quit.", "Keep it to yourself."]
)
def test_a_direct_order_not_to_store_something_is_recognised(text: str) -> None:
    assert [request.kind for request in find_forget_requests(text)] == [RequestKind.KEEP_OUT]


def test_requests_recognised_by_the_model_count_too() -> None:
    text = "I took out a loan. Never bring the loan up, would you. It was 900 euros."
    assert find_forget_requests(text) == []
    states = [replace(atom, forget=0.99 if atom.start == 19 else 0.1) for atom in FakeStateModel().read(text)]
    (request,) = find_forget_requests(text, states)
    assert (text[request.start : request.end], request.topic) == ("Never bring the loan up, would you.", "loan")


def test_a_request_without_a_topic_has_none() -> None:
    (request,) = find_forget_requests("My bike is blue. Please delete that from your memory.")
    assert request.topic == ""


def test_several_targets_are_several_requests_and_exceptions_are_spared() -> None:
    assert [request.topic for request in find_forget_requests("Please forget my street, and also my door number.")] == [
        "street",
        "door number",
    ]
    (result,) = find_forget_requests("Please forget everything about Philippa except her birthday.")
    assert (result.topic, result.exception_topic, result.is_everything) == ("Philippa", "birthday", True)


def test_no_single_sentence_forgets_everything() -> None:
    assert find_forget_requests("Please forget everything you know about me.") == []


def test_a_request_in_code_is_ignored() -> None:
    assert find_forget_requests("```\nPlease forget my garage code.\n```") == []


@given(
    st.text(max_size=200), st.sampled_from(["forget my ", "delete that from your memory", "keep X out of your notes"])
)
def test_a_request_is_a_span_of_its_turn_for_any_text(text: str, cue: str) -> None:
    sentence = f"{text}. Please {cue} {text}"
    for request in find_forget_requests(sentence):
        assert 0 <= request.start < request.end <= len(sentence)


def _requests_in(collections: list[BenchCollection]) -> tuple[int, list[str]]:
    """How many sentences of people speak of forgetting, and those that are taken for requests."""
    texts = {
        turn.text
        for collection in collections
        for one in collection.sessions
        for turn in one.turns
        if not is_assistant(turn.role)
    }
    speaking = re.compile(r"\b(?:forg[eo]t|delet|eras|remov)", re.IGNORECASE)
    about = sum(1 for text in texts for start, end in find_sentences(text) if speaking.search(text[start:end]))
    return about, [
        text[request.start : request.end] for text in sorted(texts) for request in find_forget_requests(text)
    ]


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the public data sets are not here")
@pytest.mark.parametrize(
    ("load", "file", "speaking"),
    [
        (longmemeval.load, "longmemeval/longmemeval_oracle_dev.json.gz", 10),
        (longmemeval.load, "longmemeval/lme_s_heads_dev.json.gz", 100),
        (locomo.load, "locomo/locomo_dev7.json.gz", 20),
        (beam.load, "beam/beam_100k_dev.json.gz", 30),
    ],
)
def test_natural_conversations_contain_no_false_request(load: object, file: str, speaking: int) -> None:
    assert callable(load)
    about, result = _requests_in(load(FOLDER / file)[0])
    assert about >= speaking
    assert result == []
