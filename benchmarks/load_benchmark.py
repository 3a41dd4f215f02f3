"""Load benchmark: a real `lamina serve` on a generated vault, with clients that read and write, and slow connections.

At the end the server is killed, and every write that it acknowledged must be in the vault.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import lamina
from benchmarks.bench_result import BenchResult
from benchmarks.ranking_metrics import quantile
from lamina.errors import InvalidInput, NotFound
from lamina.settings import Settings

Say = Callable[[str], None]

BARS: dict[str, tuple[str, float]] = {
    "errors": ("≤", 0),
    "lost": ("≤", 0),
    "p99_s": ("<", 1.0),
    "beside_slow_errors": ("≤", 0),
    "beside_slow_p99_s": ("<", 1.0),
}
READS: tuple[tuple[str, float], ...] = (("recall", 0.55), ("get", 0.15), ("list", 0.1), ("context", 0.05))
WRITES: tuple[tuple[str, float], ...] = (("remember", 0.12), ("capture", 0.03))
"""What a client does next, and how often: agents read much more than they write."""
_SYLLABLES = ("ba", "do", "fi", "gu", "ka", "lem", "mor", "ni", "pel", "ra", "sto", "ti", "vu", "wen", "yo", "zan")
_NOUNS = tuple("".join(syllables) for syllables in product(_SYLLABLES, repeat=3))
"""As many words as people really use, so that a question matches few statements."""
_VERBS = ("sold", "painted", "repaired", "borrowed", "visited", "described", "planned", "finished")
_NO_RATE_LIMIT = "100000000"
_BATCH = 500


@dataclass(slots=True)
class LoadMeasurement:
    """The figures of a load run."""

    settings: dict[str, Any]
    times: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    beside: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    beside_errors: list[str] = field(default_factory=list)
    written: dict[str, str] = field(default_factory=dict)
    """The text of every acknowledged write, by the id of its atom."""
    lost: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def figures(self) -> dict[str, float]:
        """Return all figures."""
        every = [seconds for times in self.times.values() for seconds in times]
        figures: dict[str, float] = {
            "errors": len(self.errors),
            "lost": len(self.lost),
            "acknowledged_writes": len(self.written),
            "requests": len(every),
            "requests_per_s": len(every) / max(self.seconds, 1e-9),
        }
        figures |= {f"{name}_s": value for name, value in _quantiles(every).items()}
        if self.beside:
            figures["beside_slow_errors"] = len(self.beside_errors)
            figures |= {f"beside_slow_{name}_s": value for name, value in _quantiles(self.beside).items()}
        return figures

    def result(self) -> BenchResult:
        """Return the figures by verb, and whether each requirement is met."""
        figures = self.figures()
        bars = {}
        for name, (sign, limit) in BARS.items():
            if name in figures:
                holds = figures[name] < limit if sign == "<" else figures[name] <= limit
                bars[name] = {"figure": figures[name], "bar": f"{sign} {limit:g}", "holds": holds}
        verbs = {
            verb: {"requests": len(times), **{f"{name}_s": value for name, value in _quantiles(times).items()}}
            for verb, times in sorted(self.times.items())
        }
        wrong = sorted(set(self.errors + self.beside_errors))[:20]
        return BenchResult("load", None, self.settings, {"bars": bars, "wrong": wrong}, verbs, figures)


def run(
    clients: int, seconds: float, slow: int, atoms: int, pause: float, embedder: str, seed: int, say: Say
) -> LoadMeasurement:
    """Measure everything; `say` reports the progress."""
    chosen = {
        "clients": clients,
        "seconds": seconds,
        "slow": slow,
        "atoms": atoms,
        "pause": pause,
        "embedder": embedder,
        "seed": seed,
    }
    load = LoadMeasurement(chosen)
    with _folder() as folder:
        vault = folder / "vault"
        say(f"making a vault of {atoms} statements")
        ids = _make_vault(vault, atoms, embedder, seed)
        say("starting a server")
        with _running_server(vault, embedder) as (url, token):
            asyncio.run(_measure(load, url, token, ids, say))
        say(f"the server was killed; looking for {len(load.written)} acknowledged writes")
        load.lost += _find_lost_writes(vault, load.written)
    return load


async def _measure(load: LoadMeasurement, url: str, token: str, known: list[str], say: Say) -> None:
    from lamina.http.connection_limits import raise_file_limit

    raise_file_limit()
    options, address = load.settings, urlsplit(url)
    server = _ServerAddress(address.hostname or "127.0.0.1", address.port or 80, token)
    rng = random.Random(options["seed"])
    await _warm_up(server, known)
    say(f"{options['clients']} clients for {options['seconds']:g} s")
    began = time.perf_counter()
    ends = began + options["seconds"]
    await asyncio.gather(
        *(_client(n, server, load, known, random.Random(rng.random()), ends) for n in range(options["clients"]))
    )
    load.seconds = time.perf_counter() - began
    if options["slow"]:
        say(f"{options['slow']} slow connections beside one client")
        async with _slow_connections(server, options["slow"]):
            await _run_client_beside(server, load, known, rng, time.perf_counter() + max(10.0, options["seconds"] / 3))


@dataclass(frozen=True, slots=True)
class _ServerAddress:
    host: str
    port: int
    token: str


class _HttpConnection:
    """One HTTP connection that is kept open."""

    def __init__(self, server: _ServerAddress) -> None:
        self._server = server
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, target: str, body: object = None) -> tuple[int, Any]:
        """Send a request; return the status and the parsed body of the response."""
        server = self._server
        if self._streams is None:
            self._streams = await asyncio.open_connection(server.host, server.port)
        reader, writer = self._streams
        payload = json.dumps(body).encode() if body is not None else b""
        head = (
            f"{method} {target} HTTP/1.1\r\nHost: {server.host}:{server.port}\r\n"
            f"Authorization: Bearer {server.token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(payload)}\r\n\r\n"
        )
        writer.write(head.encode() + payload)
        status = int((await reader.readline()).split()[1])
        length = 0
        while line := (await reader.readline()).strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        return status, json.loads(await reader.readexactly(length))

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def _client(
    n: int, server: _ServerAddress, load: LoadMeasurement, known: list[str], rng: random.Random, ends: float
) -> None:
    """Send requests with pauses until the time is over."""
    line, verbs = _HttpConnection(server), dict((*READS, *WRITES))
    count = 0
    while time.perf_counter() < ends:
        verb = rng.choices(list(verbs), list(verbs.values()))[0]
        count += 1
        began = time.perf_counter()
        try:
            await _send_request(line, verb, f"{n}-{count}", known, rng, load)
            load.times[verb].append(time.perf_counter() - began)
        except (OSError, ValueError, IndexError, KeyError, asyncio.IncompleteReadError) as error:
            load.errors.append(f"{verb}: {type(error).__name__} {error}")
            line.close()
        await asyncio.sleep(rng.uniform(0, 2 * load.settings["pause"]))
    line.close()


async def _send_request(
    connection: _HttpConnection, verb: str, name: str, known: list[str], rng: random.Random, load: LoadMeasurement
) -> None:
    words = f"{rng.choice(_VERBS)} the {rng.choice(_NOUNS)}"
    match verb:
        case "recall":
            status, answer = await connection.ask("GET", f"/v1/recall?q={quote(f'who {words}?')}&k=10")
        case "get":
            status, answer = await connection.ask("GET", f"/v1/atoms/{rng.choice(known)}")
        case "list":
            status, answer = await connection.ask("GET", f"/v1/atoms?limit=20&offset={rng.randrange(100)}")
        case "context":
            status, answer = await connection.ask("GET", f"/v1/context?budget=800&about={quote(rng.choice(_NOUNS))}")
        case "remember":
            statement = _statement(rng)
            content = statement["content"]
            status, answer = await connection.ask("POST", "/v1/remember", statement)
        case _:
            content = f"I {words} yesterday, near the {rng.choice(_NOUNS)}."
            status, answer = await connection.ask("POST", "/v1/capture", {"text": content, "session_id": f"s-{name}"})
    if status != 200:
        raise ValueError(f"{status} {answer.get('detail', '')}")
    if verb in dict(WRITES):
        load.written[answer["outcomes"][0]["atom"]["id"]] = content


def _statement(rng: random.Random) -> dict[str, str]:
    """Return a random statement that no other client writes."""
    who = f"{rng.choice(_NOUNS)} {rng.choice(_NOUNS)}".title()
    return {
        "content": f"{who} {rng.choice(_VERBS)} the {rng.choice(_NOUNS)} near the {rng.choice(_NOUNS)}.",
        "subject": who,
    }


async def _warm_up(server: _ServerAddress, known: list[str]) -> None:
    """Send the first requests, which load the models and are not counted."""
    line = _HttpConnection(server)
    await line.ask("GET", "/v1/recall?q=is+anything+there")
    await line.ask("GET", f"/v1/atoms/{known[0]}")
    line.close()


async def _run_client_beside(
    server: _ServerAddress, load: LoadMeasurement, known: list[str], rng: random.Random, ends: float
) -> None:
    """Run one client as usual, with a new connection for each request."""
    while time.perf_counter() < ends:
        line, began = _HttpConnection(server), time.perf_counter()
        try:
            await _send_request(line, rng.choice([name for name, _ in READS]), "beside", known, rng, load)
            load.beside.append(time.perf_counter() - began)
        except (OSError, ValueError, IndexError, KeyError, asyncio.IncompleteReadError) as error:
            load.beside_errors.append(f"{type(error).__name__} {error}")
        line.close()
        await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def _slow_connections(server: _ServerAddress, many: int) -> AsyncIterator[None]:
    """Keep this many connections open that send a header line each second and never finish; reconnect if cut off."""
    tasks = [asyncio.create_task(_send_slowly(server)) for _ in range(many)]
    await asyncio.sleep(2.0)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _send_slowly(server: _ServerAddress) -> None:
    while True:
        writer = None
        try:
            _, writer = await asyncio.open_connection(server.host, server.port)
            writer.write(b"GET /v1/top HTTP/1.1\r\n")
            while not writer.is_closing():
                writer.write(b"X-Later: yes\r\n")
                await writer.drain()
                await asyncio.sleep(1.0)
        except OSError:
            await asyncio.sleep(0.5)
        finally:
            if writer is not None:
                writer.close()


def _settings(embedder: str) -> Settings:
    return Settings(embedder=embedder, background=False, watch=False)


def _make_vault(vault: Path, atoms: int, embedder: str, seed: int) -> list[str]:
    """Fill a vault with statements; return their ids."""
    rng, ids = random.Random(seed), list[str]()
    with lamina.open(vault, watch=False, settings=_settings(embedder)) as memory:
        for start in range(0, atoms, _BATCH):
            receipt = memory.remember_many([_statement(rng) for _ in range(start, min(atoms, start + _BATCH))])
            ids += [outcome.atom.id for outcome in receipt.outcomes]
        memory.embed()
    return ids


@contextlib.contextmanager
def _running_server(vault: Path, embedder: str) -> Iterator[tuple[str, str]]:
    """Start a server process; yield its URL and the token of its first start. Kill it at the end."""
    env = {
        **os.environ,
        "LAMINA_VAULT": str(vault),
        "LAMINA_EMBEDDER": embedder,
        "LAMINA_BACKGROUND": "true",
        "LAMINA_SERVE_READS_PER_MINUTE": _NO_RATE_LIMIT,
        "LAMINA_SERVE_WRITES_PER_MINUTE": _NO_RATE_LIMIT,
    }
    words = [sys.executable, "-m", "lamina", "serve", "--port", "0", "--json"]
    server = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield _read_server_address(server)
    finally:
        server.kill()
        server.wait()
        if server.stdout is not None:
            server.stdout.close()


def _read_server_address(process: subprocess.Popen[str]) -> tuple[str, str]:
    url = token = ""
    for line in process.stdout or ():
        message = json.loads(line)
        url, token = message.get("url", url), message.get("token", token)
        if url and token:
            return url, token
    raise InvalidInput("`lamina serve` did not start; run it yourself to see why, or run `pip install 'lamina[serve]'`")


def _find_lost_writes(vault: Path, written: dict[str, str]) -> list[str]:
    """Return the ids of acknowledged writes that are missing or have other text."""
    lost = []
    with lamina.open(vault, watch=False, settings=_settings("none")) as memory:
        for id, content in written.items():
            try:
                if content not in memory.get(id).content:
                    lost.append(id)
            except NotFound:
                lost.append(id)
    return lost


def _quantiles(taken: list[float]) -> dict[str, float]:
    if not taken:
        return {}
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    return {**{name: quantile(taken, share) for name, share in shares.items()}, "max": max(taken)}


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="lamina-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
