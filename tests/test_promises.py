"""The promises of the design, each end to end: a test here fails when a promise is broken. And the public surface."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any, NoReturn, get_type_hints

import pytest

import lamina
from lamina import Atom, FixedClock, InvalidScope, Memory, NotFound, Refused, Status
from lamina.upkeep import Upkeep

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as opened_memory:
        yield opened_memory


def all_atoms(memory: Memory) -> list[Atom]:
    return memory.list(status=None, limit=None)


def use_every_verb(memory: Memory, clock: FixedClock) -> None:
    """Every verb at least once."""
    city = {"subject": "Ann", "attribute": "city"}
    oslo = memory.remember("Ann lives in Oslo", **city).atom  # type: ignore[arg-type]
    clock.at += DAY
    memory.remember("Ann lives in Rome", **city)  # type: ignore[arg-type]
    memory.capture([{"speaker": "Ann", "content": "Remember that tea is green. 日本 🙂"}], session_id="s")
    memory.capture([{"speaker": "Bob", "content": "Fine."}], session_id="s")
    memory.capture("# Paper\n\nA paragraph about tea.\n\nAnother.", session_id="doc", origin="document")
    fact = memory.remember("A fact", tags=["x"], metadata={"k": "v"}, valid_until="2030-01-01").atom
    memory.revise(fact.id, "A better fact", reason="better")
    memory.pin(fact.id), memory.unpin(fact.id), memory.pin(fact.id)
    memory.relate(fact.id, "supports", oslo.id, 0.5)
    memory.update_status(memory.remember("Doubtful").atom.id, "challenged", "hm")
    memory.update_status(memory.remember("Old").atom.id, "archived", "old")
    memory.forget(memory.remember("Wrong").atom.id, "wrong")
    memory.undo(memory.remember("Undone").commit)


# 1 Nothing is lost


def test_acknowledged_writes_are_there_after_reopening(memory: Memory, clock: FixedClock) -> None:
    use_every_verb(memory, clock)
    before = all_atoms(memory), memory.journal(), [memory.history(atom.id) for atom in all_atoms(memory)]
    memory.close()
    with lamina.open(memory.root, clock=clock, watch=False) as again:
        assert again.upkeep.opening_report.has_changes is False
        assert (all_atoms(again), again.journal(), [again.history(a.id) for a in all_atoms(again)]) == before
        assert again.upkeep.doctor(deep=True).healthy


def test_acknowledged_writes_are_there_although_the_memory_was_not_closed(tmp_path: Path) -> None:
    script = (
        "import lamina, os, sys\n"
        "memory = lamina.open(sys.argv[1], watch=False)\n"
        "for n in range(20):\n"
        "    print(memory.remember(f'fact number {n}').atom.id, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    run = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False)
    result = run.stdout.split()
    assert (run.returncode, len(result)) == (-9, 20)
    with lamina.open(tmp_path, watch=False) as memory:
        assert {atom.id for atom in memory.list()} == set(result)
        assert all((memory.root / str(memory.path_of(id))).is_file() for id in result)


def test_no_version_is_ever_lost_and_undoing_everything_returns_to_the_start(memory: Memory, clock: FixedClock) -> None:
    first = memory.remember("The very first fact", subject="start").atom
    use_every_verb(memory, clock)
    texts = {version.atom.content for atom in all_atoms(memory) for version in memory.history(atom.id).versions}
    remaining = len(memory.journal())
    while remaining:
        try:
            memory.undo()
        except NotFound:
            break
        remaining -= 1
    assert {atom.status for atom in all_atoms(memory)} == {Status.TOMBSTONED}
    still = {version.atom.content for atom in all_atoms(memory) for version in memory.history(atom.id).versions}
    assert still == texts
    assert memory.get(first.id).content == "The very first fact"
    assert memory.recall("fact tea Ann").hits == ()
    assert memory.upkeep.doctor(deep=True).healthy


# 2 What changed stays changed (as far as this step goes)


def test_a_corrected_fact_does_not_return_even_when_the_old_text_is_read_again(
    memory: Memory, clock: FixedClock
) -> None:
    claim: dict[str, Any] = {"subject": "Ann", "attribute": "city"}
    memory.remember("Ann lives in Oslo", **claim)
    clock.at += DAY
    memory.remember("Ann lives in Rome", **claim)
    for _ in range(3):
        memory.remember("Ann lives in Oslo", observed_at=NOON - DAY, **claim)
        assert [hit.text for hit in memory.recall("where does Ann live?").hits] == ["Ann lives in Rome"]


# 3 Files are yours


def test_an_edit_in_any_editor_takes_effect_immediately(memory: Memory) -> None:
    atom = memory.remember("Ann drinks tea", subject="Ann").atom
    path = memory.root / str(memory.path_of(atom.id))
    path.write_text(
        path.read_text().replace("tea", "coffee").replace("kind: fact", "# my comment\nmine: kept\nkind: fact")
    )
    assert [hit.text for hit in memory.recall("what does Ann drink").hits] == ["Ann drinks coffee"]
    memory.pin(atom.id)
    text = path.read_text()
    assert all(item in text for item in ("# my comment", "mine: kept", "pinned: true", "Ann drinks coffee"))
    assert memory.history(atom.id).versions[1].actor == "human"


def test_a_deleted_index_is_rebuilt_equal(memory: Memory, clock: FixedClock) -> None:
    use_every_verb(memory, clock)
    questions = ["tea", "Ann lives", "fact", "paragraph", "日本"]
    before = [memory.recall(question, include=("history", "challenged")).hits for question in questions]
    memory.close()
    for name in ("index.db", "index.db-wal", "index.db-shm"):
        (memory.engine.state / name).unlink(missing_ok=True)
    with lamina.open(memory.root, clock=clock, watch=False) as again:
        assert [again.recall(question, include=("history", "challenged")).hits for question in questions] == before
        assert again.upkeep.doctor(deep=True).healthy


def test_without_the_state_folder_the_current_state_is_restored_from_the_files(
    memory: Memory, clock: FixedClock
) -> None:
    use_every_verb(memory, clock)
    atoms = {atom.id: atom for atom in all_atoms(memory)}
    bytes_before = {path: path.read_bytes() for path in memory.root.rglob("*.md")}
    memory.close()
    shutil.rmtree(memory.root / ".lamina")
    clock.at += DAY
    with lamina.open(memory.root, clock=clock, watch=False) as again:
        assert {atom.id: atom for atom in all_atoms(again)} == atoms
        assert {path: path.read_bytes() for path in again.root.rglob("*.md")} == bytes_before
        assert any("not known and cannot be restored" in note for note in again.upkeep.doctor().notes)
        assert again.upkeep.doctor(deep=True).healthy


def test_the_files_alone_contain_everything_current(memory: Memory, clock: FixedClock) -> None:
    use_every_verb(memory, clock)
    for atom in all_atoms(memory):
        text = (memory.root / str(memory.path_of(atom.id))).read_text(encoding="utf-8")
        assert text.startswith("---\n")
        assert atom.content in text
        assert atom.id in text


# 4 No key, no server, no model


@pytest.mark.parametrize("embedder", ["none", "light", "auto"])
def test_everything_works_without_a_network_and_without_model_files(
    tmp_path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch, embedder: str
) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("somebody reached for the network")

    for name in ("socket", "create_connection", "getaddrinfo", "gethostbyname", "create_server", "socketpair"):
        monkeypatch.setattr(socket, name, refuse)
    for name in [name for name in os.environ if "KEY" in name or "TOKEN" in name]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("LAMINA_EMBEDDER", embedder)
    monkeypatch.setenv("LAMINA_MODELS_DIR", str(tmp_path / "no models"))
    with lamina.open(tmp_path / "vault", clock=clock) as memory:
        use_every_verb(memory, clock)
        memory.embed()
        assert memory.recall("tea").context()
        memory.neighbours(memory.list()[0].id), memory.upkeep.stats(), memory.export(), memory.export(format="markdown")
        memory.upkeep.rebuild(), memory.upkeep.sync(), memory.journal(), memory.upkeep.doctor(deep=True)
        result = memory.recall("where does Ann live")
        assert result.hits[0].text == "Ann lives in Rome"
        assert result.model == ("text" if embedder == "none" else "wordllama-l2-supercat-256")
        memory.feedback(result.id, [result.hits[0].atom.id])
        if embedder != "none":
            assert memory.recall("who is resident in Italy?").hits[0].text == "Ann lives in Rome"


# 5 Every answer explains itself


_RECALLS = """
import json, sys
from datetime import UTC, datetime
import lamina
at = datetime(2026, 11, 20, tzinfo=UTC)
with lamina.open(sys.argv[1], clock=lamina.FixedClock(at), watch=False) as memory:
    told = []
    for question in json.loads(sys.argv[2]):
        found = memory.recall(question, k=20, include=("history", "challenged"))
        told.append([[h.atom.id, h.passage.n, h.score.hex(), h.why, h.path, h.text, h.explain()] for h in found.hits])
        told.append([found.position, found.model, found.context()])
    print(json.dumps(told))
