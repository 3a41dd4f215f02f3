"""Statements that name files, commands or packages are compared with the declared folders of code.

Covers `lamina.dream.code_root` and `lamina.dream.code_root`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpu_time import cpu_seconds
from lamina.atom.atom import Atom, IdSource
from lamina.atom.kinds import Layer
from lamina.atom.status import Status
from lamina.capture.store_reads import new_ids
from lamina.clock import FixedClock
from lamina.dream.code_presence import CodeRoots, Presence
from lamina.dream.code_references import CodeReference, ReferenceType, find_references
from lamina.dream.code_root import cargo_names
from lamina.dream.dream import dream
from lamina.dream.drift_step import STEP, Severity, drift, score
from lamina.dream.report import DreamReport
from lamina.dream.step import StepContext, StepPlan
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.review.undo import undo
from lamina.store.sqlite import SqliteStore
from lamina.testing.store_harness import DAY, LOCAL, NOON, StoreHarness

_FILES = {
    "src/shop/app.py": "import click\n\nclass Order:\n    def total(self) -> int: ...\n\ndef parse_order(text): ...\n",
    "src/shop/__init__.py": "",
    "src/shop/cli.py": "def main(): ...\n",
    "web/package.json": json.dumps({"scripts": {"build": "vite build", "dev": "vite"}, "dependencies": {"vue": "3"}}),
    "web/src/App.vue": "<script>useCart()</script>",
    "pyproject.toml": '[project]\ndependencies = ["fastapi>=0.1", "scikit-learn"]\n',
    "Makefile": "lint:\n\truff check\n\ntest: lint\n\tpytest\n",
    "justfile": 'set shell := ["sh"]\nhost := "a:b"\nalias b := bake\n@bake oven="hot" *rest: knead\n  :\nknead:\n',
    "till/Cargo.toml": '[package]\nname = "till"\n\n[[bin]]\nname = "till-print"\n\n[dependencies]\nserde = "1"\n',
    "till/src/bin/recount.rs": "fn main() {}\n",
    ".gitignore": "local.yaml\n/data/\n",
    "docs/My Notes/plan.md": "notes",
    "scripts/deploy.sh": "echo",
    "README.md": "# Shop",
}


@pytest.fixture(scope="module")
def existing_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _project(tmp_path_factory.mktemp("standing") / "shop")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return _project(tmp_path / "shop")


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[StoreHarness]:
    clock = FixedClock(NOON)
    (tmp_path / "state").mkdir()
    store = SqliteStore(tmp_path / "state", clock)
    yield StoreHarness(store, clock)
    store.close()


def _project(root: Path) -> Path:
    for path, text in _FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def _scene(harness: StoreHarness, *roots: Path, at: datetime | None = None) -> StepContext:
    now = at or harness.clock.now()
    return StepContext(
        store=harness.store,
        scope=LOCAL,
        moment=AgeingTime(now),
        ids=new_ids(IdSource(os.urandom), now),
        code_roots=roots,
    )


def _dream(harness: StoreHarness, *roots: Path) -> DreamReport:
    return dream([_scene(harness, *roots)], {STEP: drift}, harness.store, harness.clock.now())


def _missing_references(root: Path, text: str) -> list[CodeReference]:
    ground = CodeRoots([root])
    return [reference for reference in find_references(text) if ground.presence_of(reference) is Presence.MISSING]


def _notes(plan: StepPlan) -> str:
    return "\n".join(plan.notes)


def test_a_statement_about_a_missing_file_is_challenged_with_the_path(harness: StoreHarness, shop: Path) -> None:
    removed, there = harness.add("The entry point is src/shop/main.py."), harness.add("Orders live in src/shop/app.py.")
    report = _dream(harness, shop)
    (move,) = report.moves
    assert (move.action, move.atom_id) == ("challenge", removed.id)
    assert move.why == "src/shop/main.py is not in shop; stated 2026-11-14"
    assert harness.current(removed).status is Status.CHALLENGED
    assert harness.current(there).status is Status.ACTIVE
    assert harness.current(removed).content == removed.content


def test_without_a_declared_folder_nothing_is_checked(harness: StoreHarness) -> None:
    harness.add("The entry point is src/shop/main.py.")
    plan = drift(_scene(harness))
    assert not (plan.changes or plan.moves or plan.notes)


@pytest.mark.parametrize(
    "text",
    [
        "The entry point is src/shop/main.py.",
        "Run `./scripts/release.sh` to ship.",
        "Use `src/shop/views.py:42` for the handler.",
        "The function parse_receipt checks every line.",
        "The class OrderBook keeps the orders.",
        "Prices come from `price_of(item)`.",
        "Totals come from `Order.grand_total()`.",
        "The web part is built by npm run bundle.",
        "Start the web part with `yarn serve`.",
        "Run `make deploy` on Fridays.",
        "Start it with `python -m shop.server`.",
        "The backend uses Flask.",
        "The project depends on `left-pad`.",
        "Deploy like this:\n```\n$ make ship\n```",
        "Bread is made by `just toast`.",
        "Open the shop:\n```\n$ just open --quick\n```",
        "The till is built by cargo build -p register.",
        "Print receipts with `cargo run --release --bin receipts -- --all`.",
        "Check it with `cargo +nightly test --package=register`.",
    ],
)
def test_named_files_that_are_missing_are_reported(existing_project: Path, text: str) -> None:
    assert len(_missing_references(existing_project, text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Orders live in src/shop/app.py and shop/cli.py.",
        "Orders live in shop/src/shop/app.py.",
        "The readme is readme.md, the plan is docs/My Notes/plan.md.",
        "The function parse_order is fine; so is `Order.total()` and `useCart()`.",
        "Use `print()` and `os.path.join(a, b)`, not `requests.get(url)`.",
        "Run npm run build, then `yarn dev`, then `make lint test`.",
        "Start it with `python -m shop.cli` or `python -m pytest` or `python -m http.server`.",
        "The backend uses FastAPI, the site uses Vue. It depends on `scikit-learn` and uses the click package.",
        "Ann uses Django at work. We use Slack. The talk depends on the weather.",
        "Make sure to make coffee. The function of a class is to teach.",
        "src/shop/main.py was removed in May.",
        "We will add src/shop/main.py soon. There is no src/shop/main.py.",
        "The build generates src/shop/version.py.",
        "See https://example.com/src/shop/main.py and example.com/a/b.html.",
        "Put it into src/<name>/main.py, src/{name}.py, $HOME/x.py, src/*.py or path/to/main.py.",
        "The file is C:\\shop\\main.py or /home/somebody/else/main.py or /api/users/all.",
        "Settings are in config/local.yaml, data/prices.csv, dist/app.js and node_modules/vue/index.js.",
        "She likes Node.js, HTML/CSS and/or `node.js`.",
        "The JavaScript function is slow.",
        "Notes are in /home/ann/My Documents/notes.md.",
        "Bread is made by `just bake cold`, `just b` or `just knead`.",
        "Run just the tests. It is just a till. `just --list` shows them, `just oven::heat` heats, `just x=1 bake`.",
        "Use cargo build -p till, `cargo run --bin till-print`, `cargo run --bin recount` and `cargo test -p serde`.",
        "Run `cargo run --bin till -- -p register` and `cargo install ripgrep`.",
    ],
)
def test_existing_and_inconclusive_references_are_not_missing(existing_project: Path, text: str) -> None:
    assert _missing_references(existing_project, text) == []


def test_an_absolute_path_under_a_root_is_an_error_and_of_another_machine_is_none(
    harness: StoreHarness, shop: Path
) -> None:
    harness.add(f"The app is {shop}/main.py.")
    harness.add(f"The app is {shop}/src/shop/app.py, the old machine has /srv/shop/main.py.")
    plan = drift(_scene(harness, shop))
    assert len(plan.moves) == 1
    assert "score 90 of 100: 1 error, 0 warning, 0 info" in _notes(plan)


def test_a_home_folder_means_that_of_this_machine(
    harness: StoreHarness, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(shop.parent))
    harness.add("The app is ~/shop/src/shop/app.py.")
    removed = harness.add("The app is `~/shop/main.py`.")
    assert [move.atom_id for move in drift(_scene(harness, shop)).moves] == [removed.id]


def test_the_score_weighs_errors_warnings_and_hints_and_stops_at_zero() -> None:
    assert score([]) == 100
    assert score([Severity.ERROR, Severity.WARNING, Severity.INFO]) == 86
    assert score([Severity.ERROR] * 30) == 0


def test_a_bare_file_name_is_a_hint_and_challenges_nothing(harness: StoreHarness, shop: Path) -> None:
    harness.add("The keys are in `keys.toml`.")
    plan = drift(_scene(harness, shop))
    assert not plan.moves and "keys.toml is not in shop" in _notes(plan) and "only a hint" in _notes(plan)


def test_a_path_into_an_unknown_folder_is_a_hint_unless_it_was_read_there_before(
    harness: StoreHarness, shop: Path
) -> None:
    atom = harness.add("Bills are made in billing/invoice.py.")
    plan = drift(_scene(harness, shop))
    assert (
        not plan.moves and "billing/invoice.py is not in shop" in _notes(plan) and "0 warning, 1 info" in _notes(plan)
    )
    harness.add("billing/invoice.py (Python)", kind="code", metadata={"path": "billing/invoice.py"})
    assert [move.atom_id for move in drift(_scene(harness, shop)).moves] == [atom.id]


def test_a_pinned_statement_is_reported_and_left_alone(harness: StoreHarness, shop: Path) -> None:
    atom = harness.add("The entry point is src/shop/main.py.", pinned=True)
    plan = drift(_scene(harness, shop))
    assert not plan.changes and "(pinned)" in _notes(plan)
    _dream(harness, shop)
    assert harness.current(atom) == atom


def test_events_plans_pending_and_ended_statements_are_not_checked(harness: StoreHarness, shop: Path) -> None:
    cases: list[dict[str, Any]] = [
        {"kind": "event"},
        {"kind": "goal"},
        {"kind": "commitment"},
        {"kind": "code", "layer": Layer.CODEBASE},
        {"status": Status.CONSTRAINED},
        {"valid_until": NOON - DAY},
    ]
    for n, fields in enumerate(cases):
        harness.add(f"{n}: the entry point is src/shop/main.py.", **fields)
    assert not drift(_scene(harness, shop)).moves


def test_a_procedure_is_checked(harness: StoreHarness, shop: Path) -> None:
    atom = harness.add("To release, run `make release`.", kind="procedure")
    assert [move.atom_id for move in drift(_scene(harness, shop)).moves] == [atom.id]


def test_a_second_drift_check_changes_nothing(harness: StoreHarness, shop: Path) -> None:
    for n in range(3):
        harness.add(f"Part {n} is src/shop/part{n}.py.")
    assert len(_dream(harness, shop).moves) == 3
    position = harness.store.journal.position()
    again = drift(_scene(harness, shop))
    assert not again.changes and not again.moves
    _dream(harness, shop)
    assert harness.store.journal.position() == position


def test_a_statement_a_person_confirmed_is_not_challenged_again_until_it_changes(
    harness: StoreHarness, shop: Path
) -> None:
    atom = harness.add("The entry point is src/shop/main.py.")
    _dream(harness, shop)
    harness.commit(harness.current(atom).with_(status=Status.ACTIVE))
    plan = drift(_scene(harness, shop))
    assert not plan.moves and "confirmed by a person" in _notes(plan)
    harness.commit(harness.current(atom).with_(content="The entry point is src/shop/start.py."))
    assert [move.atom_id for move in drift(_scene(harness, shop)).moves] == [atom.id]


def test_a_restored_file_is_reported_and_a_person_decides(harness: StoreHarness, shop: Path) -> None:
    atom = harness.add("The entry point is src/shop/main.py.")
    other = harness.add("Orders live in src/shop/app.py.")
    harness.commit(other.with_(status=Status.CHALLENGED), reason="somebody doubts it")
    _dream(harness, shop)
    assert "again" not in _notes(drift(_scene(harness, shop)))
    (shop / "src/shop/main.py").write_text("")
    plan = drift(_scene(harness, shop))
    assert not plan.changes
    assert f"{atom.id[-6:]} names src/shop/main.py, which exists again" in _notes(plan)
    assert other.id[-6:] not in _notes(plan)


def test_drift_can_be_undone(harness: StoreHarness, shop: Path) -> None:
    atom = harness.add("The entry point is src/shop/main.py.")
    report = _dream(harness, shop)
    assert report.steps[0].commit is not None
    undo(harness.store, report.steps[0].commit, (LOCAL,), "human", atom.origin)
    assert harness.current(atom) == atom


def test_a_file_of_the_codebase_layer_is_reported_with_its_last_read_date(harness: StoreHarness, shop: Path) -> None:
    harness.add(
        "src/shop/main.py (Python)", kind="code", observed_at=NOON - 30 * DAY, metadata={"path": "src/shop/main.py"}
    )
    harness.add("The entry point is src/shop/main.py.")
    assert drift(_scene(harness, shop)).moves[0].why == "src/shop/main.py is not in shop; last seen 2026-10-15"


def test_a_missing_or_empty_folder_challenges_nothing(harness: StoreHarness, shop: Path, tmp_path: Path) -> None:
    harness.add("The entry point is src/shop/main.py.")
    harness.add(f"It is {tmp_path}/away/main.py and {tmp_path}/bare/main.py.")
    (tmp_path / "bare").mkdir()
    for missing in (tmp_path / "away", tmp_path / "bare"):
        plan = drift(_scene(harness, shop, missing))
        assert not plan.moves and "it is not checked" in _notes(plan)


def test_a_folder_with_too_many_files_is_not_checked(shop: Path) -> None:
    ground = CodeRoots([shop], max_files=3)
    assert ground.presence_of(CodeReference(ReferenceType.RELATIVE, "src/shop/main.py")) is Presence.UNKNOWN
    assert ground.notes == ("shop has more than 3 files: it is not checked",)


def test_a_reference_is_missing_when_no_folder_has_it(harness: StoreHarness, shop: Path, tmp_path: Path) -> None:
    harness.add("The entry point is src/shop/main.py.")
    other = _project(tmp_path / "other")
    assert drift(_scene(harness, shop, other)).moves[0].why.startswith("src/shop/main.py is not in shop, other;")
    (other / "src/shop/main.py").write_text("")
    assert not drift(_scene(harness, shop, other)).moves


def test_links_out_of_a_folder_are_not_followed(harness: StoreHarness, shop: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("def hidden_thing(): ...\n")
    (shop / "link").symlink_to(outside)
    (shop / "linked.py").symlink_to(outside / "secret.py")
    harness.add(f"It is {shop}/link/other.py and link/other.py and {shop}/linked.py.")
    harness.add("The function hidden_thing is used.")
    moves = drift(_scene(harness, shop)).moves
    assert [move.why for move in moves] == ["hidden_thing does not occur in the code of shop"]


def test_an_unreadable_folder_proves_nothing(shop: Path) -> None:
    closed = shop / "src" / "closed"
    closed.mkdir()
    closed.chmod(0)
    try:
        if os.access(closed, os.R_OK):
            pytest.skip("this user may read everything")
        ground = CodeRoots([shop])
        assert ground.presence_of(CodeReference(ReferenceType.RELATIVE, "src/shop/main.py")) is Presence.UNKNOWN
        assert ground.presence_of(CodeReference(ReferenceType.ABSOLUTE, f"{shop}/src/closed/x.py")) is Presence.UNKNOWN
        assert ground.presence_of(CodeReference(ReferenceType.ABSOLUTE, f"{shop}/src/shop/main.py")) is Presence.MISSING
    finally:
        closed.chmod(0o700)


@pytest.mark.parametrize(
    ("path", "text", "named"),
    [
        ("Makefile", "include other.mk\nlint:\n", CodeReference(ReferenceType.TARGET, "deploy")),
        ("Makefile", "%.o: %.c\n\tcc\n", CodeReference(ReferenceType.TARGET, "deploy")),
        ("web/package.json", "{broken", CodeReference(ReferenceType.SCRIPT, "serve")),
        ("justfile", "import 'more.just'\nbake:\n", CodeReference(ReferenceType.RECIPE, "toast")),
        ("justfile", "mod oven\nbake:\n", CodeReference(ReferenceType.RECIPE, "toast")),
        ("till/Cargo.toml", "[package", CodeReference(ReferenceType.CRATE, "register")),
        ("till/Cargo.toml", "[package", CodeReference(ReferenceType.BINARY, "register")),
    ],
)
def test_an_incomplete_manifest_proves_nothing(shop: Path, path: str, text: str, named: CodeReference) -> None:
    assert CodeRoots([shop]).presence_of(named) is Presence.MISSING
    (shop / path).write_text(text)
    assert CodeRoots([shop]).presence_of(named) is Presence.UNKNOWN


def test_without_any_manifest_a_command_proves_nothing(tmp_path: Path) -> None:
    (tmp_path / "main.go").write_text("package main\n")
    ground = CodeRoots([tmp_path])
    commands = (
        CodeReference(sort, "x")
        for sort in (
            ReferenceType.SCRIPT,
            ReferenceType.TARGET,
            ReferenceType.RECIPE,
            ReferenceType.CRATE,
            ReferenceType.BINARY,
        )
    )
    for named in (*commands, CodeReference(ReferenceType.PACKAGE, "flask")):
        assert ground.presence_of(named) is Presence.UNKNOWN


@given(st.text(max_size=300))
@settings(max_examples=300, deadline=None)
def test_any_text_can_be_parsed_for_references(text: str) -> None:
    for reference in find_references(text):
        assert reference.name and reference.name in text.replace("/./", "/").replace("//", "/")


@given(st.text(alphabet=st.sampled_from("ab/.~`() \n-_<>{}$*:@\\"), max_size=60))
@settings(max_examples=200, deadline=None)
def test_no_reference_is_looked_up_outside_its_root(text: str) -> None:
    for reference in find_references(text):
        assert ".." not in reference.name.split("/")


_PLACES = st.sampled_from(sorted(path for path in _FILES if not path.startswith(".") and " " not in path))
_SENTENCES = st.sampled_from(
    ["The code is in {}.", "Use `{}` for that.", "See {} and tell Ann.", "({}) holds it", "{}:12"]
)


@given(st.lists(st.tuples(_SENTENCES, _PLACES), max_size=8), st.lists(st.booleans(), min_size=8, max_size=8))
@settings(max_examples=60, deadline=None)
def test_an_existing_file_is_never_missing_whatever_the_wording(
    existing_project: Path, statements: list[tuple[str, str]], whole: list[bool]
) -> None:
    ground = CodeRoots([existing_project])
    for (form, path), absolute in zip(statements, whole, strict=False):
        for reference in find_references(form.format(f"{existing_project}/{path}" if absolute else path)):
            assert ground.presence_of(reference) is Presence.PRESENT


@given(st.lists(st.tuples(st.sampled_from(["main", "app", "cli"]), st.booleans()), min_size=1, max_size=8))
@settings(max_examples=15, deadline=None)
def test_drift_changes_no_pinned_atom_keeps_all_text_and_is_idempotent(
    existing_project: Path, tmp_path_factory: pytest.TempPathFactory, stated: list[tuple[str, bool]]
) -> None:
    clock = FixedClock(NOON)
    store = SqliteStore(tmp_path_factory.mktemp("state"), clock)
    harness = StoreHarness(store, clock)
    before: list[Atom] = [
        harness.add(f"{n}: it is src/shop/{name}.py.", pinned=pin) for n, (name, pin) in enumerate(stated)
    ]
    _dream(harness, existing_project)
    after = [harness.current(atom) for atom in before]
    for old, new, (name, pin) in zip(before, after, stated, strict=True):
        assert new == old if pin or name != "main" else new == old.with_(status=Status.CHALLENGED)
    assert not drift(_scene(harness, existing_project)).changes
    store.close()


def test_a_challenge_changes_only_the_status_and_the_journal_gives_the_reason(
    harness: StoreHarness, shop: Path
) -> None:
    atom = harness.add("The entry point is src/shop/main.py.")
    _dream(harness, shop)
    version = harness.store.journal.versions(atom.id)[-1]
    assert version.fields == {"status"}
    assert version.reason.startswith("drift: 1 challenge") and "src/shop/main.py is not in shop" in version.reason


def test_a_manifest_with_a_key_of_very_many_parts_is_read_in_bounded_time() -> None:
    assert not cargo_names("a." * 200_000 + "a = 1").is_complete
    assert cpu_seconds(lambda: cargo_names("a." * 200_000 + "a = 1")) < 1
    assert cargo_names('[package]\nname = "till"\nversion = "1.2.3"\n').names == {"till"}
