"""`lamina models`: shows, downloads, adds and tests the model files on this machine."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import AsJson, Scope, Shared, Vault, command, ending
from lamina.cli.output import Block, Grid, Json, Line, Output, View
from lamina.cli.progress import Bar
from lamina.cli.session import Session
from lamina.vault import home

if TYPE_CHECKING:
    from lamina.models.files import ModelFile, ModelStore
    from lamina.settings import Settings

PANEL = "Upkeep"
MISSING, DAMAGED, PRESENT, VERIFIED = "missing", "damaged", "present", "verified"

app = typer.Typer(
    name="models",
    rich_help_panel=PANEL,
    epilog="Example: lamina models --check  ·  lamina models download  ·  lamina models test",
)


@app.callback(invoke_without_command=True)
def models(
    ctx: typer.Context,
    check: Annotated[bool, typer.Option("--check", help="Also verify every file by its hash.")] = False,
    vault: Vault = None,
    scope: Scope = None,
    json: AsJson = False,
) -> None:
    """Show the models on this machine; recall works without them and finds more with them."""
    ctx.obj = shared = Shared(vault, scope, json).over(ctx.obj or Shared())
    if ctx.invoked_subcommand is not None:
        return
    with ending(Output(as_json=shared.as_json), "models"), shared.session() as session:
        view = inventory(session, check=check)
        session.output.show(view)
    if view.code:
        raise typer.Exit(view.code)


@command(app, "download", panel=PANEL, example="lamina models download")
def download(session: Session) -> View:
    """Download the missing model files from the hub; an interrupted download continues where it stopped."""
    from lamina.models.hub import download

    store = _store(session)
    with Bar() as bar:
        added = download(store, bar)
    return _came(store, added, "all model files are already installed")


@command(app, "add", panel=PANEL, example="lamina models add ~/Downloads/all-MiniLM-L6-v2")
def add(
    session: Session,
    folder: Annotated[
        Path, typer.Argument(help="A folder that contains model files; they are recognised by their hash.")
    ],
) -> View:
    """Copy model files from a folder, for a machine without a network."""
    store = _store(session)
    added = store.add_folder(folder)
    view = _came(store, added, "no files copied: they are already installed, or not in that folder")
    return view if not _missing(store) else View(view.data, (*view.blocks, _still_missing(store)), 1)


@command(app, "test", panel=PANEL, example="lamina models test --json")
def test(session: Session) -> View:
    """Call the chat model once and report time, JSON schema support, and the error with advice.

    The call is small and does not count towards a budget.
    """
    from lamina.errors import InvalidInput
    from lamina.models.chat_check import advice_for, check_chat
    from lamina.models.choose_chat import choose_chat
    from lamina.models.errors import ModelError
    from lamina.models.patience import Timing

    settings = _settings(session)
    key = settings.chat_key.get_secret_value() if settings.chat_key is not None else None
    try:
        chat = choose_chat(settings.chat, settings.chat_url, key, timing=Timing(settings.chat_timeout))
    except (InvalidInput, ModelError) as error:
        return _check_view({"model": settings.chat, "works": False, "error": str(error), "advice": advice_for(error)})
    if chat is None:
        advice = 'Write chat = "ollama:MODEL" into .lamina/settings.toml; other names are in docs/language-models.md.'
        return _check_view({"model": settings.chat, "works": False, "error": "no chat model is set", "advice": advice})
    try:
        result = check_chat(chat)
    finally:
        chat.close()
    return _check_view({"works": result.works, **asdict(result), "seconds": round(result.seconds, 3)})


def _check_view(data: Json) -> View:
    """Render the result of a test of the chat model."""
    works = bool(data["works"])
    lines = [Line(f"{data['model']} {'answers' if works else 'cannot be used'}", "green" if works else "red")]
    if works:
        schema = "takes a JSON schema" if data["takes_schema"] else "takes no JSON schema"
        right = "the answer is right" if data["is_right"] else "the answer is wrong"
        lines.append(Line(f"{data['seconds']:.1f} s, {data['tokens']} tokens, {schema}, {right}, at {data['address']}"))
    lines += [Line(str(data[name])) for name in ("error", "advice") if data.get(name)]
    return View(data, tuple(lines), 0 if works else 1)


def _settings(session: Session) -> Settings:
    from lamina.settings import load_settings

    return load_settings(session.choice.folder / home.FOLDER / "settings.toml")


def _store(session: Session) -> ModelStore:
    """Return the model store of the chosen vault's settings; the vault need not exist."""
    from lamina.models.files import ModelStore, models_folder

    chosen = _settings(session).models_dir
    return ModelStore(chosen.expanduser() if chosen else models_folder(os.environ, Path.home(), sys.platform))


def inventory(session: Session, *, check: bool = False) -> View:
    """Render every model file with its state and path."""
    from lamina.models.files import MODEL_FILES

    store = _store(session)
    rows = [
        {
            "model": model,
            "file": file.name,
            "bytes": file.size,
            "state": _state(store, file, check=check),
            "where": str(store.place(file)),
        }
        for model, files in MODEL_FILES.items()
        for file in files
    ]
    rows += _light_rows()
    grid = Grid(("model", "file", "size", "state", "where"), tuple(_told(row) for row in rows))
    states = {row["state"] for row in rows}
    blocks: list[Block] = [grid]
    if MISSING in states or DAMAGED in states:
        blocks.append(
            Line("`lamina models download` downloads missing files, `lamina models add FOLDER` copies them", "dim")
        )
    return View({"folder": str(store.folder), "files": rows}, tuple(blocks), 1 if DAMAGED in states else 0)


def _state(store: ModelStore, file: ModelFile, *, check: bool) -> str:
    if not store.place(file).exists():
        return MISSING
    if not store.has(file):
        return DAMAGED
    return PRESENT if not check else VERIFIED if store.verified(file) else DAMAGED


def _light_rows() -> list[Json]:
    """Return the files of the light model, which pip installed and verified."""
    from lamina.models.light import MODEL, light_files

    return [
        {"model": MODEL.id, "file": file.name, "bytes": file.stat().st_size, "state": PRESENT, "where": str(file)}
        for file in light_files()
    ]


def _told(row: Json) -> tuple[str, ...]:
    return row["model"], row["file"], f"{row['bytes'] / 1e6:.1f} MB", row["state"], row["where"]


def _came(store: ModelStore, got: list[ModelFile], otherwise: str) -> View:
    data = {"folder": str(store.folder), "added": [file.name for file in got], "missing": _missing(store)}
    lines = [Line(f"{file.name} is in {store.place(file)}") for file in got]
    return View(data, tuple(lines or [Line(otherwise)]))


def _missing(store: ModelStore) -> list[str]:
    from lamina.models.files import ALL_FILES

    return [file.name for file in ALL_FILES if not store.has(file)]


def _still_missing(store: ModelStore) -> Line:
    return Line(f"still missing: {', '.join(_missing(store))}", "yellow")
