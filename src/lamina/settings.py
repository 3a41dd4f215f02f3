"""One typed settings object: a TOML file, overruled by the environment, overruled by arguments."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from lamina.errors import InvalidInput


class Settings(BaseSettings):
    """What a user really chooses. Read once at the entry point and passed down."""

    model_config = SettingsConfigDict(env_prefix="LAMINA_", extra="forbid", frozen=True)

    scope: str = Field(default="org:local", description="whose memory is written and read when nothing else is said")
    watch: bool = Field(default=True, description="notice saved files while a program holds the memory open")
    segment_chars: int = Field(
        default=12_000, ge=500, le=60_000, description="a verbatim session file is closed at this length"
    )
    idle_minutes: int = Field(default=30, ge=1, description="a session file is closed after this long without a turn")
    embedder: str = Field(
        default="auto",
        description="what gives texts their meaning: auto, light, none, minilm, openai:MODEL, fastembed:NAME, "
        "sentence-transformers:NAME",
    )
    embedder_url: str | None = Field(default=None, description="where openai:MODEL is served, such as …/v1")
    embedder_key: SecretStr | None = Field(default=None, description="the key of that service")
    reranker: str = Field(
        default="none", description="a second look at the best twelve: none, endpoint:MODEL or fastembed:NAME"
    )
    reranker_url: str | None = Field(default=None, description="where endpoint:MODEL is served, such as …/v1")
    reranker_key: SecretStr | None = Field(default=None, description="the key of that service")
    models_dir: Path | None = Field(default=None, description="where model files are kept; default the user's cache")
    background: bool = Field(default=True, description="encode new passages in a thread while the memory is open")
    assistant_prior: float = Field(
        default=-0.12, ge=-0.5, le=0.5,
        description="what a machine's words gain or lose in recall where nobody asks for them",
    )  # fmt: skip
    state_dir: Path | None = Field(default=None, description="where the databases live; default .lamina/ in the vault")


def load_settings(file: Path, **given: Any) -> Settings:
    """The settings of a vault: defaults < TOML file < LAMINA_* environment < what was given."""
    try:
        from_file = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        from_environment = Settings().model_dump(exclude_unset=True)
        chosen = {name: value for name, value in given.items() if value is not None}
        return Settings(**{**from_file, **from_environment, **chosen})
    except (ValidationError, tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InvalidInput(f"settings cannot be used ({file.name} or LAMINA_* environment): {error}") from error
