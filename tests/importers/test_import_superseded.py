"""Words go with their statements from vault to vault: what was over there is over here, and nothing comes back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from exports import START, chatgpt, message, write

import lamina
from lamina import Atom, FixedClock, Memory, Origin, Status
from lamina.atom.atom import Evidence
from lamina.atom.passage import passages_of
from lamina.store.base import AtomChange, Commit

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
FORMATS = ("json", "markdown", "okf", "csv")
SENTENCES = (
    "Our office is in Cork.",
    "My locker is number 14.",
    "The launch party is on Thursday.",
    "I keep a caravan at Keem Bay.",
    "My address is 5 Mill Lane.",
    "We moved the office from Cork to Galway.",
    "My locker is number 22, no longer number 14.",
    "The launch party is on Friday, not Thursday.",
    "I keep a caravan at Achill, no longer at Keem Bay.",
    "Please forget my address.",
    "The garden gate is green.",
)
ENDED_SENTENCES = SENTENCES[:5]
QUESTIONS = {
    "where is our office?": "We moved the office from Cork to Galway.",
    "what number is my locker?": "My locker is number 22, no longer number 14.",
    "is locker 14 mine?": "My locker is number 22, no longer number 14.",
    "when is the launch party?": "The launch party is on Friday, not Thursday.",
    "where is the caravan at Keem Bay?": "I keep a caravan at Achill, no longer at Keem Bay.",
    "is the garden gate green?": "The garden gate is green.",
}


def open_vault(place: Path, day: int) -> Memory:
    return lamina.open(place, clock=FixedClock(NOON + day * DAY), watch=False, background=False)


def capture_session(memory: Memory, day: int, *words: str, session: str = "") -> None:
    at = NOON + day * DAY
    turns = [{"speaker": "Ann", "content": word, "at": at + n * timedelta(minutes=1)} for n, word in enumerate(words)]
    memory.capture(turns, session_id=session or f"talk {day}", wait=True)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    clock = FixedClock(NOON)
    with lamina.open(tmp_path / "vault", clock=clock, watch=False, background=False) as result:
        for day, words in enumerate(SENTENCES):
            clock.at = NOON + day * DAY
            capture_session(result, day, words)
        clock.at = NOON + 20 * DAY
        yield result


def write_export(memory: Memory, place: Path, form: str = "json") -> Path:
    return memory.export(place.with_suffix({"json": ".json", "csv": ".csv"}.get(form, "")), format=form)


def recalled_texts(memory: Memory, question: str) -> list[str]:
    return [hit.text for hit in memory.recall(question).hits]


def statements(memory: Memory) -> list[Atom]:
    return [atom for atom in memory.list(status=None, limit=None) if not atom.is_segment]


def all_recalled(memory: Memory) -> str:
    """Everything that recall tells of any of the questions."""
    return "\n".join(
        memory.recall(item).context(100_000) for item in (*QUESTIONS, "what is my address?", *ENDED_SENTENCES)
    )


def add_evidence(memory: Memory, atom: Atom, evidence: Evidence) -> None:
    """Let a statement rest on more words."""
    resting = memory.get(atom.id)
    change = AtomChange(resting.with_(evidence=(*resting.evidence, evidence)))
    memory.engine.store.journal.append(
        Commit(actor="test", origin=Origin.HUMAN, verb="test", reason="a test", scope=memory.scope, changes=(change,))
    )


@pytest.mark.parametrize("form", FORMATS)
def test_a_value_superseded_in_one_vault_is_superseded_in_another(memory: Memory, tmp_path: Path, form: str) -> None:
    place = write_export(memory, tmp_path / "out", form)
    with open_vault(tmp_path / "other", 30) as other:
        other.import_(place)
        for question, answer in QUESTIONS.items():
            assert answer in recalled_texts(memory, question)
            if question != "is locker 14 mine?" or form != "okf":
                assert answer in recalled_texts(other, question)
        assert not any(words in all_recalled(other) for words in ENDED_SENTENCES)
        assert {atom.origin for atom in other.list(status=None, limit=None)} == {Origin.IMPORT}
        assert all(atom.status is not Status.ACTIVE for atom in statements(other))


@pytest.mark.parametrize("form", ["json", "markdown", "csv"])
def test_history_is_imported_as_history(memory: Memory, tmp_path: Path, form: str) -> None:
    with open_vault(tmp_path / "other", 30) as other:
        other.import_(write_export(memory, tmp_path / "out", form))
        for words in ENDED_SENTENCES:
            there = [hit.marks for hit in memory.recall(words, include="history").hits if hit.text == words]
            here = [hit.marks for hit in other.recall(words, include="history").hits if hit.text == words]
            assert here == there != []
        ended = {(atom.content, atom.status) for atom in statements(memory) if atom.status is not Status.ACTIVE}
        assert {(atom.content, atom.status) for atom in statements(other)} >= ended


@pytest.mark.parametrize("form", FORMATS)
def test_no_ended_statement_is_pending(memory: Memory, tmp_path: Path, form: str) -> None:
    with open_vault(tmp_path / "other", 30) as other:
        other.import_(write_export(memory, tmp_path / "out", form))
        waiting = [atom.content for atom in other.review.held()]
        assert waiting
        assert not any(
            part in text
            for part in ("is in Cork", "is number 14", "on Thursday.", "at Keem Bay.", "Mill")
            for text in waiting
            if "no longer" not in text
        )
        for atom in other.review.held()[::-1]:
            other.review.confirm(atom.id)
        assert not any(words in all_recalled(other) for words in ENDED_SENTENCES)
        for question, answer in QUESTIONS.items():
            if question != "is locker 14 mine?" or form != "okf":
                assert answer in recalled_texts(other, question)


def test_a_bundle_for_others_does_not_contain_ended_statements(memory: Memory, tmp_path: Path) -> None:
    capture_session(memory, 12, "The kitchen clock is slow.", session="talk 0")
    place = write_export(memory, tmp_path / "bundle", "okf")
    words = "".join(file.read_text(encoding="utf-8") for file in place.rglob("*.md"))
    assert "kitchen clock" in words
    assert not any(item in words for item in (*ENDED_SENTENCES, "Mill Lane"))


def test_an_import_does_not_affect_statements_made_here(memory: Memory, tmp_path: Path) -> None:
    with open_vault(tmp_path / "other", 30) as other:
        capture_session(other, 29, "Our office is in Cork.")
        other.import_(write_export(memory, tmp_path / "out"))
        assert "Our office is in Cork." in recalled_texts(other, "where is our office?")
        (fields,) = [atom for atom in statements(other) if atom.status is Status.ACTIVE]
        assert fields.origin is Origin.HUMAN
        assert (fields.supersedes, fields.superseded_by) == ((), ())


def test_an_export_does_not_affect_text_from_elsewhere(tmp_path: Path) -> None:
    gate = "The garden gate is green."
    chat = write(tmp_path / "conversations.json", [chatgpt("c1", [message("user", gate, START)])])
    with open_vault(tmp_path / "vault", 20) as memory:
        at = datetime.fromtimestamp(START, UTC)
        memory.capture([{"speaker": "user", "content": gate, "at": at}], session_id="chatgpt-c1", wait=True)
        (green,) = statements(memory)
        memory.forget(green.id, "private")
        place = write_export(memory, tmp_path / "out")
    with open_vault(tmp_path / "other", 30) as other:
        other.import_(chat)
        other.import_(place)
        assert recalled_texts(other, "is the garden gate green?") == [gate]
        assert all(atom.status is Status.CONSTRAINED for atom in statements(other))


def test_a_statement_ended_after_an_export_ends_with_the_next(memory: Memory, tmp_path: Path) -> None:
    first = write_export(memory, tmp_path / "first")
    capture_session(memory, 15, "The garden gate is blue, no longer green.")
    with open_vault(tmp_path / "other", 30) as other:
        other.import_(first)
        assert recalled_texts(other, "which colour is the garden gate?") == ["The garden gate is green."]
        other.import_(write_export(memory, tmp_path / "second"))
        assert recalled_texts(other, "which colour is the garden gate?") == [
            "The garden gate is blue, no longer green."
        ]
        green = [atom.status for atom in statements(other) if "is green" in atom.content]
        assert green == [Status.SUPERSEDED]
        position = len(other.journal())
        other.import_(write_export(memory, tmp_path / "third"))
        assert len(other.journal()) == position


def test_a_statement_confirmed_here_is_not_ended_by_an_import(memory: Memory, tmp_path: Path) -> None:
    first = write_export(memory, tmp_path / "first")
    capture_session(memory, 15, "The garden gate is blue, no longer green.")
    with open_vault(tmp_path / "other", 30) as other:
        other.import_(first)
        (green,) = [atom for atom in other.review.held() if "green" in atom.content]
        other.review.confirm(green.id)
        other.import_(write_export(memory, tmp_path / "second"))
        assert other.get(green.id).status is Status.ACTIVE
        assert "The garden gate is green." in recalled_texts(other, "is the garden gate green?")


def test_evidence_added_after_a_statement_was_made_ends_with_it(memory: Memory, tmp_path: Path) -> None:
    echo = "Cork it is, near the river."
    memory.capture([{"speaker": "assistant", "content": echo, "at": NOON + 3 * DAY}], session_id="echo", wait=True)
    (words,) = [atom for atom in memory.list(limit=None) if atom.is_segment and echo in atom.content]
    (cork,) = [atom for atom in statements(memory) if atom.content == "Our office is in Cork."]
    assert cork.id < words.id
    add_evidence(memory, cork, Evidence(words.id, 1, 0, len(echo)))
    with open_vault(tmp_path / "other", 30) as other:
        other.import_(write_export(memory, tmp_path / "out"))
        assert echo in [hit.text for hit in other.recall("Cork near the river", include="history").hits]
        assert echo not in recalled_texts(other, "Cork near the river")


def test_a_sentence_that_is_partly_valid_is_not_lost(tmp_path: Path) -> None:
    both = "I live in Ghent and my desk is on the third floor."
    with open_vault(tmp_path / "vault", 0) as memory:
        memory.capture([{"speaker": "Ann", "content": both, "at": NOON}], session_id="both")
        (words,) = [atom for atom in memory.list(limit=None) if atom.is_segment]
        for content, status in (("Ann lives in Ghent.", "superseded"), ("Ann's desk is on the third floor.", "active")):
            result = memory.remember(content, subject="Ann").atom
            add_evidence(memory, result, Evidence(words.id, 1, 0, len(both)))
            if status != "active":
                memory.update_status(result.id, status, "it changed")
        place = write_export(memory, tmp_path / "out")
    with open_vault(tmp_path / "other", 30) as other:
        other.import_(place)
        assert both in recalled_texts(other, "where is my desk?")


CHANGES = ("corrected", "rejected", "forgotten", "erased", "session erased", "words forgotten")


def change(memory: Memory, how: str) -> None:
    (green,) = [atom for atom in statements(memory) if atom.content == "The garden gate is green."]
    (words,) = [atom for atom in memory.list(limit=None) if atom.is_segment and "gate is green" in atom.content]
    match how:
        case "corrected":
            capture_session(memory, 15, "Sorry, the garden gate is blue, not green.")
        case "rejected":
            memory.update_status(green.id, "invalidated", "never so")
        case "forgotten":
            memory.forget(green.id, "private")
        case "erased":
            memory.erase(green.id, reason="she asked me to")
        case "session erased":
            memory.erase(session=words.session_id, reason="she asked me to")
        case _:
            memory.forget(words.id, "private")
            memory.forget(green.id, "private")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("how", CHANGES)
def test_a_reimported_export_restores_nothing(memory: Memory, tmp_path: Path, form: str, how: str) -> None:
    memory.capture("# Sheds\n\nThe tool shed holds nine rakes.", name="sheds.md", session_id="sheds", wait=True)
    place = write_export(memory, tmp_path / "out", form)
    change(memory, how)
    before = {atom.id: atom for atom in memory.list(status=None, limit=None)}
    texts = [passage.text for atom in before.values() if atom.is_segment for passage in passages_of(atom)]
    memory.import_(place)
    after = {atom.id: atom for atom in memory.list(status=None, limit=None)}
    assert {item: after[item] for item in before} == before
    assert "The garden gate is green." not in all_recalled(memory)
    (rakes,) = recalled_texts(memory, "how many rakes does the tool shed hold?")
    assert rakes.endswith("The tool shed holds nine rakes.")
    assert all(value.status is not Status.ACTIVE for value in after.values() if value.id not in before)
    assert texts == [passage.text for atom in after.values() if atom.is_segment for passage in passages_of(atom)]
