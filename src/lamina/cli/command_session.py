"""The session of one command: its vault is opened at first use and closed at the end."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING

from lamina.cli.output import CommandOutput
from lamina.cli.vault_choice import VaultChoice
from lamina.models.errors import ModelError

if TYPE_CHECKING:
    from lamina.memory import Memory


class CommandSession:
    """The vault, the output and the options that a command works with."""

    def __init__(
        self,
        choice: VaultChoice,
        output: CommandOutput,
        *,
        scope: str | None = None,
        dry_run: bool = False,
        may_create: bool = False,
        is_quiet: bool = False,
    ) -> None:
        self.choice, self.output, self.scope, self.dry_run = choice, output, scope, dry_run
        self._may_create, self._is_quiet = may_create and not dry_run, is_quiet
        self._memory: Memory | None = None

    @property
    def memory(self) -> Memory:
        """The opened memory; VaultNotFound unless the command may create a vault."""
        if self._memory is None:
            self._memory = self._open()
        return self._memory

    def open_watched(self) -> Memory:
        """Open the memory for a long time, with a watcher for saved files."""
        if self._memory is None:
            self._memory = self._open(watch=None)
        return self._memory

    @contextmanager
    def open_for_change(self) -> Iterator[Memory]:
        """Yield the memory for a change; in a dry run the change is rolled back."""
        if not self.dry_run:
            yield self.memory
            return
        opened = self.memory
        with opened.trial() as self._memory:
            try:
                yield self._memory
            finally:
                self._memory = opened

    def note_once(self, name: str, text: str) -> None:
        """Print a note once for each vault."""
        marker = self.memory.engine.state / f"told-{name}"
        if text and not marker.exists():
            self.output.print_note(text)
            with suppress(OSError):  # on a read-only disk it is printed again
                marker.touch()

    def embed_pending(self) -> None:
        """Compute missing vectors now, with a progress bar, so that the next recall does not wait for them.

        A missing model is only a note, because the captured words are stored already.
        """
        from lamina.cli.progress import ProgressBar

        if self.dry_run:
            return
        try:
            with ProgressBar() as bar:
                self.memory.embed(bar)
        except ModelError as error:
            self.output.print_note(f"the words are stored, but have no vectors yet: {error}")

    def format_command(self, *arguments: str) -> str:
        """Return a command line that continues with this vault and scope."""
        scope = ("--scope", self.scope) if self.scope else ()
        return shlex.join(["lamina", *arguments, *self.choice.as_option(), *scope])

    def close(self) -> None:
        """Close the memory if it was opened."""
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def __enter__(self) -> CommandSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self, *, watch: bool | None = False) -> Memory:
        from lamina.cli.progress import ProgressBar
        from lamina.memory import open_memory

        folder = self.choice.folder if self._may_create else self.choice.require_folder()
        with ProgressBar() as bar:
            memory = open_memory(folder, self.scope, watch=watch, background=False, progress=bar)
        if memory.engine.created and not self._is_quiet:
            self.output.print_note(f"created a vault in {folder}")
        return memory
