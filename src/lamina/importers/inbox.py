"""Import files that are dropped into an inbox: capture their text and archive them; a file that cannot be read stays.

A file that contains secrets is never archived unchanged. Of a text file a redacted copy is archived instead; any other
file stays in the inbox, and a problem tells the user to move it out of the vault.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from lamina.atom.scope import Scope
from lamina.capture.redact import redact
from lamina.clock import disk_time_ns
from lamina.errors import InvalidInput, NotFound, StoreBusy
from lamina.importers.bring import Desk, Progress, Tally, bring, said_in, secrets_in_words
from lamina.importers.documents.decode import decode
from lamina.importers.documents.html import html_words
from lamina.importers.item import ImportedConversation, ImportedDocument
from lamina.importers.plan import ImportPlan, plan_import
from lamina.store.ledger import FileState, Ledger, Problem
from lamina.sync.sight import changed
from lamina.vault import layout
from lamina.vault.files import Disk, Stamp

KIND = "inbox"
"""Kind of the problems that are reported about files in an inbox."""
MOMENT = 0.4
"""Seconds that a file must be unchanged before it is read."""
LARGEST_TEXT = 20 << 20
"""Bytes of the largest text of which a redacted copy is made."""

_TEMPORARY = re.compile(
    r"~\$.*|.*~|#.*#|.*\.(?:tmp|temp|part|partial|filepart|crdownload|opdownload|download|swp|swx|lock|lck)"
    r"|thumbs\.db|desktop\.ini|icon\r",
    re.IGNORECASE,
)
_UNFIT = re.compile(r"[\[\]:\\/\x00-\x1f\x7f]+")
_LONGEST_STEM = 180


@dataclass(frozen=True, slots=True)
class Taken:
    """The files that were imported and archived; `is_unfinished` if some could not be processed yet."""

    paths: tuple[str, ...] = ()
    later: bool = False


class Inbox:
    """The inboxes of some scopes; safe to use from many processes."""

    def __init__(self, disk: Disk, ledger: Ledger, scopes: Sequence[Scope], desk: Callable[[Scope], Desk]) -> None:
        self._disk, self._ledger, self._scopes, self._target_for = disk, ledger, tuple(scopes), desk
        self._last_stamps: dict[str, tuple[Stamp, float]] = {}

    def take(
        self,
        *,
        again: bool = False,
        patience: float = 0.0,
        stop: Callable[[], bool] = lambda: False,
        progress: Progress | None = None,
    ) -> Taken:
        """Import the files in the inboxes. `retry_failed`: also unchanged files that could not be read before.

        For up to `wait_seconds`, wait for a file that was saved a moment ago and for another process that has the lock.
        """
        if not self._due(again):
            self._forget_gone()
            return Taken()
        if patience and self._stirring():
            time.sleep(min(patience, MOMENT))
        try:
            with self._disk.lock("inbox", patience):
                return self._take(again, stop, progress)
        except StoreBusy:
            return Taken(later=True)

    def _take(self, again: bool, stop: Callable[[], bool], progress: Progress | None) -> Taken:
        self._forget_gone()
        imported, is_unfinished = list[str](), False
        for scope, path, stamp in self._due(again):
            if stop():
                return Taken(tuple(imported), later=True)
            if not self._stands_still(path, stamp):
                is_unfinished = True
            elif self._take_one(scope, path, stamp, progress):
                imported.append(path)
                self._last_stamps.pop(path, None)
        return Taken(tuple(imported), is_unfinished)

    def _due(self, again: bool) -> list[tuple[Scope, str, Stamp]]:
        return [file for file in self._files() if again or not self._is_known(file[1], file[2])]

    def _files(self) -> Iterator[tuple[Scope, str, Stamp]]:
        for scope in self._scopes:
            for path, stamp in self._disk.files_in(layout.inbox_of(scope)):
                if stamp.size and not _TEMPORARY.fullmatch(path.rpartition("/")[2]):
                    yield scope, path, stamp

    def _is_known(self, path: str, stamp: Stamp) -> bool:
        line = self._ledger.line(path)
        return line is not None and not changed(line, stamp)

    def _stirring(self) -> bool:
        unsettled = [path for _, path, stamp in self._files() if not self._stands_still(path, stamp)]
        return bool(unsettled)

    def _stands_still(self, path: str, stamp: Stamp) -> bool:
        """Return whether a file was unchanged for a moment: by the disk's clock or, if that is wrong, by checking
        twice.
        """
        if 0 <= MOMENT * 1e9 <= disk_time_ns() - stamp.ctime_ns:
            return True
        before, since = self._last_stamps.get(path, (None, 0.0))
        if before != stamp:
            self._last_stamps[path] = stamp, time.monotonic()
            return False
        return time.monotonic() - since >= MOMENT

    def _take_one(self, scope: Scope, path: str, stamp: Stamp, progress: Progress | None) -> bool:
        """Capture the text of one file and archive it; if this is interrupted, the next run recognises the text."""
        import_target, tally = self._target_for(scope), Tally()
        try:
            plan = plan_import(self._disk.root / path)
            report = bring(plan, import_target, progress, tally)
            if self._disk.stamp(path) != stamp:
                return False
            if report.problem_count:
                return self._stays(path, stamp, report.problems[0].reason)
            secrets = _secrets_in(plan, import_target) if tally.known else tally.secrets_in_words
            return self._put_away(scope, path, stamp, secrets, import_target)
        except NotFound:
            return False
        except (InvalidInput, OSError) as error:
            return self._stays(path, stamp, str(error))

    def _put_away(self, scope: Scope, path: str, stamp: Stamp, secrets: int, desk: Desk) -> bool:
        text = _text_of(self._disk.root / path, stamp)
        clean = redact(text, personal=desk.personal) if text is not None else None
        if clean is None or not (secrets or clean.found):
            if secrets:
                return self._stays(path, stamp, _HOLDS_SECRETS)
            target = next(place for place in self._places(scope, path, desk) if self._moved(path, place))
        elif _holds_secrets(path, clean.text, desk.personal):
            return self._stays(path, stamp, _HOLDS_SECRETS)
        else:
            data = clean.text.encode()
            target = next(place for place in self._places(scope, path, desk) if self._copied(data, place))
            if not self._disk.remove(path, stamp):
                return False
        self._ledger.forget_file(path)
        self._ledger.clear(path)
        self._disk.remove_empty_dirs(path, keep=layout.inbox_of(scope).count("/"))
        return bool(target)

    def _places(self, scope: Scope, path: str, desk: Desk) -> Iterator[str]:
        """Yield paths under which the file may be archived, its own name first."""
        name = PurePosixPath(_UNFIT.sub("-", redact(PurePosixPath(path).name, personal=desk.personal).text).lstrip("."))
        stem = name.stem.encode()[:_LONGEST_STEM].decode(errors="ignore") or "file"
        suffix = name.suffix if len(name.suffix) < 20 else ""
        day = desk.now().date()
        yield layout.original_for(scope, day, stem + suffix)
        for n in range(2, 1_000_000):
            yield layout.original_for(scope, day, f"{stem}-{n}{suffix}")

    def _moved(self, path: str, target: str) -> bool:
        try:
            self._disk.put_away(path, target)
        except FileExistsError:
            return False
        return True

    def _copied(self, data: bytes, target: str) -> bool:
        """Write a copy unless the path is taken; an equal file there was left by a crash and counts as written."""
        try:
            self._disk.put_copy(target, data)
        except FileExistsError:
            with suppress(InvalidInput, FileNotFoundError):
                return self._disk.read(target)[0] == data
            return False
        return True

    def _stays(self, path: str, stamp: Stamp, reason: str) -> bool:
        self._ledger.saw(path, b"", stamp, disk_time_ns(), None, FileState.BAD)
        self._ledger.report(Problem(path, KIND, redact(reason).text))
        return False

    def _forget_gone(self) -> None:
        """Clear the problems of files that were removed from the inbox."""
        for problem in self._ledger.problems():
            is_inbox_problem = problem.kind == KIND and layout.scope_of(problem.path) in self._scopes
            if is_inbox_problem and self._disk.stamp(problem.path) is None:
                self._ledger.forget_file(problem.path)
                self._ledger.clear(problem.path, [KIND])


_HOLDS_SECRETS = (
    "its text was stored without its secrets, but the file itself contains them, so it was not archived; "
    "move it out of the vault or delete it"
)


def _secrets_in(plan: ImportPlan, desk: Desk) -> int:
    """Return how many secrets the text of a file contains, imported before or not."""
    items = (step for step in plan.importer.steps() if isinstance(step, ImportedConversation | ImportedDocument))
    return sum(secrets_in_words(item, said_in(item, desk), personal=desk.personal) for item in items)


def _text_of(file: Path, stamp: Stamp) -> str | None:
    """Return the text of a file; None if it is not text or too large."""
    if stamp.size > LARGEST_TEXT:
        return None
    try:
        return decode(file.read_bytes())
    except ValueError:
        return None


def _holds_secrets(path: str, text: str, personal: bool) -> bool:
    """Return whether a redacted text still shows a secret once its HTML or JSON escapes are decoded."""
    suffix = path.rpartition(".")[2].lower()
    words = text
    if suffix in ("html", "htm", "xhtml"):
        words = html_words(text)[1]
    elif suffix == "json":
        try:
            words = "\n\n".join(_strings(json.loads(text)))
        except (ValueError, RecursionError):
            return True
    return bool(redact(words, personal=personal).found)


def _strings(value: Any) -> Iterator[str]:
    stack = [value]
    while stack:
        current = stack.pop()
        if isinstance(current, str):
            yield current
        elif isinstance(current, dict):
            stack += [*current.keys(), *current.values()]
        elif isinstance(current, list):
            stack += current
