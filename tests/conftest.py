from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from typer.testing import CliRunner

from command_result import Cli, CommandResult
from fake_state_models import FakeListReader, FakePairModel, FakeStateModel
from lamina.cli.app import app
from lamina.clock import FixedClock
from lamina.model_registry import ModelRegistry
from lamina.states.sentence_models import StateReader
from lamina.store.sqlite.store import SqliteStore
from lamina.testing.store_harness import NOON, StoreHarness
from vault_workspace import VaultWorkspace

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A job started in the background ignores Ctrl-C, and its children would too: tests that interrupt them need it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


os.environ["LAMINA_EMBEDDER"] = "none"
os.environ["LAMINA_BACKGROUND"] = "false"
os.environ["LAMINA_SERVE_READERS"] = "0"
"""What is not about vectors is tested without them; tests that are say which embedder they want."""

ModelRegistry.default_state_reader = StateReader(FakeStateModel(), FakePairModel(), FakeListReader())
"""Sentences become statements without the trained weights, wherever models are not what is tested."""

settings.register_profile("lamina", deadline=None)
settings.load_profile("lamina")

_LONG = {"torture", "machine"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first, so that no worker is left alone with them at the end."""
    items.sort(key=lambda item: _LONG.isdisjoint(item.path.parts))


@pytest.fixture(autouse=True)
def _without_extraction(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is about files is tested without the statements that words give rise to."""
    if "sync" in request.path.parts:
        monkeypatch.setenv("LAMINA_EXTRACTOR", "none")


_WITHOUT_STATE_MODEL = frozenset({"test_selected_models", "test_upkeep", "test_bench_public_data"})
"""Tests that count models or compare figures with the state model left out."""


@pytest.fixture(autouse=True)
def _no_state_model(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.path.stem in _WITHOUT_STATE_MODEL:
        monkeypatch.setenv("LAMINA_STATE_MODEL", "off")
    if request.path.stem == "test_bench_public_data":
        monkeypatch.setenv("LAMINA_EXTRACTOR", "none")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user with nothing but a home and a place to work in."""
    user, here = tmp_path / "user", tmp_path / "here"
    user.mkdir()
    here.mkdir()
    monkeypatch.setenv("HOME", str(user))
    for name in ("LAMINA_VAULT", "LAMINA_SCOPE", "FORCE_COLOR", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(here)
    yield user


@pytest.fixture
def cli(home: Path) -> Cli:
    """Runs a command in this process; an exception that is no exit is a failure of the test."""

    def run(*words: str, stdin: str | bytes | None = None) -> CommandResult:
        result = CliRunner().invoke(app, list(words), input=stdin, catch_exceptions=False)
        return CommandResult(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def vault(home: Path) -> Path:
    """Where the vault is when nobody says otherwise."""
    return home / "lamina"


@pytest.fixture
def coffee(cli: Cli) -> str:
    """The id of an atom that is there already."""
    result = cli("remember", "Ann prefers light roast coffee.", "--kind", "preference", "--subject", "Ann", "--json")
    return str(result.data["outcomes"][0]["atom"]["id"])


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[VaultWorkspace]:
    """A person's desk with a vault on it."""
    opened = VaultWorkspace(tmp_path / "vault")
    yield opened
    opened.close()


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[StoreHarness]:
    """A store at noon, and a hand that writes into it."""
    clock = FixedClock(NOON)
    store = SqliteStore(tmp_path, clock)
    yield StoreHarness(store, clock)
    store.close()
