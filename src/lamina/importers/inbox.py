"""The inbox: a file dropped there is read, its words are kept, and it is put away. What cannot be read stays.

A file that holds secrets is never put away as it is. Of a text a copy without them is kept in its stead; any other file
stays where it lies, and the person is told to take it out of the vault.
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
"""Of the problems with files that stay in an inbox."""
MOMENT = 0.4
"""Seconds a file must have stood still before it is read."""
LARGEST_TEXT = 20 << 20
"""Bytes of a text of which a copy without secrets is made."""

_TEMPORARY = re.compile(
    r"~\$.*|.*~|#.*#|.*\.(?:tmp|temp|part|partial|filepart|crdownload|opdownload|download|swp|swx|lock|lck)"
    r"|thumbs\.db|desktop\.ini|icon\r",
    re.IGNORECASE,
)
_UNFIT = re.compile(r"[\[\]:\\/\x00-\x1f\x7f]+")
_LONGEST_STEM = 180


@dataclass(frozen=True, slots=True)
class Taken:
    """The files that were taken in and put away; `later`: there are some that nobody could look at yet."""

    paths: tuple[str, ...] = ()
    later: bool = False


class Inbox:
    """The inboxes of some scopes; safe in many processes at once."""

    def __init__(self, disk: Disk, ledger: Ledger, scopes: Sequence[Scope], desk: Callable[[Scope], Desk]) -> None:
        self._disk, self._ledger, self._scopes, self._desk = disk, ledger, tuple(scopes), desk
        self._seen: dict[str, tuple[Stamp, float]] = {}

    def take(
        self,
        *,
        again: bool = False,
        patience: float = 0.0,
        stop: Callable[[], bool] = lambda: False,
        progress: Progress | None = None,
    ) -> Taken:
        """Take in what lies there. `again`: also what could not be read before and has not changed since.

        With `patience` a file that was saved a moment ago is waited for, and so is another program that is at it.
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
        taken, later = list[str](), False
        for scope, path, stamp in self._due(again):
            if stop():
                return Taken(tuple(taken), later=True)
            if not self._stands_still(path, stamp):
                later = True
            elif self._take_one(scope, path, stamp, progress):
                taken.append(path)
                self._seen.pop(path, None)
        return Taken(tuple(taken), later)

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
        moving = [path for _, path, stamp in self._files() if not self._stands_still(path, stamp)]
        return bool(moving)

    def _stands_still(self, path: str, stamp: Stamp) -> bool:
        """Whether nobody has written for a moment: by the disk's clock or, where that is wrong, by looking twice."""
        if 0 <= MOMENT * 1e9 <= disk_time_ns() - stamp.ctime_ns:
            return True
        before, since = self._seen.get(path, (None, 0.0))
        if before != stamp:
            self._seen[path] = stamp, time.monotonic()
            return False
        return time.monotonic() - since >= MOMENT

    def _take_one(self, scope: Scope, path: str, stamp: Stamp, progress: Progress | None) -> bool:
        """Keep the words of one file and put it away; if this is broken off, the words are known the next time."""
        desk, tally = self._desk(scope), Tally()
        try:
            plan = plan_import(self._disk.root / path)
            told = bring(plan, desk, progress, tally)
            if self._disk.stamp(path) != stamp:
                return False
            if told.problem_count:
                return self._stays(path, stamp, told.problems[0].reason)
            secrets = _secrets_in(plan, desk) if tally.known else tally.secrets_in_words
            return self._put_away(scope, path, stamp, secrets, desk)
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
        """Names under which the file may be kept, its own first."""
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
        """Write a copy, unless another stands there; one of the same words is left by a crash and will do."""
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
        """A file that somebody took out of the inbox is no problem any more."""
        for problem in self._ledger.problems():
            own = problem.kind == KIND and layout.scope_of(problem.path) in self._scopes
            if own and self._disk.stamp(problem.path) is None:
                self._ledger.forget_file(problem.path)
                self._ledger.clear(problem.path, [KIND])


_HOLDS_SECRETS = (
    "its words are kept without their secrets, but the file itself holds them, so it is not put away; "
    "move it out of the vault or delete it"
)


def _secrets_in(plan: ImportPlan, desk: Desk) -> int:
    """How many secrets stand in the words of a file, known or not."""
    items = (step for step in plan.importer.steps() if isinstance(step, ImportedConversation | ImportedDocument))
    return sum(secrets_in_words(item, said_in(item, desk), personal=desk.personal) for item in items)


def _text_of(file: Path, stamp: Stamp) -> str | None:
    """The text of a file; None where it is none."""
    if stamp.size > LARGEST_TEXT:
        return None
    try:
        return decode(file.read_bytes())
    except ValueError:
        return None


def _holds_secrets(path: str, text: str, personal: bool) -> bool:
    """Whether a reader of this text would still find a secret: marks and escapes may hide one from whoever does not
    know the format."""
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
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            waiting += [*each.keys(), *each.values()]
        elif isinstance(each, list):
            waiting += each
