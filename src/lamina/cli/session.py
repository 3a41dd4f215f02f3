"""One run of a command: the vault it is about, opened when it is first needed and closed at the end."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

from lamina.cli.output import Output
from lamina.cli.vault_choice import Choice
from lamina.models.errors import ModelError

if TYPE_CHECKING:
    from lamina.memory import Memory


class Session:
    """What a command works with."""

    def __init__(
        self,
        choice: Choice,
        output: Output,
        *,
        scope: str | None = None,
        dry_run: bool = False,
        may_make: bool = False,
        quiet: bool = False,
    ) -> None:
        self.choice, self.output, self.scope, self.dry_run = choice, output, scope, dry_run
        self._may_make, self._quiet = may_make and not dry_run, quiet
        self._memory: Memory | None = None

    @property
    def memory(self) -> Memory:
        """The opened vault. Made on the way only by a command that may, which then says so."""
        if self._memory is None:
            self._memory = self._open()
        return self._memory

    def watched(self) -> Memory:
        """The vault opened to stay open: saved files are noticed while it is."""
        if self._memory is None:
            self._memory = self._open(watch=None)
        return self._memory

    @contextmanager
    def changing(self) -> Iterator[Memory]:
        """The opened vault for a change; in a dry run the change is worked out and taken back."""
        if not self.dry_run:
            yield self.memory
            return
        with self.memory.trial():
            yield self.memory

    def say_once(self, name: str, text: str) -> None:
        """A note that a vault's owner needs to read once."""
        told = self.memory.state / f"told-{name}"
        if text and not told.exists():
            self.output.note(text)
            told.touch()

    def encode(self) -> None:
        """Encode what came in, with a bar on standard error, so that the next recall need not wait for it.

        What came in is safe whether or not a model can be had, so that is a note and no error.
        """
        from lamina.cli.progress import Bar

        if self.dry_run:
            return
        try:
            with Bar() as bar:
                self.memory.embed(bar)
        except ModelError as error:
            self.output.note(f"the words are kept, but not encoded yet: {error}")

    def shell(self, *words: str) -> str:
        """A command a person can type to go on with this vault and scope."""
        scope = ("--scope", self.scope) if self.scope else ()
        return shlex.join(["lamina", *words, *self.choice.as_option(), *scope])

    def close(self) -> None:
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self, *, watch: bool | None = False) -> Memory:
        from lamina.cli.progress import Bar
        from lamina.memory import Memory

        folder = self.choice.folder if self._may_make else self.choice.needed()
        with Bar() as bar:
            memory = Memory(folder, self.scope, watch=watch, background=False, progress=bar)
        if memory.created and not self._quiet:
            self.output.note(f"made a vault in {folder}")
        return memory
