"""The embedded store: the contract of every store, and what only SQLite files can do."""

from __future__ import annotations

import hashlib
import math
import os
import shutil
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import apsw
import pytest

from lamina.atom.atom import Atom, Signals
from lamina.atom.identity import AtomId
from lamina.atom.passage import passages_of, render_passage
from lamina.atom.status import Status
from lamina.clock import Clock, FixedClock
from lamina.errors import StoreError, StoreTooNew
from lamina.store.ageing_state import AgeingState
from lamina.store.base import Store
from lamina.store.sqlite import SqliteStore
from lamina.store.sqlite.journal import SqliteJournal, from_millis, to_millis
from lamina.store.sqlite.text_search import MIN_CANDIDATES
from lamina.testing import ANN, DAY, LOCAL, NOON, StoreContract, StoreHarness
from lamina.text.analyser import analyse


class TestSqliteStoreKeepsTheContract(StoreContract):
    def make_store(self, tmp_path: Path, clock: Clock) -> Store:
        return SqliteStore(tmp_path, clock)


@contextmanager
def opened(folder: Path) -> Iterator[StoreHarness]:
    clock = FixedClock(NOON)
    store = SqliteStore(folder, clock)
    try:
        yield StoreHarness(store, clock)
    finally:
        store.close()


@pytest.fixture
def hand(tmp_path: Path) -> Iterator[StoreHarness]:
    with opened(tmp_path) as one:
        yield one


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# The hash chain


def written_history(folder: Path) -> SqliteJournal:
    """A journal of forty commits, some of them of several atoms in several scopes, some with keys."""
    random = Random(1)
    with opened(folder) as hand:
        for n in range(40):
            atoms = hand.read(LOCAL, ANN)
            if atoms and n % 3:
                atom = random.choice(atoms)
                hand.commit(
                    atom.with_(content=f"{atom.content} {n}", pinned=not atom.pinned), scope=ANN, reason=f"r{n}"
                )
            else:
                several = [hand.new_atom(f"{n} {m}", scope=random.choice([LOCAL, ANN])) for m in range(3)]
                hand.commit(*several, scope=ANN, key=f"k{n}" if n % 2 else None, batch=f"b{n % 5}")
    history = SqliteJournal(folder / "history.db")
    assert history.find_broken_links() == []
    assert history.find_wrong_heads() == []
    return history


COLUMNS = {
    "commits": ["seq", "id", "at", "scope", "actor", "origin", "verb", "key", "batch", "undoes", "root", "hash"],
    "versions": ["seq", "n", "atom_id", "revision", "scope", "old_status", "status", "commitment", "salt", "body"],
    "reasons": ["seq", "commitment", "salt", "body"],
}


def edited(random: Random, value: object) -> object:
    """Another value of the same sort, or now and then nothing at all."""
    if random.random() < 0.1:
        return None if value is not None else "something"
    match value:
        case None:
            return random.choice(["x", 1, b"x"])
        case int():
            return value + random.choice([-1, 1, 1000])
        case bytes():
            at = random.randrange(len(value))
            return value[:at] + bytes([value[at] ^ (1 << random.randrange(8))]) + value[at + 1 :]
        case str():
            at = random.randrange(len(value) + 1)
            return random.choice(
                [value[:at] + "~" + value[at:], value[:at] + value[at + 1 :] or "~", value.upper() + "!"]
            )
    raise AssertionError(value)


def edit_a_value(random: Random, history: SqliteJournal) -> str | None:
    table = random.choice(list(COLUMNS))
    column = random.choice(COLUMNS[table])
    rows = history.db.rows(f"SELECT * FROM {table}")
    row = dict(zip(COLUMNS[table], random.choice(rows), strict=True))
    new = edited(random, row[column])
    if new == row[column]:
        return None
    where = "seq=:seq" + (" AND n=:n" if table == "versions" else "")
    try:
        history.db.run(f"UPDATE {table} SET {column}=:new WHERE {where}", {**row, "new": new})
    except StoreError:
        return None  # the schema itself refuses the value
    return f"{table}.{column} of {row['seq']}: {row[column]!r} became {new!r}"


