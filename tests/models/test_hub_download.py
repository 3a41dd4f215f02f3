"""Against a real server that speaks the little of the hub's protocol that is used."""

from __future__ import annotations

import hashlib
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from lamina.models.errors import ModelError, ModelUnreachable
from lamina.models.hub_download import download_models
from lamina.models.model_files import ModelFile, ModelStore

CONTENT = bytes(range(256)) * 4000
FILE = ModelFile("weights.bin", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT), "someone/model", "deep/weights.bin")


class Hub(ThreadingHTTPServer):
    """Serves one file, as well or as badly as a test wants."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.content = CONTENT
        self.breaks_after: int | None = None
        self.ranges = True
        self.asked: list[str | None] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answer(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        hub, result = self.server, self.headers["Range"]
        hub.asked.append(result)
        if self.path != "/someone/model/resolve/main/deep/weights.bin":
            return self.send_error(404)
        begin = int(result.removeprefix("bytes=").removesuffix("-")) if result and hub.ranges else 0
        if begin >= len(hub.content):
            return self.send_error(416)
        return self._send(begin, 206 if result and hub.ranges else 200)

    def _send(self, begin: int, status: int) -> None:
        hub = self.server
        self.send_response(status)
        self.send_header("Content-Length", str(len(hub.content) - begin))
        self.end_headers()
        self.wfile.write(hub.content[begin : hub.breaks_after])

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "models")


def no_progress(text: str, done: int, total: int) -> None: ...


def test_a_file_is_fetched_once_with_progress(hub: Hub, store: ModelStore) -> None:
    result: list[tuple[str, int, int]] = []
    assert download_models(store, lambda *step: result.append(step), [FILE], endpoint=hub.address) == [FILE]
    assert store.is_intact(FILE)
    assert result[-1] == (FILE.name, FILE.size, FILE.size)
    assert [actual for _, actual, _ in result] == sorted({actual for _, actual, _ in result})
    assert download_models(store, no_progress, [FILE], endpoint=hub.address) == []
    assert hub.asked == [None]


def test_a_broken_download_is_resumed(hub: Hub, store: ModelStore) -> None:
    hub.breaks_after = 300_000
    with pytest.raises(ModelUnreachable, match="300000 of 1024000"):
        download_models(store, no_progress, [FILE], endpoint=hub.address)
    assert not store.has(FILE)
    hub.breaks_after = None
    download_models(store, no_progress, [FILE], endpoint=hub.address)
    assert store.is_intact(FILE)
    assert hub.asked == [None, "bytes=300000-"]


def test_a_server_without_ranges_restarts_the_download(hub: Hub, store: ModelStore) -> None:
    store.prepare()
    (store.folder / f"{FILE.sha256}.part").write_bytes(CONTENT[:5000])
    hub.ranges = False
    download_models(store, no_progress, [FILE], endpoint=hub.address)
    assert store.is_intact(FILE)


def test_a_partial_file_that_is_too_long_is_discarded(hub: Hub, store: ModelStore) -> None:
    store.prepare()
    (store.folder / f"{FILE.sha256}.part").write_bytes(CONTENT * 2)
    download_models(store, no_progress, [FILE], endpoint=hub.address)
    assert store.is_intact(FILE)
    assert hub.asked == [f"bytes={2 * FILE.size}-", None]


@pytest.mark.parametrize("content", [CONTENT[::-1], CONTENT + b"more"])
def test_content_with_another_hash_is_refused(hub: Hub, store: ModelStore, content: bytes) -> None:
    hub.content = content
    with pytest.raises(ModelError, match="not the file"):
        download_models(store, no_progress, [FILE], endpoint=hub.address)
    assert [path.name for path in store.folder.iterdir()] == ["download.lock"]


def test_a_file_missing_on_the_hub_is_reported(hub: Hub, store: ModelStore) -> None:
    model_file = ModelFile("x", "0" * 64, 1, "someone/model", "gone")
    with pytest.raises(ModelUnreachable, match=r"404.*lamina models add FOLDER"):
        download_models(store, no_progress, [model_file], endpoint=hub.address)


def test_without_a_network_the_error_says_what_to_do(store: ModelStore) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(ModelUnreachable, match=r"refused.*lamina models add FOLDER"):
            download_models(store, no_progress, [FILE], endpoint=address)


def test_offline_mode_makes_no_connection(store: ModelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelUnreachable, match="HF_HUB_OFFLINE"):
        download_models(store, no_progress, [FILE])


def test_two_concurrent_downloads_fetch_it_once(hub: Hub, store: ModelStore) -> None:
    got: list[list[ModelFile]] = []
    work = [
        threading.Thread(target=lambda: got.append(download_models(store, no_progress, [FILE], endpoint=hub.address)))
        for _ in range(4)
    ]
    for job in work:
        job.start()
    for job in work:
        job.join()
    assert sorted(map(len, got)) == [0, 0, 0, 1]
    assert hub.asked == [None]
    assert store.is_intact(FILE)
