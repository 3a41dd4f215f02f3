"""Many at once: a real `lamina serve` on a made vault, clients that read and write, and others that only hold the line.

Afterwards the server is killed without a word, and every write it had acknowledged is looked for in the vault.
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

from lamina.bench.metrics import quantile
from lamina.bench.result import Result
from lamina.errors import InvalidInput, NotFound
from lamina.memory import Memory
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
"""What a client does next, and how often: agents ask much more than they tell."""
_SYLLABLES = ("ba", "do", "fi", "gu", "ka", "lem", "mor", "ni", "pel", "ra", "sto", "ti", "vu", "wen", "yo", "zan")
_NOUNS = tuple("".join(each) for each in product(_SYLLABLES, repeat=3))
"""As many words as people really use, so that a question meets few statements, as questions do."""
_VERBS = ("sold", "painted", "repaired", "borrowed", "visited", "described", "planned", "finished")
_PLENTY = "100000000"
_BATCH = 500


@dataclass(slots=True)
class Load:
    """What was measured."""

    settings: dict[str, Any]
    times: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    beside: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    beside_errors: list[str] = field(default_factory=list)
    written: dict[str, str] = field(default_factory=dict)
    """The words of every acknowledged write, by the id it was given."""
    lost: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def figures(self) -> dict[str, float]:
        """Everything in numbers."""
        every = [each for own in self.times.values() for each in own]
        told: dict[str, float] = {
            "errors": len(self.errors),
            "lost": len(self.lost),
            "acknowledged_writes": len(self.written),
            "requests": len(every),
            "requests_per_s": len(every) / max(self.seconds, 1e-9),
        }
        told |= {f"{name}_s": value for name, value in _quantiles(every).items()}
        if self.beside:
            told["beside_slow_errors"] = len(self.beside_errors)
            told |= {f"beside_slow_{name}_s": value for name, value in _quantiles(self.beside).items()}
        return told

    def result(self) -> Result:
        """The figures with their bars, by verb."""
        figures = self.figures()
        bars = {}
        for name, (sign, limit) in BARS.items():
            if name in figures:
                holds = figures[name] < limit if sign == "<" else figures[name] <= limit
                bars[name] = {"figure": figures[name], "bar": f"{sign} {limit:g}", "holds": holds}
        verbs = {
            verb: {"requests": len(own), **{f"{name}_s": value for name, value in _quantiles(own).items()}}
            for verb, own in sorted(self.times.items())
        }
        wrong = sorted(set(self.errors + self.beside_errors))[:20]
        return Result("load", None, self.settings, {"bars": bars, "wrong": wrong}, verbs, figures)


def run(clients: int, seconds: float, slow: int, atoms: int, pause: float, embedder: str, seed: int, say: Say) -> Load:
    """Measure everything; `say` is told what is going on."""
    chosen = {
        "clients": clients,
        "seconds": seconds,
        "slow": slow,
        "atoms": atoms,
        "pause": pause,
        "embedder": embedder,
        "seed": seed,
    }
    load = Load(chosen)
    with _folder() as folder:
        vault = folder / "vault"
        say(f"making a vault of {atoms} statements")
        known = _made(vault, atoms, embedder, seed)
        say("starting a server")
        with _served(vault, embedder) as (url, token):
            asyncio.run(_measured(load, url, token, known, say))
        say(f"the server was killed; looking for {len(load.written)} acknowledged writes")
        load.lost += _lost(vault, load.written)
    return load


async def _measured(load: Load, url: str, token: str, known: list[str], say: Say) -> None:
    from lamina.http.slow import raise_limits

    raise_limits()
    own, address = load.settings, urlsplit(url)
    place = _Place(address.hostname or "127.0.0.1", address.port or 80, token)
    rng = random.Random(own["seed"])
    await _warm(place, known)
    say(f"{own['clients']} clients for {own['seconds']:g} s")
    began = time.perf_counter()
    ends = began + own["seconds"]
    await asyncio.gather(
        *(_client(n, place, load, known, random.Random(rng.random()), ends) for n in range(own["clients"]))
    )
    load.seconds = time.perf_counter() - began
    if own["slow"]:
        say(f"{own['slow']} slow connections beside one client")
        async with _slow_ones(place, own["slow"]):
            await _beside(place, load, known, rng, time.perf_counter() + max(10.0, own["seconds"] / 3))


@dataclass(frozen=True, slots=True)
class _Place:
    host: str
    port: int
    token: str


class _Line:
    """One connection that is kept, as programs do."""

    def __init__(self, place: _Place) -> None:
        self._place = place
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, target: str, body: object = None) -> tuple[int, Any]:
        """The status of the answer and its document."""
        place = self._place
        if self._streams is None:
            self._streams = await asyncio.open_connection(place.host, place.port)
        reader, writer = self._streams
        said = json.dumps(body).encode() if body is not None else b""
        head = (
            f"{method} {target} HTTP/1.1\r\nHost: {place.host}:{place.port}\r\nAuthorization: Bearer {place.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(said)}\r\n\r\n"
        )
        writer.write(head.encode() + said)
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


async def _client(n: int, place: _Place, load: Load, known: list[str], rng: random.Random, ends: float) -> None:
    """Ask, tell, wait a moment, until the time is over."""
    line, verbs = _Line(place), dict((*READS, *WRITES))
    count = 0
    while time.perf_counter() < ends:
        verb = rng.choices(list(verbs), list(verbs.values()))[0]
        count += 1
        began = time.perf_counter()
        try:
            await _one(line, verb, f"{n}-{count}", known, rng, load)
            load.times[verb].append(time.perf_counter() - began)
        except (OSError, ValueError, IndexError, KeyError, asyncio.IncompleteReadError) as error:
            load.errors.append(f"{verb}: {type(error).__name__} {error}")
            line.close()
        await asyncio.sleep(rng.uniform(0, 2 * load.settings["pause"]))
    line.close()


async def _one(line: _Line, verb: str, name: str, known: list[str], rng: random.Random, load: Load) -> None:
    words = f"{rng.choice(_VERBS)} the {rng.choice(_NOUNS)}"
    match verb:
        case "recall":
            status, told = await line.ask("GET", f"/v1/recall?q={quote(f'who {words}?')}&k=10")
        case "get":
            status, told = await line.ask("GET", f"/v1/atoms/{rng.choice(known)}")
        case "list":
            status, told = await line.ask("GET", f"/v1/atoms?limit=20&offset={rng.randrange(100)}")
        case "context":
            status, told = await line.ask("GET", f"/v1/context?budget=800&about={quote(rng.choice(_NOUNS))}")
        case "remember":
            said = _statement(rng)
            content = said["content"]
            status, told = await line.ask("POST", "/v1/remember", said)
        case _:
            content = f"I {words} yesterday, near the {rng.choice(_NOUNS)}."
            status, told = await line.ask("POST", "/v1/capture", {"text": content, "session_id": f"s-{name}"})
    if status != 200:
        raise ValueError(f"{status} {told.get('detail', '')}")
    if verb in dict(WRITES):
        load.written[told["outcomes"][0]["atom"]["id"]] = content


def _statement(rng: random.Random) -> dict[str, str]:
    """Something somebody did, as nobody else did it."""
    who = f"{rng.choice(_NOUNS)} {rng.choice(_NOUNS)}".title()
    return {
        "content": f"{who} {rng.choice(_VERBS)} the {rng.choice(_NOUNS)} near the {rng.choice(_NOUNS)}.",
        "subject": who,
    }


async def _warm(place: _Place, known: list[str]) -> None:
    """The first question loads models; nobody counts it."""
    line = _Line(place)
    await line.ask("GET", "/v1/recall?q=is+anything+there")
    await line.ask("GET", f"/v1/atoms/{known[0]}")
    line.close()


async def _beside(place: _Place, load: Load, known: list[str], rng: random.Random, ends: float) -> None:
    """One client that goes on as if nothing were the matter, on a new connection each time."""
    while time.perf_counter() < ends:
        line, began = _Line(place), time.perf_counter()
        try:
            await _one(line, rng.choice([name for name, _ in READS]), "beside", known, rng, load)
            load.beside.append(time.perf_counter() - began)
        except (OSError, ValueError, IndexError, KeyError, asyncio.IncompleteReadError) as error:
            load.beside_errors.append(f"{type(error).__name__} {error}")
        line.close()
        await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def _slow_ones(place: _Place, many: int) -> AsyncIterator[None]:
    """So many connections that say a word a second and never come to the point; who is cut off comes back."""
    tasks = [asyncio.create_task(_dawdle(place)) for _ in range(many)]
    await asyncio.sleep(2.0)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _dawdle(place: _Place) -> None:
    while True:
        writer = None
        try:
            _, writer = await asyncio.open_connection(place.host, place.port)
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


def _made(vault: Path, atoms: int, embedder: str, seed: int) -> list[str]:
    """A vault with something in it; returns the ids."""
    rng, ids = random.Random(seed), list[str]()
    with Memory(vault, watch=False, settings=_settings(embedder)) as memory:
        for start in range(0, atoms, _BATCH):
            receipt = memory.remember_many([_statement(rng) for _ in range(start, min(atoms, start + _BATCH))])
            ids += [outcome.atom.id for outcome in receipt.outcomes]
        memory.embed()
    return ids


@contextlib.contextmanager
def _served(vault: Path, embedder: str) -> Iterator[tuple[str, str]]:
    """A server in a process of its own: its address, and the token its first start makes. Killed at the end."""
    env = {
        **os.environ,
        "LAMINA_VAULT": str(vault),
        "LAMINA_EMBEDDER": embedder,
        "LAMINA_BACKGROUND": "true",
        "LAMINA_SERVE_READS_PER_MINUTE": _PLENTY,
        "LAMINA_SERVE_WRITES_PER_MINUTE": _PLENTY,
    }
    words = [sys.executable, "-m", "lamina", "serve", "--port", "0", "--json"]
    server = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield _told(server)
    finally:
        server.kill()
        server.wait()
        if server.stdout is not None:
            server.stdout.close()


def _told(server: subprocess.Popen[str]) -> tuple[str, str]:
    url = token = ""
    for line in server.stdout or ():
        told = json.loads(line)
        url, token = told.get("url", url), told.get("token", token)
        if url and token:
            return url, token
    raise InvalidInput("`lamina serve` did not start; run it by hand to see why, or pip install 'lamina[serve]'")


def _lost(vault: Path, written: dict[str, str]) -> list[str]:
    """The acknowledged writes that are not there, or not in the words that were sent."""
    lost = []
    with Memory(vault, watch=False, settings=_settings("none")) as memory:
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
