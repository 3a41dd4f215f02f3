from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from benchmark_files import BEAM, FACTS, HEADS, LOCOMO, ORACLE, SCIFACT, write

from benchmarks import beam, factconsolidation, locomo, longmemeval, scifact
from benchmarks.data_set import limit_collections, merge_collections
from lamina.errors import InvalidInput


def test_locomo_turns_carry_captions_and_evidence_is_repaired(tmp_path: Path) -> None:
    (one, other), digest = locomo.load(write(tmp_path / "locomo.json.gz", LOCOMO))
    assert len(digest) == 64
    assert [session.id for session in one.sessions] == ["conv-1-1", "conv-1-2"]
    assert one.sessions[0].at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert one.sessions[0].turns[1].text == "Lovely! [image: a photo of a marmalade cat]"
    assert [question.category for question in one.questions] == ["single-hop", "multi-hop", "adversarial"]
    assert one.questions[1].turns == {"conv-1/D1:1", "conv-1/D2:2"}
    assert one.questions[1].sessions == {"conv-1-1", "conv-1-2"}
    assert [question.category for question in other.questions] == ["temporal"]


def test_an_oracle_file_is_one_pool_with_each_session_once(tmp_path: Path) -> None:
    (pool,), _ = longmemeval.load(write(tmp_path / "oracle.json", ORACLE))
    assert [session.id for session in pool.sessions] == ["s1", "s2", "s3"]
    first, second = pool.questions
    assert first.turns == {"s1/0", "s2/0"}
    assert first.sessions == {"s1", "s2"}
    assert second.turns == {"s1/1"}
    assert first.at == datetime(2023, 5, 30, 1, 13, tzinfo=UTC)
    assert [turn.role for turn in pool.sessions[0].turns] == ["user", "assistant"]


def test_each_question_of_full_haystacks_has_its_own_vault(tmp_path: Path) -> None:
    haystacks = [{**ORACLE[0], "answer_session_ids": ["s1"]}, ORACLE[1], ORACLE[2]]
    result, _ = longmemeval.load(write(tmp_path / "s.json", haystacks))
    assert [item.id for item in result] == ["q1", "q2"]


def test_session_heads_are_unique_sessions_of_one_passage(tmp_path: Path) -> None:
    result, _ = longmemeval.load(write(tmp_path / "heads.json", HEADS))
    assert [sorted(session.id for session in item.sessions) for item in result] == [["a", "b"], ["b", "c"]]
    assert {session.id: session.at.day for session in result[0].sessions} == {"a": 21, "b": 20}
    assert [question.turns for item in result for question in item.questions] == [frozenset(), frozenset()]


def test_beam_messages_are_dated_by_anchors_and_gold_is_flattened(tmp_path: Path) -> None:
    (chat,), _ = beam.load(write(tmp_path / "beam.json", BEAM))
    assert [session.at.date().isoformat() for session in chat.sessions] == ["2024-03-15", "2024-04-05"]
    assert [turn.id for session in chat.sessions for turn in session.turns] == ["chat-7/0", "chat-7/1", "chat-7/2"]
    assert {question.category: question.turns for question in chat.questions} == {
        "information_extraction": {"chat-7/0"},
        "knowledge_update": {"chat-7/0", "chat-7/2"},
    }


def test_scifact_documents_are_sessions_of_one_turn(tmp_path: Path) -> None:
    (corpus,), _ = scifact.load(write(tmp_path / "scifact.json", SCIFACT))
    assert [session.id for session in corpus.sessions] == ["11", "12"]
    assert corpus.sessions[1].turns[0].text == "Glioma stem cells. A20 decreases survival."
    assert [question.sessions for question in corpus.questions] == [{"11"}, {"12"}]


def test_repeated_lists_of_facts_are_remembered_once(tmp_path: Path) -> None:
    (facts,), _ = factconsolidation.load(write(tmp_path / "facts.json", FACTS))
    assert facts.facts == ("The capital of Atlantis is Rodez.", "Goaltender is a place in Hockey.")
    assert [question.hops for question in facts.questions] == ["single_hop", "single_hop", "multi_hop"]
    (few,) = factconsolidation.limit_questions([facts], 1)
    assert [question.hops for question in few.questions] == ["single_hop", "multi_hop"]


def test_a_quick_run_uses_few_collections_or_few_questions(tmp_path: Path) -> None:
    both, _ = locomo.load(write(tmp_path / "locomo.json", LOCOMO))
    assert limit_collections(both, None) == both
    assert [item.id for item in limit_collections(both, 1)] == ["conv-1"]
    (few,) = limit_collections([merge_collections("all", both)], 2)
    assert (len(few.sessions), len(few.questions)) == (3, 2)


@pytest.mark.parametrize("load", [locomo.load, longmemeval.load, beam.load, scifact.load, factconsolidation.load])
@pytest.mark.parametrize("data", [{"some": "thing"}, [{"other": 1}], [], [1], "words"])
def test_a_wrong_file_is_reported_with_what_is_missing(
    tmp_path: Path, load: Callable[[Path], object], data: object
) -> None:
    with pytest.raises(InvalidInput, match=r"wrong\.json is not a \w+ file: "):
        load(write(tmp_path / "wrong.json", data))


def test_a_missing_file_and_invalid_json_are_reported(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="No such file"):
        locomo.load(tmp_path / "absent.json")
    (tmp_path / "cut.json.gz").write_bytes(write(tmp_path / "whole.json.gz", LOCOMO).read_bytes()[:50])
    with pytest.raises(InvalidInput, match="is not a LoCoMo file"):
        locomo.load(tmp_path / "cut.json.gz")
