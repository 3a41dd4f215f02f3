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

from lamina.atom.provenance import Scope
from lamina.capture.redact import redact
from lamina.clock import disk_time_ns
from lamina.errors import InvalidInput, NotFound, StoreBusy
from lamina.importers.documents.html_text import html_to_markdown
from lamina.importers.documents.regular_file import describe_irregular, read_regular_file
from lamina.importers.documents.text_decoding import decode_text
from lamina.importers.import_items import ImportedConversation, ImportedDocument
from lamina.importers.import_plan import ImportPlan, plan_import
from lamina.importers.import_writer import (
    ImportTally,
    ImportTarget,
    Progress,
    build_conversation,
    count_secrets_in_text,
    run_import,
)
from lamina.importers.note_folder import list_folder
from lamina.store.admin import FileProblem
from lamina.store.base import Store
from lamina.store.projection import FileDeleted, FileRead, FileState
from lamina.sync.disk_diff import has_changed
from lamina.vault import layout
from lamina.vault.disk import Disk
from lamina.vault.file_access import Stamp

PROBLEM_KIND = "inbox"
"""Kind of the problems that are reported about files in an inbox."""
QUIET_SECONDS = 0.4
"""Seconds that a file must be unchanged before it is read."""
MAX_TEXT_BYTES = 20 << 20
"""Bytes of the largest text of which a redacted copy is made."""

_TEMPORARY_NAME = re.compile(
    r"~\$.*|.*~|#.*#|.*\.(?:tmp|temp|part|partial|filepart|crdownload|opdownload|download|swp|swx|lock|lck)"
    r"|thumbs\.db|desktop\.ini|icon\r",
    re.IGNORECASE,
)
_UNSAFE_CHARACTERS = re.compile(r"[\[\]:\\/\x00-\x1f\x7f]+")
_MAX_STEM_BYTES = 180


@dataclass(frozen=True, slots=True)
class InboxResult:
    """The files that were imported and archived; `is_unfinished` if some could not be processed yet."""

    paths: tuple[str, ...] = ()
    is_unfinished: bool = False