def delete_a_row(random: Random, history: SqliteJournal) -> str:
    table = random.choice(list(COLUMNS))
    rows = history.db.rows(f"SELECT seq{', n' if table == 'versions' else ''} FROM {table}")
    row = random.choice(rows)
    where = "seq=? AND n=?" if table == "versions" else "seq=?"
    history.db.run(f"DELETE FROM {table} WHERE {where}", row)
    return f"{table}: {row} was deleted"


def swap_two(random: Random, history: SqliteJournal) -> str:
    table = random.choice(list(COLUMNS))
    one, other = random.sample([row[0] for row in history.db.rows(f"SELECT DISTINCT seq FROM {table}")], 2)
    for old, new in ((one, -1), (other, one), (-1, other)):
        history.db.run(f"UPDATE {table} SET seq=? WHERE seq=?", (new, old))
    return f"{table}: {one} and {other} changed places"


def swap_whole_commits(random: Random, history: SqliteJournal) -> str:
    one, other = random.sample(range(1, 41), 2)
    for table in COLUMNS:
        for old, new in ((one, -1), (other, one), (-1, other)):
            history.db.run(f"UPDATE {table} SET seq=? WHERE seq=?", (new, old))
    return f"commits {one} and {other} changed places"


def cut_the_middle(random: Random, history: SqliteJournal) -> str:
    first = random.randrange(1, 40)
    last = random.randrange(first, 40)
    for table in COLUMNS:
        history.db.run(f"DELETE FROM {table} WHERE seq BETWEEN ? AND ?", (first, last))
    if random.random() < 0.5:
        for table in COLUMNS:
            history.db.run(f"UPDATE {table} SET seq=-seq WHERE seq>?", (last,))
            history.db.run(f"UPDATE {table} SET seq=-seq-? WHERE seq<0", (last - first + 1,))
    return f"commits {first} to {last} were cut out"


def cut_the_tail_of_one_table(random: Random, history: SqliteJournal) -> str:
    table, after = random.choice(list(COLUMNS)), random.randrange(30, 40)
    history.db.run(f"DELETE FROM {table} WHERE seq>?", (after,))
    return f"{table}: everything after {after} was cut off"


def put_a_row_in(random: Random, history: SqliteJournal) -> str:
    seq = random.choice([random.randrange(1, 41), 41, 99])
    history.db.run(
        "INSERT INTO versions VALUES(?,?,?,1,'org:local',NULL,'active',?,?,'{}')",
        (seq, 77, "0" * 26, os.urandom(32), os.urandom(16)),
    )
    return f"a version was put into {seq}"


MISCHIEF: list[Callable[[Random, SqliteJournal], str | None]] = [
    edit_a_value,
    edit_a_value,
    edit_a_value,
    edit_a_value,
    delete_a_row,
    swap_two,
    swap_whole_commits,
    cut_the_middle,
    cut_the_tail_of_one_table,
    put_a_row_in,
]


def test_every_edit_deletion_reordering_and_cut_of_the_journal_is_noticed(tmp_path: Path) -> None:
    history = written_history(tmp_path)
    seed = int.from_bytes(os.urandom(4), "big")
    print(f"seed {seed}")
    random, done, missed = Random(seed), 0, []
    while done < 400:
        history.db.run("BEGIN")
        told = random.choice(MISCHIEF)(random, history)
        if told is not None:
            done += 1
            if not history.find_broken_links():
                missed.append(told)
        history.db.run("ROLLBACK")
    assert missed == []
    assert history.find_broken_links() == []
    history.db.close()


def test_a_journal_cut_off_at_its_end_verifies_and_is_told_only_by_a_remembered_position(tmp_path: Path) -> None:
    history = written_history(tmp_path)
    remembered = history.position()
    with history.db.write_transaction(durable=True):
        for table in COLUMNS:
            history.db.run(f"DELETE FROM {table} WHERE seq>30")
    # Nothing after the cut is left to contradict it: the chain alone cannot tell, somebody who knew the position can,
    # and so can the current state of the atoms as long as it was not cut back too.
    assert history.find_broken_links() == []
    assert history.position() == 30 < remembered
    assert history.find_wrong_heads() != []
    history.db.close()