"""


@pytest.mark.parametrize("embedder", ["none", "light"])
def test_two_processes_give_byte_equal_answers(memory: Memory, clock: FixedClock, embedder: str) -> None:
    random = Random(9)
    words = ["tea", "milk", "honey", "lemon", "Ann", "Bob", "green", "日本", "naïve"]
    use_every_verb(memory, clock)
    memory.remember_many([{"content": " ".join(random.choices(words, k=random.randint(2, 12)))} for _ in range(150)])
    memory.close()
    questions = json.dumps([" ".join(random.sample(words, random.randint(1, 4))) for _ in range(25)])
    result = []
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", _RECALLS, str(memory.root), questions],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "LAMINA_EMBEDDER": embedder},
        )
        result.append(run.stdout)
    assert result[0] == result[1]
    assert sum(len(hits) for hits in json.loads(result[0])[::2]) > 200


@pytest.mark.parametrize("embedder", ["none", "light"])
def test_the_terms_and_weights_of_every_hit_give_its_score(
    tmp_path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch, embedder: str
) -> None:
    monkeypatch.setenv("LAMINA_EMBEDDER", embedder)
    with lamina.open(tmp_path / "vault", clock=clock, watch=False) as memory:
        use_every_verb(memory, clock)
        result = memory.recall("where does Ann drink tea in Oslo or Rome", k=50, include=("history", "challenged"))
    assert result.hits
    for hit in result.hits:
        score = max(0.0, sum(value for _, value in hit.terms))
        for _, weight in hit.weights:
            score *= weight
        assert abs(score - hit.score) < 1e-9
        assert hit.why


# 6 Nobody writes what they may not


def test_scopes_fail_closed(memory: Memory) -> None:
    memory.remember("a local zebra")
    with lamina.open(memory.root, "org:other", watch=False) as other:
        assert (all_atoms(other), other.journal()) == ([], [])
        assert other.recall("zebra", include=("history", "challenged", "constrained")).hits == ()
        for scopes in ([], ["org:local"], ["org:*"], [""]):
            with pytest.raises(InvalidScope):
                other.recall("zebra", scopes=scopes)
        with pytest.raises(NotFound):
            other.get(memory.list()[0].id)
    for scope in ("", "*", "org:*", "ORG:LOCAL", "org:local/", "org:local:agent:*", "../org:local"):
        with pytest.raises(InvalidScope):
            lamina.open(memory.root, scope, watch=False)


def test_origin_is_bound_at_write_time_and_never_by_the_text(memory: Memory) -> None:
    human = memory.remember("I am Ann").atom
    with lamina.open(memory.root, ceiling="agent", watch=False) as agent:
        written = agent.remember("I am human too", origin="human").atom
        captured = agent.capture("origin: human", origin="human").atom
        assert {written.origin, captured.origin} == {"agent"}
        with pytest.raises(Refused):
            agent.revise(human.id, "I am a bot", reason="r")
    path = memory.root / str(memory.path_of(written.id))
    path.write_text(path.read_text().replace("origin: agent", "origin: human"))
    assert memory.get(written.id).origin == "agent"
    assert any("origin never changes" in problem.message for problem in memory.upkeep.doctor().problems)
    assert memory.get(human.id) == human


# The public surface


def test_the_public_names_are_sorted_and_exist() -> None:
    assert lamina.__all__ == sorted(set(lamina.__all__))
    for name in lamina.__all__:
        assert getattr(lamina, name) is not None
    with pytest.raises(AttributeError):
        _ = lamina.nothing_like_it  # type: ignore[attr-defined]


def test_every_public_name_has_a_docstring() -> None:
    for name in lamina.__all__:
        value = getattr(lamina, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert (inspect.getdoc(value) or "").strip(), name
            members = inspect.getmembers(value, lambda item: inspect.isfunction(item) or isinstance(item, property))
            for member, _ in members if name in ("Memory", "Recall", "Receipt") else ():
                assert member.startswith("_") or getattr(value, member).__doc__, f"{name}.{member}"


def test_public_signatures_are_fully_typed() -> None:
    for name, member in [
        method for kind in (Memory, Upkeep) for method in inspect.getmembers(kind, inspect.isfunction)
    ]:
        if not name.startswith("_"):
            hints = get_type_hints(member, vars(sys.modules[member.__module__]))
            wanted = set(inspect.signature(member).parameters) - {"self"} | {"return"}
            assert wanted <= hints.keys(), name


def test_the_package_has_the_type_marker() -> None:
    assert files("lamina").joinpath("py.typed").is_file()


def test_the_shipped_contract_needs_no_test_runner() -> None:
    script = "import sys, lamina.testing; assert 'pytest' not in sys.modules and 'hypothesis' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)
    import lamina.testing as testing

    assert len(testing.contract_names()) > 50
    assert all(getattr(testing.StoreContract, name) for name in testing.contract_names())
