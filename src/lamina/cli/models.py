"""`lamina models`: shows, downloads, adds and tests the model files on this machine."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lamina.cli.command import command, command_group
from lamina.cli.command_session import CommandSession
from lamina.cli.output import CommandResult, Json, OutputBlock, TextGrid, TextLine
from lamina.cli.progress import ProgressBar
from lamina.vault import vault_setup

if TYPE_CHECKING:
    from lamina.models.model_files import ModelFile, ModelStore
    from lamina.settings import Settings

MISSING, DAMAGED, PRESENT, VERIFIED = "missing", "damaged", "present", "verified"


def render_inventory(
    session: CommandSession,
    check: Annotated[bool, typer.Option("--check", help="Also verify every file by its hash.")] = False,
) -> CommandResult:
    """Render every model file with its state and path."""
    from lamina.models.model_files import MODEL_FILES

    store = _model_store(session)
    rows = [
        {
            "model": model,
            "file": file.name,
            "bytes": file.size,
            "state": _file_state(store, file, check=check),
            "where": str(store.path_of(file)),
        }
        for model, files in MODEL_FILES.items()
        for file in files
    ]
    rows += _light_model_rows()
    grid = TextGrid(("model", "file", "size", "state", "where"), tuple(_file_row(row) for row in rows))
    states = {row["state"] for row in rows}
    blocks: list[OutputBlock] = [grid]
    if MISSING in states or DAMAGED in states:
        blocks.append(
            TextLine("`lamina models download` downloads missing files, `lamina models add FOLDER` copies them", "dim")
        )
    return CommandResult({"folder": str(store.folder), "files": rows}, tuple(blocks), 1 if DAMAGED in states else 0)


app = command_group(
    "models",
    panel="Upkeep",
    help="Show the models on this machine; recall works without them and finds more with them.",
    example="lamina models --check  ·  lamina models download  ·  lamina models test",
    default=render_inventory,
)


@command(app, "download", example="lamina models download")
def download(session: CommandSession) -> CommandResult:
    """Download the missing model files from the hub; an interrupted download continues where it stopped."""
    from lamina.models.hub_download import download_models

    store = _model_store(session)
    with ProgressBar() as bar:
        added = download_models(store, bar)
    return _render_added(store, added, "all model files are already installed")


@command(app, "add", example="lamina models add ~/Downloads/all-MiniLM-L6-v2")
def add(
    session: CommandSession,
    folder: Annotated[
        Path, typer.Argument(help="A folder that contains model files; they are recognised by their hash.")
    ],
) -> CommandResult:
    """Copy model files from a folder, for a machine without a network."""
    store = _model_store(session)
    added = store.add_folder(folder)
    view = _render_added(store, added, "no files copied: they are already installed, or not in that folder")
    return view if not _missing_files(store) else CommandResult(view.data, (*view.blocks, _missing_line(store)), 1)


@command(app, "test", example="lamina models test --json")
def test(session: CommandSession) -> CommandResult:
    """Call the chat model once and report time, JSON schema support, and the error with advice.

    The call is small and does not count towards a budget.
    """
    from lamina.errors import InvalidInput
    from lamina.models.chat_check import advice_for, check_chat
    from lamina.models.chat_choice import choose_chat
    from lamina.models.errors import ModelError
    from lamina.models.retry_and_circuit_breaker import CallTiming

    settings = _load_vault_settings(session)
    key = settings.chat_key.get_secret_value() if settings.chat_key is not None else None
    timing = CallTiming(settings.chat_timeout, retries=settings.chat_retries)
    try:
        chat = choose_chat(settings.chat, settings.chat_url, key, timing=timing)
    except (InvalidInput, ModelError) as error:
        return _render_check({"model": settings.chat, "works": False, "error": str(error), "advice": advice_for(error)})
    if chat is None:
        advice = 'Write chat = "ollama:MODEL" into .lamina/settings.toml; other names are in docs/language-models.md.'
        return _render_check(
            {"model": settings.chat, "works": False, "error": "no chat model is set", "advice": advice}
        )
    try:
        result = check_chat(chat)
    finally:
        chat.close()
    return _render_check({"works": result.is_working, **asdict(result), "seconds": round(result.seconds, 3)})


def _render_check(data: Json) -> CommandResult:
    """Render the result of a test of the chat model."""
    works = bool(data["works"])
    lines = [TextLine(f"{data['model']} {'answers' if works else 'cannot be used'}", "green" if works else "red")]
    if works:
        schema = "takes a JSON schema" if data["takes_schema"] else "takes no JSON schema"
        right = "the answer is right" if data["is_right"] else "the answer is wrong"
        lines.append(
            TextLine(f"{data['seconds']:.1f} s, {data['tokens']} tokens, {schema}, {right}, at {data['address']}")
        )
    lines += [TextLine(str(data[name])) for name in ("error", "advice") if data.get(name)]
    return CommandResult(data, tuple(lines), 0 if works else 1)


def _load_vault_settings(session: CommandSession) -> Settings:
    from lamina.settings import load_settings

    return load_settings(session.choice.folder / vault_setup.INTERNAL_FOLDER / "settings.toml")


def _model_store(session: CommandSession) -> ModelStore:
    """Return the model store of the chosen vault's settings; the vault need not exist."""
    from lamina.models.model_files import ModelStore, models_folder

    chosen = _load_vault_settings(session).models_dir
    return ModelStore(chosen.expanduser() if chosen else models_folder(os.environ, Path.home(), sys.platform))


def _file_state(store: ModelStore, file: ModelFile, *, check: bool) -> str:
    if not store.path_of(file).exists():
        return MISSING
    if not store.has(file):
        return DAMAGED
    return PRESENT if not check else VERIFIED if store.is_intact(file) else DAMAGED


def _light_model_rows() -> list[Json]:
    """Return the files of the light model, which pip installed and verified."""
    from lamina.models.light_embedder import MODEL, find_light_files

    return [
        {"model": MODEL.id, "file": file.name, "bytes": file.stat().st_size, "state": PRESENT, "where": str(file)}
        for file in find_light_files()
    ]


def _file_row(row: Json) -> tuple[str, ...]:
    return row["model"], row["file"], f"{row['bytes'] / 1e6:.1f} MB", row["state"], row["where"]


def _render_added(store: ModelStore, added: list[ModelFile], if_none: str) -> CommandResult:
    data = {"folder": str(store.folder), "added": [file.name for file in added], "missing": _missing_files(store)}
    lines = [TextLine(f"{file.name} is in {store.path_of(file)}") for file in added]
    return CommandResult(data, tuple(lines or [TextLine(if_none)]))


def _missing_files(store: ModelStore) -> list[str]:
    from lamina.models.model_files import ALL_FILES

    return [file.name for file in ALL_FILES if not store.has(file)]


def _missing_line(store: ModelStore) -> TextLine:
    return TextLine(f"still missing: {', '.join(_missing_files(store))}", "yellow")