def test_erased_payloads_leave_a_chain_that_verifies_and_entries_without_words(tmp_path: Path) -> None:
    history = written_history(tmp_path)
    with history.db.write_transaction(durable=True):
        history.db.run("UPDATE versions SET body=NULL, salt=NULL WHERE seq IN (3, 7, 40)")
        history.db.run("UPDATE reasons SET body=NULL, salt=NULL WHERE seq=7")
    assert history.find_broken_links() == []
    assert history.find_wrong_heads() == []
    (entry,) = history.read_entries([LOCAL, ANN], 6, 7, None, None)
    assert entry.reason == ""
    assert all(change.fields == {} for change in entry.changes)
    for half in ("body", "salt"):
        history.db.run("BEGIN")
        history.db.run(f"UPDATE versions SET {half}=NULL WHERE seq=9")
        assert history.find_broken_links() != []
        history.db.run("ROLLBACK")
    history.db.close()


def test_the_words_of_an_erased_payload_cannot_be_guessed_from_what_remains(tmp_path: Path) -> None:
    with opened(tmp_path) as hand:
        hand.commit(hand.new_atom("yes"), reason="yes"), hand.commit(hand.new_atom("yes"), reason="yes")
    history = SqliteJournal(tmp_path / "history.db")
    commitments = [row[0] for row in history.db.rows("SELECT commitment FROM reasons")]
    assert len(set(commitments)) == 2
    assert hashlib.sha256(b"yes").digest() not in commitments
    history.db.close()


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE heads SET status='tombstoned'",
        "UPDATE heads SET record=replace(record, 'tea', 'gin')",
        "UPDATE heads SET scope='org:other'",
        "UPDATE heads SET revision=7",
        "UPDATE heads SET claim='a::b'",
        "UPDATE heads SET recorded_at=recorded_at+1",
        "DELETE FROM heads",
        "INSERT INTO heads SELECT '00000000000000000000000000', revision, scope, status, kind, memory_type, subject, "
        "claim, session_id, content_hash, valid_from, valid_until, recorded_at, record FROM heads",
    ],
)
def test_a_current_state_that_the_journal_does_not_lead_to_is_noticed(tmp_path: Path, damage: str) -> None:
    with opened(tmp_path) as hand:
        hand.add("tea is ready")
        assert hand.store.check() == []
    history = SqliteJournal(tmp_path / "history.db")
    with history.db.write_transaction(durable=True):
        history.db.run(damage)
    history.db.close()
    with opened(tmp_path) as hand:
        assert any("journal" in fault for fault in hand.store.check())


def test_moments_are_kept_to_the_millisecond_in_any_year() -> None:
    random = Random(2)
    for _ in range(5_000):
        at = random.randrange(-62_135_596_800_000, 253_402_300_800_000)
        assert to_millis(from_millis(at)) == at
    for at in range(-2_000, 2_000):
        assert to_millis(from_millis(at)) == at


# The files


def test_the_databases_are_readable_by_their_owner_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        with opened(tmp_path) as hand:
            hand.add("a secret")
            hand.find_ids("secret")
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    finally:
        os.umask(old)
    assert {"history.db", "index.db"} <= modes.keys()
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("journal_mode", ["wal", "delete"])
def test_a_store_of_a_later_version_is_refused_and_left_as_it_is(tmp_path: Path, journal_mode: str) -> None:
    with opened(tmp_path) as hand:
        hand.add("from the future")
    db = apsw.Connection(str(tmp_path / "history.db"))
    db.pragma("journal_mode", journal_mode)
    db.pragma("user_version", 99)
    db.close()
    before = {path.name: digest(path) for path in tmp_path.iterdir()}
    with pytest.raises(StoreTooNew, match=r"format 99.*upgrade lamina"):
        SqliteStore(tmp_path, FixedClock(NOON))
    assert {path.name: digest(path) for path in tmp_path.iterdir()} == before


