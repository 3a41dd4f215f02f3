"""Count the modules and functions of lamina that one capture and one recall run through.

A capture of eight words (with extraction) and a recall run in a temporary vault, after others have loaded the models.
What was captured is encoded in between, as the background worker does.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

import lamina

ROOT = Path(lamina.__file__).parent
WARM_UP = "Our old garden had seven very tall trees."
TURN = "Ann moved the office to Galway in March."
QUESTION = "Where is the office?"

Calls = defaultdict[str, set[str]]


def main() -> None:
    """Trace both paths and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print every function that was called, by module")
    parser.add_argument("--cold", action="store_true", help="trace the first capture and recall, which load the models")
    options = parser.parse_args()
    with TemporaryDirectory() as folder, lamina.open(folder, watch=False, background=False) as memory:
        if not options.cold:
            memory.capture([{"speaker": "Ann", "content": WARM_UP}], session_id="warm-up", wait=True)
            memory.recall(WARM_UP)
        paths: dict[str, Callable[[], object]] = {
            "capture": lambda: memory.capture([{"speaker": "Ann", "content": TURN}], session_id="traced", wait=True),
            "recall": lambda: memory.recall(QUESTION),
        }
        for name, run in paths.items():
            memory.embed()
            with trace_calls() as calls:
                run()
            sys.stdout.write(f"{name}: {len(calls)} modules, {sum(map(len, calls.values()))} functions\n")
            for module in sorted(calls) if options.list else ():
                sys.stdout.write(f"  {module}: {', '.join(sorted(calls[module]))}\n")


@contextmanager
def trace_calls() -> Iterator[Calls]:
    """Yield the functions of lamina that are called inside the block, by module, in this thread and in new ones."""
    calls: Calls = defaultdict(set)

    def record(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(ROOT)) and not code.co_name.startswith("<"):
            calls[Path(code.co_filename).relative_to(ROOT).as_posix()].add(code.co_qualname)

    threading.setprofile(record)
    sys.setprofile(record)
    try:
        yield calls
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


if __name__ == "__main__":
    main()
