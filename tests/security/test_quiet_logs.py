"""Logs at INFO and the messages of errors hold ids, never what anybody said."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

import lamina
from lamina import LaminaError

SECRET = "Vexlomquo"


def test_a_busy_session_logs_nothing_that_was_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    told: list[str] = []
    with lamina.open(tmp_path / "v", watch=False) as person:
        said = person.remember(f"My bank is {SECRET}.", subject="user", attribute="bank", value=SECRET).atom
        person.capture([{"speaker": "Ann", "content": f"The garden at {SECRET} was lovely on Sunday."}], session_id="s")
        person.capture(f"My doctor is Dr {SECRET}.", origin="document", source_id="letter")
        (tmp_path / "docs").mkdir()
        (tmp_path / "docs" / "a.md").write_text(f"# Note\n\nThe plumber is {SECRET}.\n")
        person.import_(tmp_path / "docs")
        (tmp_path / "v" / "atoms" / "bad.md").write_text(f"---\nsubject: [{SECRET}\n---\n{SECRET}\n")
        person.sync()
        found = person.recall("What is my bank?")
        person.feedback(found.id, [found.hits[0].atom.id])
        person.revise(said.id, f"My bank is {SECRET} North.", reason="clearer")
        with lamina.open(tmp_path / "v", ceiling="agent", watch=False) as agent:
            held = person.review.held()[0]
            for refused in (
                lambda: agent.revise(said.id, f"My bank is {SECRET} South.", reason="r"),
                lambda: agent.forget(said.id, "r"),
                lambda: agent.review.confirm(held.id),
                lambda: agent.erase(said.id),
                lambda: agent.update_status(said.id, "constrained", "r"),
                lambda: agent.undo(person.journal()[0].id),
                lambda: agent.get("01jc9x2k7m3f5r8t0v2w4y6z8a"),
                lambda: person.review.merge(said.id, held.id, ""),
                lambda: person.review.reject(said.id),
                lambda: person.quarantine(source="nobody"),
            ):
                told.append(_refusal(refused))
        person.forget(said.id, "done with it")
        person.undo()
        person.doctor(deep=True)
        person.erase(said.id)
        person.rebuild()
    assert sum(bool(each) for each in told) >= 8
    assert not [each for each in told if SECRET.casefold() in each.casefold()]
    assert SECRET.casefold() not in caplog.text.casefold()


def _refusal(work: Callable[[], object]) -> str:
    try:
        work()
    except LaminaError as error:
        return str(error)
    return ""