def test_an_index_of_another_store_is_made_anew(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
    with opened(tmp_path / "a") as one:
        mine = one.add("tea")
        one.find_ids("tea")
    with opened(tmp_path / "b") as other:
        other.add("somebody's coffee")
        other.find_ids("coffee")
    shutil.copy(tmp_path / "b/index.db", tmp_path / "a/index.db")
    with opened(tmp_path / "a") as one:
        assert one.find_ids("tea") == [mine.id]
        assert one.find_ids("coffee") == []
        assert one.store.check() == []


def test_an_index_ahead_of_its_journal_is_made_anew(tmp_path: Path) -> None:
    """As when history.db is brought back from a backup."""
    with opened(tmp_path) as hand:
        hand.add("first tea")
    shutil.copy(tmp_path / "history.db", tmp_path / "backup")
    with opened(tmp_path) as hand:
        hand.add("later tea")
        assert len(hand.find_ids("tea")) == 2
    shutil.copy(tmp_path / "backup", tmp_path / "history.db")
    with opened(tmp_path) as hand:
        assert [atom.content for atom in hand.read()] == ["first tea"]
        assert len(hand.find_ids("tea")) == 1
        assert hand.store.check() == []


def damaged(kind: str, data: bytes, random: Random) -> bytes:
    match kind:
        case "deleted":
            return b""
        case "zeros":
            return bytes(len(data))
        case "noise":
            return random.randbytes(len(data))
        case "cut":
            return data[: random.randrange(1, len(data))]
        case "header":
            return random.randbytes(100) + data[100:]
    holes = bytearray(data)
    for page in range(4096, len(data), 4096):
        holes[page : page + 200] = random.randbytes(200)
    return bytes(holes)


@pytest.mark.parametrize("kind", ["deleted", "zeros", "noise", "cut", "header", "holes"])
def test_a_damaged_index_is_thrown_away_and_made_anew(tmp_path: Path, kind: str) -> None:
    with opened(tmp_path) as hand:
        hand.commit(*[hand.new_atom(f"tea number {n} word{n}") for n in range(200)])
        assert len(hand.find_ids("tea", limit=300)) == 200
    index = tmp_path / "index.db"
    data = index.read_bytes()
    for seed in range(3):
        index.write_bytes(damaged(kind, data, Random(seed)))
        with opened(tmp_path) as hand:
            assert len(hand.find_ids("tea", limit=300)) == 200
            assert len(hand.find_ids("word77")) == 1
            assert hand.store.rebuild_index() == 200
            assert hand.store.check() == []


def test_a_damaged_journal_is_told_and_not_touched(tmp_path: Path) -> None:
    with opened(tmp_path) as hand:
        hand.add("tea")
    (tmp_path / "history.db").write_bytes(b"this is no database, but somebody may want it back" * 200)
    before = digest(tmp_path / "history.db")
    with pytest.raises(StoreError, match=r"history\.db is damaged"):
        SqliteStore(tmp_path, FixedClock(NOON))
    assert digest(tmp_path / "history.db") == before


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    with opened(tmp_path) as hand:
        hand.add("tea")
    with pytest.raises(StoreError):
        hand.read()


# Scores


def bm25(passages: list[list[str]], tokens: list[str], wanted: list[str]) -> dict[str, float]:
    """BM25 as the books have it, with k1 = 1.2, b = 0.75 and an idf that is never negative."""
    count, mean = len(passages), sum(map(len, passages)) / len(passages)
    parts = {}
    for token in wanted:
        times, holding = tokens.count(token), sum(token in passage for passage in passages)
        if times:
            idf = math.log(1 + (count - holding + 0.5) / (holding + 0.5))
            parts[token] = idf * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * len(tokens) / mean))
    return parts