class Inbox:
    """The inboxes of some scopes; safe to use from many processes."""

    def __init__(
        self, disk: Disk, store: Store, scopes: Sequence[Scope], target_for: Callable[[Scope], ImportTarget]
    ) -> None:
        self._disk, self._ledger, self._problems = disk, store.projection, store.admin.problems
        self._scopes, self._target_for = tuple(scopes), target_for
        self._last_stamps: dict[str, tuple[Stamp, float]] = {}

    def process(
        self,
        *,
        retry_failed: bool = False,
        wait_seconds: float = 0.0,
        should_stop: Callable[[], bool] = lambda: False,
        progress: Progress | None = None,
    ) -> InboxResult:
        """Import the files in the inboxes. `retry_failed`: also unchanged files that could not be read before.

        For up to `wait_seconds`, wait for a file that was saved a moment ago and for another process that has the lock.
        """
        self._report_irregular_files()
        if not self._due_files(retry_failed):
            self._clear_removed()
            return InboxResult()
        if wait_seconds and self._has_unsettled_files():
            time.sleep(min(wait_seconds, QUIET_SECONDS))
        try:
            with self._disk.lock("inbox", wait_seconds):
                return self._process(retry_failed, should_stop, progress)
        except StoreBusy:
            return InboxResult(is_unfinished=True)

    def _process(self, retry_failed: bool, should_stop: Callable[[], bool], progress: Progress | None) -> InboxResult:
        self._clear_removed()
        imported, is_unfinished = list[str](), False
        for scope, path, stamp in self._due_files(retry_failed):
            if should_stop():
                return InboxResult(tuple(imported), is_unfinished=True)
            if not self._is_settled(path, stamp):
                is_unfinished = True
            elif self._process_file(scope, path, stamp, progress):
                imported.append(path)
                self._last_stamps.pop(path, None)
        return InboxResult(tuple(imported), is_unfinished)

    def _due_files(self, retry_failed: bool) -> list[tuple[Scope, str, Stamp]]:
        return [file for file in self._files() if retry_failed or not self._is_known(file[1], file[2])]

    def _files(self) -> Iterator[tuple[Scope, str, Stamp]]:
        for scope in self._scopes:
            for path, stamp in self._disk.files_in(layout.inbox_folder(scope)):
                if stamp.size and not _TEMPORARY_NAME.fullmatch(path.rpartition("/")[2]):
                    yield scope, path, stamp

    def _is_known(self, path: str, stamp: Stamp) -> bool:
        record = self._ledger.read(paths=[path]).at(path)
        return record is not None and not has_changed(record.entry, stamp)

    def _has_unsettled_files(self) -> bool:
        unsettled = [path for _, path, stamp in self._files() if not self._is_settled(path, stamp)]
        return bool(unsettled)

    def _is_settled(self, path: str, stamp: Stamp) -> bool:
        """Return whether a file was unchanged for a moment: by the disk's clock or, if that is wrong, by checking
        twice.
        """
        if 0 <= QUIET_SECONDS * 1e9 <= disk_time_ns() - stamp.ctime_ns:
            return True
        before, since = self._last_stamps.get(path, (None, 0.0))
        if before != stamp:
            self._last_stamps[path] = stamp, time.monotonic()
            return False
        return time.monotonic() - since >= QUIET_SECONDS

    def _process_file(self, scope: Scope, path: str, stamp: Stamp, progress: Progress | None) -> bool:
        """Capture the text of one file and archive it; if this is interrupted, the next run recognises the text."""
        import_target, tally = self._target_for(scope), ImportTally()
        try:
            plan = plan_import(self._disk.root / path)
            report = run_import(plan, import_target, progress, tally)
            if self._disk.stamp(path) != stamp:
                return False
            if report.problem_count:
                return self._leave_with_problem(path, stamp, report.problems[0].reason)
            secrets = _count_secrets(plan, import_target) if tally.known_count else tally.secrets_in_text
            return self._archive_file(scope, path, stamp, secrets, import_target)
        except NotFound:
            return False
        except (InvalidInput, OSError) as error:
            return self._leave_with_problem(path, stamp, str(error))

    def _archive_file(self, scope: Scope, path: str, stamp: Stamp, secrets: int, import_target: ImportTarget) -> bool:
        text = _read_text(self._disk.root / path, stamp)
        clean = redact(text, personal=import_target.personal) if text is not None else None
        if clean is None or not (secrets or clean.secrets):
            if secrets:
                return self._leave_with_problem(path, stamp, _SECRETS_REASON)
            target = next(
                place for place in self._archive_paths(scope, path, import_target) if self._try_move(path, place)
            )
        elif _still_has_secrets(path, clean.text, import_target.personal):
            return self._leave_with_problem(path, stamp, _SECRETS_REASON)
        else:
            data = clean.text.encode()
            target = next(
                place for place in self._archive_paths(scope, path, import_target) if self._try_copy(data, place)
            )
            if not self._disk.remove(path, stamp):
                return False
        self._ledger.record([FileDeleted(path)], disk_time_ns())
        self._problems.clear(path)
        self._disk.remove_empty_dirs(path, keep=layout.inbox_folder(scope).count("/"))
        return bool(target)

    def _archive_paths(self, scope: Scope, path: str, target: ImportTarget) -> Iterator[str]:
        """Yield paths under which the file may be archived, its own name first."""
        name = PurePosixPath(
            _UNSAFE_CHARACTERS.sub("-", redact(PurePosixPath(path).name, personal=target.personal).text).lstrip(".")
        )
        stem = name.stem.encode()[:_MAX_STEM_BYTES].decode(errors="ignore") or "file"
        suffix = name.suffix if len(name.suffix) < 20 else ""
        day = target.now().date()
        yield layout.original_path(scope, day, stem + suffix)
        for n in range(2, 1_000_000):
            yield layout.original_path(scope, day, f"{stem}-{n}{suffix}")

    def _try_move(self, path: str, destination: str) -> bool:
        try:
            self._disk.move_durably(path, destination)
        except FileExistsError:
            return False
        return True

    def _try_copy(self, data: bytes, destination: str) -> bool:
        """Write a copy unless the path is taken; an equal file there was left by a crash and counts as written."""
        try:
            self._disk.create_durably(destination, data)
        except FileExistsError:
            with suppress(InvalidInput, FileNotFoundError):
                return self._disk.read(destination)[0] == data
            return False
        return True

    def _leave_with_problem(self, path: str, stamp: Stamp, reason: str) -> bool:
        self._ledger.record([FileRead(path, b"", stamp, None, FileState.BAD)], disk_time_ns())
        self._problems.report(FileProblem(path, PROBLEM_KIND, redact(reason).text))
        return False

    def _clear_removed(self) -> None:
        """Clear the problems of files that were removed from the inbox."""
        for problem in self._problems.list():
            is_inbox_problem = problem.kind == PROBLEM_KIND and layout.scope_of_path(problem.path) in self._scopes
            if not is_inbox_problem or self._disk.stamp(problem.path) is not None:
                continue
            if not describe_irregular(self._disk.root / problem.path):
                self._ledger.record([FileDeleted(problem.path)], disk_time_ns())
                self._problems.clear(problem.path, [PROBLEM_KIND])

    def _report_irregular_files(self) -> None:
        """Report links, pipes, sockets and devices in the inboxes, once each; nothing opens them."""
        known = {problem.path for problem in self._problems.list()}
        for folder in map(layout.inbox_folder, self._scopes):
            for item in list_folder(self._disk.root / folder).skipped:
                if f"{folder}{item.path}" not in known:
                    message = f"it is {item.reason}; put the file itself here"
                    self._problems.report(FileProblem(f"{folder}{item.path}", PROBLEM_KIND, message))


_SECRETS_REASON = (
    "its text was stored without its secrets, but the file itself contains them, so it was not archived; "
    "move it out of the vault or delete it"
)


def _count_secrets(plan: ImportPlan, target: ImportTarget) -> int:
    """Return how many secrets the text of a file contains, imported before or not."""
    items = (step for step in plan.importer.steps() if isinstance(step, ImportedConversation | ImportedDocument))
    return sum(
        count_secrets_in_text(item, build_conversation(item, target), personal=target.personal) for item in items
    )


def _read_text(file: Path, stamp: Stamp) -> str | None:
    """Return the text of a file; None if it is not text or too large."""
    if stamp.size > MAX_TEXT_BYTES:
        return None
    try:
        return decode_text(read_regular_file(file, MAX_TEXT_BYTES))
    except ValueError:
        return None


def _still_has_secrets(path: str, text: str, personal: bool) -> bool:
    """Return whether a redacted text still shows a secret once its HTML or JSON escapes are decoded."""
    suffix = path.rpartition(".")[2].lower()
    words = text
    if suffix in ("html", "htm", "xhtml"):
        words = html_to_markdown(text)[1]
    elif suffix == "json":
        try:
            words = "\n\n".join(_iter_strings(json.loads(text)))
        except (ValueError, RecursionError):
            return True
    return bool(redact(words, personal=personal).secrets)


def _iter_strings(value: Any) -> Iterator[str]:
    stack = [value]
    while stack:
        current = stack.pop()
        if isinstance(current, str):
            yield current
        elif isinstance(current, dict):
            stack += [*current.keys(), *current.values()]
        elif isinstance(current, list):
            stack += current
