"""Logs at INFO and the messages of errors hold ids, never what anybody said."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

import lamina
from lamina import LaminaError

SECRET = "Vexlomquo"


def test_a_busy_session_logs_no_content(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    actual: list[str] = []
    with lamina.open(tmp_path / "v", watch=False) as person:
        atom = person.remember(f"My bank is {SECRET}.", subject="user", attribute="bank", value=SECRET).atom
        person.capture([{"speaker": "Ann", "content": f"The garden at {SECRET} was lovely on Sunday."}], session_id="s")
        person.capture(f"My doctor is Dr {SECRET}.", origin="document", source_id="letter")
        (tmp_path / "docs").mkdir()
        (tmp_path / "docs" / "a.md").write_text(f"# Note\n\nThe plumber is {SECRET}.\n")
        person.import_(tmp_path / "docs")
        (tmp_path / "v" / "atoms" / "bad.md").write_text(f"---\nsubject: [{SECRET}\n---\n{SECRET}\n")
        person.upkeep.sync()
        result = person.recall("What is my bank?")
        person.feedback(result.id, [result.hits[0].atom.id])
        person.revise(atom.id, f"My bank is {SECRET} North.", reason="clearer")
        with lamina.open(tmp_path / "v", ceiling="agent", watch=False) as agent:
            proposal = person.review.held()[0]
            for refused in (
                lambda: agent.revise(atom.id, f"My bank is {SECRET} South.", reason="r"),
                lambda: agent.forget(atom.id, "r"),
                lambda: agent.review.confirm(proposal.id),
                lambda: agent.erase(atom.id),
                lambda: agent.update_status(atom.id, "constrained", "r"),
                lambda: agent.undo(person.journal()[0].id),
                lambda: agent.get("01jc9x2k7m3f5r8t0v2w4y6z8a"),
                lambda: person.review.merge(atom.id, proposal.id, ""),
                lambda: person.review.reject(atom.id),
                lambda: person.quarantine(source="nobody"),
            ):
                actual.append(_refusal(refused))
        person.forget(atom.id, "done with it")
        person.undo()
        person.upkeep.doctor(deep=True)
        person.erase(atom.id)
        person.upkeep.rebuild()
    assert sum(bool(item) for item in actual) >= 8
    assert not [item for item in actual if SECRET.casefold() in item.casefold()]
    assert SECRET.casefold() not in caplog.text.casefold()


def _refusal(work: Callable[[], object]) -> str:
    try:
        work()
    except LaminaError as error:
        return str(error)
    return ""
