from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from typer.testing import CliRunner

from desk import Desk
from fake_states import FakeListReader, FakePairModel, FakeStateModel
from lamina import model_registry
from lamina.cli.app import app
from lamina.clock import FixedClock
from lamina.settings import Settings
from lamina.states.state_reader import StateReader
from lamina.store.sqlite.store import SqliteStore
from lamina.testing.store_harness import NOON, StoreHarness
from terminal import Cli, Ran

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A job started in the background ignores Ctrl-C, and its children would too: tests that interrupt them need it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


os.environ["LAMINA_EMBEDDER"] = "none"
os.environ["LAMINA_BACKGROUND"] = "false"
os.environ["LAMINA_SERVE_READERS"] = "0"
"""What is not about vectors is tested without them; tests that are say which embedder they want."""

settings.register_profile("lamina", deadline=None)
settings.load_profile("lamina")

_LONG = {"torture", "machine"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first, so that no worker is left alone with them at the end."""
    items.sort(key=lambda item: _LONG.isdisjoint(item.path.parts))


@pytest.fixture(autouse=True)
def _words_alone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is about files is tested without the statements that words give rise to."""
    if "sync" in request.path.parts:
        monkeypatch.setenv("LAMINA_EXTRACTOR", "none")


_WITHOUT_STATE_MODEL = frozenset({"test_model_path", "test_upkeep", "test_erasing", "test_bench_public_data"})
"""Tests that count models or compare figures with the state model left out."""


@pytest.fixture(autouse=True)
def _no_state_model(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.path.stem in _WITHOUT_STATE_MODEL:
        monkeypatch.setenv("LAMINA_STATE_MODEL", "off")
    if request.path.stem == "test_bench_public_data":
        monkeypatch.setenv("LAMINA_EXTRACTOR", "none")


@pytest.fixture(autouse=True)
def _fake_state_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences become statements without the trained weights, wherever models are not what is tested."""
    fake = StateReader(FakeStateModel(), FakePairModel(), FakeListReader())
    real = model_registry.load_state_reader

    def choose(settings: Settings, models: Path) -> StateReader | None:
        return fake if settings.embedder == "none" else real(settings, models)

    monkeypatch.setattr(model_registry, "load_state_reader", choose)


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

    def run(*words: str, stdin: str | bytes | None = None) -> Ran:
        result = CliRunner().invoke(app, list(words), input=stdin, catch_exceptions=False)
        return Ran(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def vault(home: Path) -> Path:
    """Where the vault is when nobody says otherwise."""
    return home / "lamina"


@pytest.fixture
def coffee(cli: Cli) -> str:
    """The id of an atom that is there already."""
    ran = cli("remember", "Ann prefers light roast coffee.", "--kind", "preference", "--subject", "Ann", "--json")
    return str(ran.data["outcomes"][0]["atom"]["id"])


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A person's desk with a vault on it."""
    desk = Desk(tmp_path / "vault")
    yield desk
    desk.close()


@pytest.fixture
def hand(tmp_path: Path) -> Iterator[StoreHarness]:
    """A store at noon, and a hand that writes into it."""
    clock = FixedClock(NOON)
    store = SqliteStore(tmp_path, clock)
    yield StoreHarness(store, clock)
    store.close()