def test_scores_are_those_of_plain_bm25_over_the_recallable_passages_of_the_scope(hand: StoreHarness) -> None:
    random, words = Random(4), [f"w{n}x" for n in range(60)]

    def text() -> str:
        return " ".join(random.choices(words, [1 / (n + 1) for n in range(60)], k=random.randint(1, 25)))

    for n in range(120):
        scope, status = random.choice([LOCAL, LOCAL, ANN]), random.choice(list(Status))
        atom = hand.add(text(), scope=scope, status=status)
        if n % 4 == 0:
            hand.commit(atom.with_(content=text()), scope=scope)
    turns = "\n\n".join(render_passage(n, text(), "Ann", NOON) for n in range(1, 9))
    hand.add(turns, kind="narrative", session_id="s", segment_id="s-1")
    atoms = hand.read()
    told = {
        (a.id, p.n): analyse(f"{p.speaker}: {p.text}" if p.speaker else p.text) for a in atoms for p in passages_of(a)
    }
    live = {atom.id for atom in atoms if atom.status in (Status.ACTIVE, Status.ARCHIVED)}
    passages = [tokens for (atom_id, _), tokens in told.items() if atom_id in live]
    for _ in range(40):
        wanted = list(dict.fromkeys(analyse(text())))[:5]
        found = hand.search(" ".join(wanted), limit=1000, statuses=frozenset(Status))
        assert {(match.atom_id, match.n) for match in found} == {
            place for place, tokens in told.items() if set(tokens) & set(wanted)
        }
        for match in found:
            expected = bm25(passages, told[match.atom_id, match.n], wanted)
            assert dict(match.token_scores).keys() == expected.keys()
            assert all(abs(part - expected[token]) < 1e-9 for token, part in match.token_scores)


def random_corpus(hand: StoreHarness, random: Random, count: int) -> tuple[list[Atom], Callable[[int], str]]:
    words = [f"w{n}x" for n in range(500)]
    weights = [1 / (n + 1) ** 0.9 for n in range(500)]

    def text(length: int) -> str:
        return " ".join(random.choices(words, weights, k=length))

    atoms = [hand.new_atom(text(random.randint(3, 30))) for _ in range(count)]
    hand.commit(*atoms)
    return atoms, text


def best_by_hand(atoms: list[Atom], questions: list[list[str]]) -> list[list[tuple[float, AtomId]]]:
    told = {atom.id: Counter(analyse(atom.content)) for atom in atoms}
    mean = sum(each.total() for each in told.values()) / len(told)
    holding = Counter(token for tokens in told.values() for token in tokens)

    def score(tokens: Counter[str], wanted: list[str]) -> float:
        norm = 1.2 * (0.25 + 0.75 * tokens.total() / mean)
        return sum(
            math.log(1 + (len(told) - holding[token] + 0.5) / (holding[token] + 0.5))
            * tokens[token]
            * 2.2
            / (tokens[token] + norm)
            for token in wanted
        )

    return [
        sorted(
            ((score(tokens, wanted), atom_id) for atom_id, tokens in told.items()), key=lambda pair: (-pair[0], pair[1])
        )
        for wanted in questions
    ]


def test_the_best_passages_are_those_a_look_at_every_passage_finds(hand: StoreHarness) -> None:
    """Exactly while no more passages match than are candidates. Beyond, SQLite's own rank chooses the candidates (its
    idf is not quite ours) and words that stand nearly everywhere bring none, so a passage near the end of the list may
    differ: here on at most two questions in eighty."""
    random = Random(6)
    atoms, text = random_corpus(hand, random, 1_500)
    common = [text(random.randint(1, 6)) for _ in range(60)]
    rare = [f"w{random.randrange(200, 500)}x w{random.randrange(200, 500)}x" for _ in range(20)]
    questions = [list(dict.fromkeys(analyse(asked))) for asked in (*common, *rare)]
    agreed = few = 0
    for wanted, best in zip(questions, best_by_hand(atoms, questions), strict=True):
        matching = [(score, atom_id) for score, atom_id in best if score > 0]
        found = [(match.score, match.atom_id) for match in hand.search(" ".join(wanted), limit=10)]
        same = [abs(one[0] - other[0]) < 1e-9 for one, other in zip(matching[:10], found[:10], strict=True)]
        agreed += sum(same) == len(same)
        if len(matching) <= MIN_CANDIDATES:
            few += 1
            assert all(same)
            assert {each[1] for each in found} == {each[1] for each in matching}
    assert few >= 15
    assert agreed >= 78


def test_a_passage_of_common_words_only_is_still_found(hand: StoreHarness) -> None:
    hand.commit(*[hand.new_atom(f"the same common words again, entry{n}") for n in range(1_200)])
    found = hand.search("common words", limit=10)
    assert len(found) >= 10
    assert hand.find_ids("common entry77")[0] in {match.atom_id for match in hand.search("entry77")}


