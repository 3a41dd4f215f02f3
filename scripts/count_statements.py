"""Count the round trips to the databases of one recall and of one captured turn, and the calls of the store's ports.

A statement that is executed for many rows in a row counts once, as a batch. A port call is one method of the store that
other packages call: on a database server it is one round trip or a few.

A capture is acknowledged when its commit is durable. What follows (projection, index) is counted apart.

python scripts/count_statements.py            # the totals
python scripts/count_statements.py --list     # and every statement with its count
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

os.environ.setdefault("LAMINA_EMBEDDER", "light")

import lamina
from lamina.store.sqlite.database import Database
from lamina.store.sqlite.recalls_and_usage import ScratchDb

PACKAGE = Path(lamina.__file__).parent
BACKEND = PACKAGE / "store" / "sqlite"
TURNS = [
    "I moved to Lisbon in March and work for a small bakery.",
    "My sister Ann plays the cello in Porto.",
    "We painted the kitchen yellow last week.",
    "The oven of the bakery broke, so we bake at night.",
    "I prefer tea without sugar in the morning.",
    "Ann will visit us on 3 December.",
]
COMMIT = "SqliteJournal.append"
"""The call that acknowledges a write."""
QUESTION = "Where does my sister live?"


@contextmanager
def count_statements(memory: lamina.Memory) -> Iterator[Counter[tuple[str, str]]]:
    """Count every statement that the memory's databases execute inside the block."""
    counts: Counter[tuple[str, str]] = Counter()
    last = [""]
    databases = list(_databases(memory))
    for database in databases:

        def trace(cursor: object, sql: str, values: object, name: str = database.path.name) -> bool:
            is_batch = sql == last[0] and sql.startswith(("INSERT", "UPDATE", "DELETE"))
            counts[name, " ".join(sql.split())] += not is_batch
            last[0] = sql
            return True

        database.connection.exec_trace = trace
    try:
        yield counts
    finally:
        for database in databases:
            database.connection.exec_trace = None


@contextmanager
def count_port_calls(on_commit: Callable[[Counter[str]], None] = lambda calls: None) -> Iterator[Counter[str]]:
    """Count the calls that other packages make to the store inside the block; `on_commit` is told each commit's end."""
    calls: Counter[str] = Counter()

    def record(frame: FrameType, event: str, _: object) -> None:
        caller = frame.f_back.f_code.co_filename if frame.f_back else ""
        is_port = frame.f_code.co_filename.startswith(str(BACKEND)) and not caller.startswith(str(BACKEND.parent))
        if event == "call" and is_port and caller.startswith(str(PACKAGE)) and "<" not in frame.f_code.co_qualname:
            calls[frame.f_code.co_qualname] += 1
        if event == "return" and frame.f_code.co_qualname == COMMIT:
            on_commit(calls)

    sys.setprofile(record)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def _databases(memory: lamina.Memory) -> Iterator[Database]:
    store = memory.engine.store
    yield store.history.db
    yield store.current_index.index.db
    scratch: tuple[ScratchDb, ...] = (store.admin.recalls.file, store.admin.usage.file)
    for file in scratch:
        if file.exists():
            yield file.db


def main() -> None:
    """Fill a store, then count one recall and one capture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print every statement with its count")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, lamina.open(Path(folder), watch=False, background=False) as memory:
        for n, turn in enumerate(TURNS):
            memory.capture([{"role": "user", "content": turn}], session_id=f"s{n // 3}")
        memory.embed()
        memory.recall(QUESTION)
        with count_statements(memory) as counts, count_port_calls() as calls:
            memory.recall("What does Ann play?")
        _report("recall", counts, calls, with_list=options.list)
        acknowledged: list[tuple[Counter[tuple[str, str]], Counter[str]]] = []
        with (
            count_statements(memory) as counts,
            count_port_calls(lambda made: acknowledged.append((Counter(counts), Counter(made)))) as calls,
        ):
            memory.capture([{"role": "user", "content": "Ann sold the old cello."}], session_id="s1")
        statements, made = acknowledged[0]
        _report("capture until it is acknowledged", statements, made, with_list=options.list)
        _report("capture afterwards", counts - statements, calls - made, with_list=options.list)


def _report(name: str, counts: Counter[tuple[str, str]], calls: Counter[str], *, with_list: bool) -> None:
    lines = [f"{name}: {counts.total()} round trips, {calls.total()} port calls"]
    if with_list:
        ordered = sorted(counts.items(), key=lambda item: (item[0][0], -item[1]))
        lines += [f"  {count:3} {database:10} {sql[:150]}" for (database, sql), count in ordered]
        lines += [f"  {count:3} port call  {method}" for method, count in calls.most_common()]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
