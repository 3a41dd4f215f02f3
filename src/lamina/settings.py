"""Define one typed settings object: a TOML file, overridden by the environment, overridden by arguments."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from lamina.errors import InvalidInput
from lamina.validation_messages import describe_fault


class Dependency(BaseModel):
    """A rule of the user: if something named in `when` has changed, what `doubts` names may no longer be true."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    when: tuple[str, ...] = Field(min_length=1)
    doubts: tuple[str, ...] = Field(min_length=1)


class Settings(BaseSettings):
    """The options of a user. Read once at the entry point and passed down."""

    model_config = SettingsConfigDict(env_prefix="LAMINA_", extra="forbid", frozen=True)

    scope: str = Field(default="org:local", description="the scope that is read and written unless another is given")
    watch: bool = Field(default=True, description="notice changed files while a program has the memory open")
    segment_chars: int = Field(
        default=12_000, ge=500, le=60_000, description="a verbatim session file is closed at this length"
    )
    idle_minutes: int = Field(default=30, ge=1, description="a session file is closed after this long without a turn")
    embedder: str = Field(
        default="auto",
        description="the embedding model: auto, light, none, minilm, openai:MODEL, fastembed:NAME, "
        "sentence-transformers:NAME",
    )
    embedder_url: str | None = Field(
        default=None, description="the address at which openai:MODEL is served, such as …/v1"
    )
    embedder_key: SecretStr | None = Field(default=None, description="the API key of that service")
    reranker: str = Field(
        default="none",
        description="the model that reranks the top 12 hits: none, endpoint:MODEL, fastembed:NAME, chat: or chat:MODEL",
    )
    reranker_url: str | None = Field(
        default=None, description="the address at which endpoint:MODEL is served, such as …/v1"
    )
    reranker_key: SecretStr | None = Field(default=None, description="the API key of that service")
    extractor: Literal["auto", "none"] = Field(
        default="auto",
        description="how statements are extracted: auto (the state model, and the chat model if there is one) or none",
    )
    state_model: Literal["auto", "off"] = Field(
        default="auto",
        description="the small model that finds sentences that state a current value: auto, or off to rank without it",
    )
    rhythm: Literal["smart", "surprise", "every_n", "time_based"] = Field(
        default="smart",
        description="when statements are extracted from captured turns: smart, surprise, every_n turns or time_based",
    )
    batch_turns: int = Field(
        default=5, ge=1, le=100, description="the number of turns of a session that are extracted together"
    )
    batch_minutes: float = Field(
        default=15, gt=0, description="the minutes after which waiting turns are extracted even if there are fewer"
    )
    signals: dict[str, str] = Field(
        default={}, description="your patterns, by name, for turns that are extracted immediately"
    )
    multi_valued: tuple[str, ...] = Field(
        default=(), description="attributes that may have several values at a time, in addition to the built-in ones"
    )
    dependencies: tuple[Dependency, ...] = Field(
        default=(),
        description='rules of dependence: `[[dependencies]]` with `when = ["gym"]` and `doubts = ["locker"]`; '
        "if one of the first has changed, the second may be outdated",
    )
    retention: Literal["l2", "huber", "elastic", "elastic_blend", "power", "fsrs"] = Field(
        default="huber",
        description="the curve along which memories fade: l2, huber, elastic, elastic_blend, power, fsrs",
    )
    dream_every: int = Field(
        default=3,
        ge=1,
        description="the number of processed captures after which a dream is due, if dreams run automatically",
    )
    dream_hours: float = Field(
        default=24.0, gt=0, le=100_000, description="the hours after which a dream is due in any case"
    )
    dream_chat_calls: int = Field(default=20, ge=0, description="the maximum number of chat model calls in one dream")
    insights: bool = Field(default=False, description="let dreams propose connections between distant topics")
    roots: dict[str, tuple[Path, ...]] = Field(
        default={},
        description='folders on this machine that the statements of a scope are about: `[roots]` with `"org:local" = '
        '["~/src/app"]`; dreams check there whether the paths, functions and commands they name still exist',
    )
    redact_personal: bool = Field(
        default=False, description="also redact card, account, social security and passport numbers"
    )
    chat: str = Field(
        default="none",
        description="the chat model that extracts, answers and reranks: none, ollama:MODEL, llamacpp, vllm:MODEL, "
        "lmstudio:MODEL, openai:MODEL, anthropic:MODEL, openrouter:MODEL, groq:MODEL, mistral:MODEL or gemini:MODEL",
    )
    chat_url: str | None = Field(
        default=None,
        description="its address, such as http://192.168.1.5:11434/v1; default the usual address of the service",
    )
    chat_key: SecretStr | None = Field(default=None, description="the API key of that service")
    chat_timeout: float = Field(
        default=60.0, gt=0, description="the maximum number of seconds for one call of the chat model"
    )
    chat_retries: int = Field(
        default=2, ge=0, le=2, description="how often a failed call of the chat model is repeated"
    )
    chat_calls_per_day: int | None = Field(default=None, ge=0, description="the maximum number of calls in a day (UTC)")
    chat_tokens_per_day: int | None = Field(default=None, ge=0, description="the maximum number of tokens in a day")
    chat_money_per_day: float | None = Field(default=None, ge=0, description="the maximum cost in a day")
    chat_price_in: float = Field(default=0.0, ge=0, description="the price of a million input tokens")
    chat_price_out: float = Field(default=0.0, ge=0, description="the price of a million output tokens")
    models_dir: Path | None = Field(default=None, description="the folder of the model files; default the user's cache")
    token_bits: int = Field(
        default=1, description="bits stored for each dimension of a token state: 1, or 4 for four times the disk space"
    )
    background: bool = Field(
        default=True, description="encode new passages in a background thread while the memory is open"
    )
    assistant_prior: float = Field(
        default=-0.12,
        ge=-0.5,
        le=0.5,
        description="what is added to the relevance of an assistant's turns unless the question asks for them",
    )
    file_edits: Literal["trust", "review"] = Field(
        default="trust",
        description="how edited and new files count: trust (as a person's decision) or review (pending review)",
    )
    serve_hosts: tuple[str, ...] = Field(
        default=(), description="allowed hosts of `lamina serve` in addition to localhost, such as memory.lan:8377"
    )
    serve_reads_per_minute: int = Field(
        default=600, ge=1, description="the maximum number of reads per access token in a minute"
    )
    serve_writes_per_minute: int = Field(
        default=60, ge=1, description="the maximum number of writes per access token in a minute"
    )
    serve_readers: int | None = Field(
        default=None,
        ge=0,
        le=64,
        description="the number of reader processes of `lamina serve`; default one for each further processor, 3 "
        "at most, and none if models are called over a network",
    )
    state_dir: Path | None = Field(
        default=None, description="the folder of the databases; default .lamina/ in the vault"
    )

    @field_validator("extractor", mode="before")
    @classmethod
    def _replace_retired_extractor(cls, name: object) -> object:
        """Read "rules", the name of an extractor that older versions had, as "auto"."""
        return "auto" if name == "rules" else name

    @field_validator("token_bits")
    @classmethod
    def _check_token_bits(cls, bits: int) -> int:
        if bits not in (1, 4):
            raise ValueError("token_bits must be 1 or 4")
        return bits


