"""One typed settings object: a TOML file, overruled by the environment, overruled by arguments."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from lamina.errors import InvalidInput


class Dependency(BaseModel):
    """A rule of one's own: where one of the things in `when` has changed, those in `doubts` may no longer hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    when: tuple[str, ...] = Field(min_length=1)
    doubts: tuple[str, ...] = Field(min_length=1)


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
        default="none",
        description="a second look at the best twelve: none, endpoint:MODEL, fastembed:NAME, chat: or chat:MODEL",
    )
    reranker_url: str | None = Field(default=None, description="where endpoint:MODEL is served, such as …/v1")
    reranker_key: SecretStr | None = Field(default=None, description="the key of that service")
    extractor: Literal["auto", "none"] = Field(
        default="auto",
        description="how captured words become statements: auto (the state model, and the chat model where there is "
        "one) or none",
    )
    state_model: Literal["auto", "off"] = Field(
        default="auto",
        description="the small model that tells which sentences state a current value: auto, or off to rank without it",
    )
    rhythm: Literal["smart", "surprise", "every_n", "time_based"] = Field(
        default="smart",
        description="when captured words are read for statements: smart, surprise, every_n turns or time_based",
    )
    batch_turns: int = Field(default=5, ge=1, le=100, description="so many turns of a session are read together")
    batch_minutes: float = Field(default=15, gt=0, description="turns that wait longer are read without company")
    signals: dict[str, str] = Field(
        default={}, description="your own patterns, by name, for words that should be read for statements at once"
    )
    multi_valued: tuple[str, ...] = Field(
        default=(), description="attributes of which a subject may have several values at once, beyond the usual ones"
    )
    dependencies: tuple[Dependency, ...] = Field(
        default=(),
        description='what else hangs on what: `[[dependencies]]` with `when = ["gym"]` and `doubts = ["locker"]`; '
        "where one of the first has changed, the second may no longer hold",
    )
    retention: Literal["l2", "huber", "elastic", "elastic_blend", "power", "fsrs"] = Field(
        default="huber",
        description="the curve along which memories fade: l2, huber, elastic, elastic_blend, power, fsrs",
    )
    dream_every: int = Field(
        default=3, ge=1, description="a dream is due after so many captures were read, where something dreams by itself"
    )
    dream_hours: float = Field(default=24.0, gt=0, le=100_000, description="and after so many hours in any case")
    dream_chat_calls: int = Field(default=20, ge=0, description="the most calls of the chat model in one dream")
    insights: bool = Field(
        default=False, description="let dreams propose what far-apart things may have to do with each other"
    )
    roots: dict[str, tuple[Path, ...]] = Field(
        default={},
        description='folders of this machine that a scope\'s statements speak of: `[roots]` with `"org:local" = '
        '["~/src/app"]`; dreams check there whether the paths, functions and commands they name still exist',
    )
    redact_personal: bool = Field(
        default=False, description="also take card, account, social security and passport numbers out of what comes in"
    )
    chat: str = Field(
        default="none",
        description="the chat model that reads, answers and reranks: none, ollama:MODEL, llamacpp, vllm:MODEL, "
        "lmstudio:MODEL, openai:MODEL, anthropic:MODEL, openrouter:MODEL, groq:MODEL, mistral:MODEL or gemini:MODEL",
    )
    chat_url: str | None = Field(
        default=None,
        description="where it is served, such as http://192.168.1.5:11434/v1; default the service's usual address",
    )
    chat_key: SecretStr | None = Field(default=None, description="the key of that service")
    chat_timeout: float = Field(default=60.0, gt=0, description="seconds one call of the chat model may take")
    chat_calls_per_day: int | None = Field(default=None, ge=0, description="the most calls of a day (UTC)")
    chat_tokens_per_day: int | None = Field(default=None, ge=0, description="the most tokens of a day")
    chat_money_per_day: float | None = Field(default=None, ge=0, description="the most money of a day")
    chat_price_in: float = Field(default=0.0, ge=0, description="the price of a million tokens the chat model reads")
    chat_price_out: float = Field(default=0.0, ge=0, description="the price of a million tokens it writes")
    models_dir: Path | None = Field(default=None, description="where model files are kept; default the user's cache")
    token_bits: int = Field(
        default=1, description="bits the transformer keeps of each dimension of a word: 1, or 4 for four times the disk"
    )
    background: bool = Field(default=True, description="encode new passages in a thread while the memory is open")
    assistant_prior: float = Field(
        default=-0.12,
        ge=-0.5,
        le=0.5,
        description="what a machine's words gain or lose in recall where nobody asks for them",
    )
    file_edits: Literal["trust", "review"] = Field(
        default="trust",
        description="what edits of files and new files are: trust (a person's word) or review (they wait for one)",
    )
    serve_hosts: tuple[str, ...] = Field(
        default=(), description="names besides localhost by which `lamina serve` may be called, such as memory.lan:8377"
    )
    serve_reads_per_minute: int = Field(default=600, ge=1, description="the most one token may ask in a minute")
    serve_writes_per_minute: int = Field(default=60, ge=1, description="the most one token may write in a minute")
    serve_readers: int | None = Field(
        default=None,
        ge=0,
        le=64,
        description="processes that answer questions beside `lamina serve`; default one for each further processor, 3 "
        "at most, and none where models are asked over a network",
    )
    state_dir: Path | None = Field(default=None, description="where the databases live; default .lamina/ in the vault")

    @field_validator("extractor", mode="before")
    @classmethod
    def _known_extractor(cls, name: object) -> object:
        """Read "rules", the name of an extractor that older versions had, as "auto"."""
        return "auto" if name == "rules" else name

    @field_validator("token_bits")
    @classmethod
    def _packed(cls, bits: int) -> int:
        if bits not in (1, 4):
            raise ValueError("token_bits is 1 or 4")
        return bits


def load_settings(file: Path, **given: Any) -> Settings:
    """The settings of a vault: defaults < TOML file < LAMINA_* environment < what was given."""
    try:
        from_file = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        from_environment = Settings().model_dump(exclude_unset=True)
        chosen = {name: value for name, value in given.items() if value is not None}
        return Settings(**{**from_file, **from_environment, **chosen})
    except (ValidationError, tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InvalidInput(f"settings cannot be used ({file.name} or LAMINA_* environment): {error}") from error
