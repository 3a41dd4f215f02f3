"""A day on which every public verb is used, with words in every field that stand nowhere else, and much goes wrong."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import lamina
from canaries import Canaries
from lamina import LaminaError, Memory, Settings
from lamina.atom.kinds import MemoryType
from lamina.atom.status import Status
from lamina.daemon import Daemon, DaemonEvent
from lamina.store.base import TextQuery
from lamina.store.passages import PassageFilter
from lamina.vault.disk import Disk, SwapResult
from lamina.vault.file_access import Stamp


class FullDay:
    """Whoever was told what, and every id that was given out."""

    def __init__(self, root: Path) -> None:
        self.root, self.canaries = root, Canaries(8)
        self.ids: set[str] = set()
        self.kept: list[DaemonEvent] = []
        self.refused: list[str] = []

    def word(self) -> str:
        return self.canaries.new()

    def spend(self) -> None:
        """Everything once as it should be, then with models that throw the words back, and on a disk that refuses."""
        with self._opened() as memory:
            self._verbs(memory)
        with _run_echo_server() as server:
            self._with_models(server)
        with self._opened(disk=_Refusing(self.root / "vault", self.word())) as memory:
            memory.remember(f"The {self.word()} stands in the hall.")
            self.tried(memory.upkeep.sync)
            Daemon(memory, self.kept.append).run_once()

    def tried(self, work: Callable[[], object]) -> None:
        """Do what is refused, and go on."""
        try:
            work()
        except LaminaError as error:
            self.refused.append(type(error).__name__)

    def _opened(self, **options: Any) -> Memory:
        options.setdefault("settings", Settings(embedder="none", background=False))
        return lamina.open(self.root / "vault", watch=False, **options)

    def _verbs(self, memory: Memory) -> None:
        ids = self._written(memory)
        self.ids |= set(ids)
        self._changed(memory, ids)
        self._read(memory, ids)
        self._reviewed(memory)
        self._refusals(memory, ids[0])
        self._upkeep(memory)
        self.ids |= {entry.id for entry in memory.journal()}
        memory.forget(ids[1], self.word())
        memory.erase(ids[2], self.word())

    def _fields(self) -> dict[str, Any]:
        return {
            "kind": "fact",
            "subject": self.word(),
            "attribute": self.word(),
            "value": self.word(),
            "tags": [self.word()],
            "entities": [self.word()],
            "metadata": {self.word(): self.word()},
            "source_id": self.word(),
            "session_id": self.word(),
        }

    def _written(self, memory: Memory) -> list[str]:
        many = memory.remember_many([{"content": f"The {self.word()} is red.", **self._fields()} for _ in range(3)])
        ids = [outcome.atom.id for outcome in many.outcomes]
        one = memory.remember(
            f"My {self.word()} is blue.", reason=self.word(), key=self.word(), private=False, **self._fields()
        )
        turns = [{"speaker": self.word(), "content": f"I moved to {self.word()} and my bank is {self.word()}."}]
        memory.capture(turns, session_id=self.word(), source_id=self.word(), wait=True)
        memory.capture(
            f"# {self.word()}\n\nThe doctor is {self.word()}.\n", name=f"{self.word()}.md", origin="document"
        )
        memory.capture_codebase(self._codebase(), self.word())
        memory.import_(self._notes())
        memory.run(self.word()).note(f"The {self.word()} is wet.")
        memory.block(self.word()).add("user", f"The {self.word()} is dry.")
        memory.read_waiting()
        return [*ids, one.atom.id]

    def _changed(self, memory: Memory, ids: list[str]) -> None:
        first, second = ids[:2]
        memory.revise(first, f"The {self.word()} is green.", reason=self.word(), tags=[self.word()])
        for verb in (memory.pin, memory.unpin, memory.upkeep.demote, memory.upkeep.promote):
            self.tried(lambda verb=verb: verb(first))  # type: ignore[misc]
        memory.relate(first, "depends_on", second)
        memory.update_status(second, "challenged", self.word())
        memory.update_status(second, "active", self.word())
        task = memory.remember(f"I will send {self.word()} the letter.", kind="commitment").atom
        memory.resolve(task.id, self.word())
        memory.undo()

    def _read(self, memory: Memory, ids: list[str]) -> None:
        content = memory.get(ids[3]).content
        result = memory.recall(f"What is {self.word()}? {content}")
        assert result.hits
        self.ids.add(result.id)
        memory.feedback(result.id, [result.hits[0].atom.id])
        memory.cite([ids[0]])
        memory.plan_context(self.word())
        memory.beginning(self.word())
        memory.search_text(
            TextQuery(
                filter=PassageFilter(
                    scopes=memory.scopes,
                    statuses=frozenset(Status),
                    memory_types=frozenset(MemoryType),
                    valid_at=memory.now(),
                ),
                tokens=tuple(content.casefold().split()),
                limit=5,
            )
        )
        memory.list(subject=self.word())
        for verb in (memory.get, memory.history, memory.status_history, memory.neighbours, memory.why, memory.standing):
            verb(ids[0])
        memory.top()
        memory.topics()
        memory.upkeep.stats()
        memory.upkeep.backup(tempfile.mkdtemp(dir=memory.root.parent))
        self.tried(lambda: memory.answer(self.word()))

    def _reviewed(self, memory: Memory) -> None:
        review = memory.review
        atoms = [memory.propose(f"The {self.word()} is {n}.", reason=self.word()).atom for n in range(3)]
        review.confirm(atoms[0].id, self.word())
        review.edit(atoms[1].id, f"The {self.word()} is old.", reason=self.word())
        review.reject(atoms[2].id, self.word())
        memory.rollback(atoms[0].id, self.word())
        for decide in (review.approve_source, review.reject_source):
            source = self.word()
            memory.capture(f"My dentist is {self.word()}.", origin="document", source_id=source, wait=True)
            self.tried(lambda decide=decide, source=source: decide(source, self.word()))  # type: ignore[misc]
        for settle in (review.keep_a, review.keep_b, review.both_valid, review.need_more):
            self.tried(lambda settle=settle: settle(atoms[0].id, atoms[1].id, self.word()))  # type: ignore[misc]
        self.tried(lambda: review.merge(atoms[0].id, atoms[1].id, self.word(), reason=self.word()))
        review.compact()
        review.dedup()
        review.list(self.word())
        review.held()
        review.pairs()
        self.tried(lambda: memory.quarantine(source=self.word(), reason=self.word()))

    def _refusals(self, memory: Memory, id: str) -> None:
        agent = self._opened(ceiling="agent")
        with agent:
            self.tried(lambda: agent.erase(id, self.word()))
            self.tried(lambda: agent.revise(id, self.word(), reason=self.word()))
        self.tried(lambda: memory.get(self.word()))
        self.tried(lambda: memory.remember(self.word(), kind=self.word() * 3))
        self.tried(lambda: memory.recall(self.word(), mode=self.word()))
        self.tried(lambda: memory.recall(self.word(), scopes=[self.word()]))
        self.tried(lambda: memory.relate(id, self.word(), id))

    def _upkeep(self, memory: Memory) -> None:
        broken = self.root / "vault" / "atoms" / f"{self.word()}.md"
        broken.write_text(f"---\nsubject: [{self.word()}\n---\n{self.word()}\n")
        memory.upkeep.sync()
        memory.upkeep.doctor(deep=True)
        memory.upkeep.dream()
        memory.embed()
        memory.upkeep.tend()
        memory.upkeep.rebuild()
        with suppress(LaminaError):  # without a state model
            memory.upkeep.reread()
        memory.export(self.root / f"{self.word()}.json")
        Daemon(memory, self.kept.append).run_once()

    def _with_models(self, server: _FlakyModelServer) -> None:
        address = server.address
        settings = Settings(
            embedder="openai:seer",
            embedder_url=address,
            chat="openai:talker",
            chat_url=address,
            reranker="endpoint:judge",
            reranker_url=address,
            background=False,
        )
        with self._opened(settings=settings) as memory:
            memory.capture(f"My neighbour {self.word()} likes {self.word()}.", wait=True)
            memory.embed()
            server.good = False
            memory.recall(f"Who is {self.canaries.made[-2]}?")
            memory.capture(f"My cousin {self.word()} hates {self.word()}.", wait=True)
            self.tried(lambda: memory.answer(f"Who is {self.canaries.made[-2]}?"))
            self.tried(memory.embed)
            memory.upkeep.dream()
            Daemon(memory, self.kept.append).run_once()

        other = Settings(embedder="none", chat="anthropic:teller", chat_url=address, background=False)
        with self._opened(settings=other) as memory:
            self.tried(lambda: memory.answer(f"Who is {self.word()}? {self.canaries.made[-4]}"))

    def _codebase(self) -> Path:
        folder = self.root / self.word()
        folder.mkdir()
        (folder / f"{self.word()}.py").write_text(f"def {self.word()}() -> None:\n    '''{self.word()}'''\n")
        return folder

    def _notes(self) -> Path:
        folder = self.root / self.word()
        folder.mkdir()
        (folder / f"{self.word()}.md").write_text(f"# Note\n\nThe plumber is {self.word()}.\n")
        return folder


class _Refusing(Disk):
    """A disk that fails, and says so in somebody's words."""

    def __init__(self, root: Path, word: str) -> None:
        super().__init__(root)
        self._word = word

    def create(self, path: str, data: bytes) -> Stamp:
        raise OSError(28, f"no room for {self._word}", f"{self._word}.md")

    def exchange(self, path: str, data: bytes) -> SwapResult:
        raise OSError(28, f"no room for {self._word}", f"{self._word}.md")

    def files_in(self, folder: str) -> Iterator[tuple[str, Stamp]]:
        raise PermissionError(13, f"{self._word} is not yours", f"{self._word}.md")


class _FlakyModelServer(ThreadingHTTPServer):
    """A server of models: as long as it is good, texts get vectors; whatever else it is asked, it throws back."""

    good = True

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _EchoHandler(BaseHTTPRequestHandler):
    server: _FlakyModelServer

    def do_POST(self) -> None:
        document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.good and self.path.endswith("/embeddings"):
            self._say(200, {"data": [{"index": n, "embedding": [1.0, n]} for n in range(len(document["input"]))]})
        else:
            self._say(404, {"error": {"message": f"not this: {document}"}})

    def _say(self, status: int, fields: dict[str, Any]) -> None:
        body = json.dumps(fields).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def _run_echo_server() -> Iterator[_FlakyModelServer]:
    with _FlakyModelServer(("127.0.0.1", 0), _EchoHandler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