def test_superseded_words_keep_no_place_in_the_statistics(hand: StoreHarness) -> None:
    hand.add("green tea"), hand.add("black tea")
    before = hand.search("tea")
    for n in range(20):
        atom = hand.add(f"tea tea tea {n}")
        hand.commit(atom.with_(status=Status.SUPERSEDED))
    assert hand.search("tea") == before


def test_later_days_do_not_change_what_is_valid_now(hand: StoreHarness) -> None:
    past = hand.add("tea then", valid_until=NOON - DAY)
    assert hand.find_ids("tea") == []
    ended: Any = hand.commit(past.with_(status=Status.SUPERSEDED)).atoms[0]
    assert hand.find_ids("tea", statuses=frozenset({Status.SUPERSEDED})) == [ended.id]


# Formats


def forget_lives(db: apsw.Connection) -> None:
    """Take the journal back to format 4."""
    for sort, names in {
        "TRIGGER": "heads_stir heads_rest signals_stir",
        "TABLE": "lives stirred dreamt probes",
        "INDEX": "signals_by_use versions_by_scope",
    }.items():
        for name in names.split():
            db.execute(f"DROP {sort} {name}")
    for column in ("uses", "first_used_at", "use_days", "successes", "failures", "scope"):
        db.execute(f"ALTER TABLE signals DROP COLUMN {column}")
    db.pragma("user_version", 4)


def test_a_journal_of_format_4_takes_its_counters_along_and_looks_at_everything(tmp_path: Path) -> None:
    with opened(tmp_path) as hand:
        used, ignored, over = hand.add("used"), hand.add("ignored"), hand.add("over")
        hand.commit(over.with_(status=Status.SUPERSEDED))
        hand.store.ledger.set_signals(used.id, Signals(1.2, 4, NOON + DAY, uses=(NOON, NOON + DAY), use_days=2))
        hand.store.ledger.set_signals(ignored.id, Signals(0.95))
        hand.store.ageing_states.put({used.id: AgeingState(1)})
    db = apsw.Connection(str(tmp_path / "history.db"))
    forget_lives(db)
    db.close()
    for _ in range(2):
        with opened(tmp_path) as hand:
            assert hand.store.ledger.signals(used.id) == Signals(1.2, 4, NOON + DAY, uses=(NOON + DAY,))
            assert hand.store.ledger.signals(ignored.id) == Signals(0.95)
            assert set(hand.store.ageing_states.find_due(LOCAL, NOON)) == {used.id, ignored.id}
            assert hand.store.ageing_states.last_activity(LOCAL) == NOON + DAY
            assert hand.store.check() == []
    with opened(tmp_path) as hand:
        hand.store.ageing_states.put({used.id: AgeingState(1), ignored.id: AgeingState(1)})
        assert hand.store.ageing_states.find_due(LOCAL, NOON) == []
        hand.store.ledger.set_signals(used.id, Signals(1.3, 5, NOON + DAY))
        assert hand.store.ageing_states.find_due(LOCAL, NOON) == [used.id]


def test_a_journal_of_the_format_before_learns_to_erase(tmp_path: Path) -> None:
    with opened(tmp_path) as hand:
        kept = hand.add("tea is ready")
    db = apsw.Connection(str(tmp_path / "history.db"))
    forget_lives(db)
    for table in ("fingerprints", "erased", "retold", "erasing"):
        db.execute(f"DROP TABLE {table}")
    db.execute("DROP INDEX heads_that_end")
    db.pragma("user_version", 3)
    db.close()
    with opened(tmp_path) as hand:
        assert hand.read() == [kept]
        assert not hand.store.fingerprints.has_any()
        assert hand.store.check() == []


def test_a_key_leaves_no_words_in_the_journal_and_is_known_again(tmp_path: Path) -> None:
    with opened(tmp_path) as hand:
        hand.commit(hand.new_atom(), key="ann lives in porto")
        assert hand.store.has_key(LOCAL, "ann lives in porto")
        assert not hand.store.has_key(ANN, "ann lives in porto")
        assert hand.commit(hand.new_atom(), key="ann lives in porto").is_repeat
    assert b"porto" not in (tmp_path / "history.db").read_bytes()