def load_settings(file: Path, **overrides: object) -> Settings:
    """Return the settings of a vault: defaults < TOML file < LAMINA_* environment < overrides; InvalidInput if one is
    invalid."""
    given = _check_overrides(overrides)
    try:
        from_file = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        from_environment = Settings().model_dump(exclude_unset=True)
        return Settings(**{**from_file, **from_environment, **given})
    except (ValidationError, tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InvalidInput(f"settings cannot be used ({file.name} or LAMINA_* environment): {error}") from error


def override_settings(settings: Settings, **overrides: object) -> Settings:
    """Return settings with others in the place of some; InvalidInput if one of these is unknown or invalid."""
    return settings.model_copy(update=_check_overrides(overrides))


def _check_overrides(overrides: Mapping[str, object]) -> dict[str, Any]:
    """Return the values of settings given by name, without those that are None."""
    given: dict[str, Any] = {name: value for name, value in overrides.items() if value is not None}
    unknown = given.keys() - Settings.model_fields.keys()
    if unknown:
        known = ", ".join(sorted(Settings.model_fields))
        raise InvalidInput(f"{', '.join(sorted(unknown))}: unknown setting; the settings are {known}")
    try:
        checked = Settings(**given)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        named = [(".".join(map(str, fault["loc"])), describe_fault(fault)) for fault in faults]
        if not {name.partition(".")[0] for name, _ in named} & given.keys():
            raise InvalidInput(f"settings cannot be used (LAMINA_* environment): {error}") from error
        raise InvalidInput("; ".join(f"{name}: {message}" for name, message in named)) from error
    return {name: getattr(checked, name) for name in given}
