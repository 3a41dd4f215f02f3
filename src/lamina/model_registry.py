"""The models of a memory, chosen by its settings: embedding models, reranker, chat model, extractor, state model."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from pydantic import SecretStr

from lamina.atom.atom import AtomId
from lamina.atom.provenance import Scope
from lamina.capture.change.change_nomination import Nominator
from lamina.capture.change.dependants import DependencyRule, make_dependency_rule
from lamina.capture.extractors import DisabledExtractor, ExplicitRequestExtractor, Extractor, StateExtractor
from lamina.capture.llm.change_nominator import ChatNominator
from lamina.capture.llm.extractor import LlmExtractor
from lamina.capture.statement_extractor import StatementExtractor
from lamina.capture.urgency_patterns import compile_patterns
from lamina.clock import Clock
from lamina.dream.step import BudgetedChat, StepContext
from lamina.errors import InvalidInput
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.retention import RetentionMode
from lamina.models.chat import Chat
from lamina.models.chat_budget import ChatBudget, DailyLimits, TokenPrices
from lamina.models.chat_check import find_server_problem
from lamina.models.chat_choice import choose_chat
from lamina.models.embedder import Embedder
from lamina.models.errors import ModelError
from lamina.models.model_choice import ModelChoice, choose_embedders, choose_state_model
from lamina.models.model_files import models_folder
from lamina.models.openai_chat import OpenAIChat
from lamina.models.reranker import choose_reranker
from lamina.models.retry_and_circuit_breaker import CallTiming
from lamina.settings import Settings
from lamina.states.replacement_verdict import ReplacementCertainty, judge_replacements
from lamina.states.sentence_models import StateReader
from lamina.store.admin import Usage
from lamina.store.base import Store
from lamina.text.normal_form import normal_form


class ModelRegistry:
    """Loads each model at its first use."""

    default_state_reader: ClassVar[StateReader | None] = None
    """What reads states where the settings choose no embedding model; a program may set its own."""

    def __init__(self, settings: Settings, usage: Usage, clock: Clock) -> None:
        self._settings, self._usage, self._clock = settings, usage, clock
        self._choice: ModelChoice | None = None

    @property
    def choice(self) -> ModelChoice:
        """The embedding models that recall uses; a transformer downloaded meanwhile is used immediately."""
        if self._choice is None or (self._choice.missing_hint and not self._choice.primary):
            settings = self._settings
            chosen = choose_embedders(
                settings.embedder,
                self._models_folder(),
                base_url=settings.embedder_url,
                api_key=_secret_value(settings.embedder_key),
                token_bits=settings.token_bits,
            )
            reranker = choose_reranker(
                settings.reranker, settings.reranker_url, _secret_value(settings.reranker_key), self._find_chat
            )
            state = choose_state_model(settings.state_model, settings.embedder, self._models_folder())
            self._choice = replace(chosen, reranker=reranker, state_encoder=state)
        return self._choice

    def embedders(self) -> list[Embedder]:
        """Return the models whose vectors are stored, the light one first; a missing model is left out."""
        return [
            model for model in (self.choice.light, self.choice.primary, self.choice.state_encoder) if model is not None
        ]

    @cached_property
    def chat(self) -> Chat | None:
        """The chat model; None if none is set."""
        return self._make_chat(self._settings.chat)

    @property
    def multi_valued_attributes(self) -> frozenset[str]:
        """The attributes that the settings allow several values for, beyond the built-in ones."""
        return frozenset(form for attribute in self._settings.multi_valued if (form := normal_form(attribute)))

    @cached_property
    def dependency_rules(self) -> tuple[DependencyRule, ...]:
        """The rules of the settings that say which attributes depend on which."""
        return tuple(
            make_dependency_rule(f"changed {dependency.when[0]}", dependency.when, dependency.doubts)
            for dependency in self._settings.dependencies
        )

    @cached_property
    def statement_extractor(self) -> StatementExtractor:
        """The extraction of statements from captured text."""
        patterns = compile_patterns(self._settings.signals)
        return StatementExtractor(
            self._make_extractor(),
            patterns,
            self.light_embedder,
            self.multi_valued_attributes,
            self._make_nominator(),
            self.state_reader,
        )

    @cached_property
    def state_reader(self) -> StateReader | None:
        """The reader of sentence states; None if no state model can be loaded or extraction is switched off."""
        if self._settings.extractor == "none":
            return None
        settings = self._settings
        if settings.embedder == "none":
            return self.default_state_reader if settings.state_model != "off" else None
        return load_state_reader(settings, self._models_folder())

    def make_dream_context(
        self, store: Store, scope: Scope, ids: Iterator[AtomId], stop: Callable[[], bool]
    ) -> StepContext:
        """Return what the dream steps of one scope work with."""
        settings, chat = self._settings, self.chat
        return StepContext(
            store=store,
            scope=scope,
            moment=AgeingTime(self._clock.now(), store.signals.last_activity(scope)),
            ids=ids,
            retention_mode=RetentionMode(settings.retention),
            embedder=self._best_embedder,
            rules=self.dependency_rules,
            chat=BudgetedChat(chat, settings.dream_chat_calls) if chat is not None else None,
            code_roots=tuple(settings.roots.get(scope, ())),
            insights_enabled=settings.insights,
            should_stop=stop,
        )

    def find_chat_fault(self) -> str | None:
        """Return what is wrong with the chat model, or None; only the list of models is requested from its server."""
        settings = self._settings
        try:
            chat = self.chat
        except (InvalidInput, ModelError) as error:
            return f"the chat model cannot be used, so captures fail: {error}"
        if not isinstance(chat, OpenAIChat):
            return None
        fault = find_server_problem(chat.address, _secret_value(settings.chat_key), settings.chat.partition(":")[2])
        if fault is None:
            return None
        return f"{chat.model} {fault}; statements are extracted without it. Run `lamina models test` for advice"

    def close(self) -> None:
        """Close the connection of the chat model."""
        if "chat" in self.__dict__ and self.chat is not None:
            self.chat.close()

    def light_embedder(self) -> Embedder | None:
        """Return the light embedding model, which detects new information; None if it cannot be loaded."""
        try:
            return self.choice.light
        except ModelError:
            return None

    def _best_embedder(self) -> Embedder | None:
        """Return the transformer if it is there, else the light model; None if neither can be loaded."""
        try:
            return self.choice.primary or self.choice.light
        except ModelError:
            return None

    def _make_extractor(self) -> Extractor:
        match self._settings.extractor:
            case "none":
                return DisabledExtractor()
            case "auto":
                extractor: Extractor = (
                    StateExtractor(self.state_reader) if self.state_reader is not None else ExplicitRequestExtractor()
                )
                return LlmExtractor(self.chat, extractor) if self.chat is not None else extractor

    def _make_nominator(self) -> Nominator | None:
        """Return what proposes changed statements: the chat model if it extracts, otherwise None."""
        chat = self.chat if self._settings.extractor == "auto" else None
        return ChatNominator(chat, self._is_replaced) if chat is not None else None

    def _is_replaced(self, old: str, new: str) -> bool:
        """Return whether the state model and the pair model agree that a new sentence likely replaces an old one."""
        return (
            self.state_reader is not None
            and judge_replacements(new, [old], self.state_reader)[0] >= ReplacementCertainty.LIKELY
        )

    def _find_chat(self, name: str) -> Chat | None:
        """Return the chat model, or another model of the same provider if a name is given."""
        family = self._settings.chat.partition(":")[0]
        return self._make_chat(f"{family}:{name}") if name else self.chat

    def _make_chat(self, setting: str) -> Chat | None:
        settings = self._settings
        limits = DailyLimits(settings.chat_calls_per_day, settings.chat_tokens_per_day, settings.chat_money_per_day)
        budget = ChatBudget(
            self._usage, self._clock, limits, TokenPrices(settings.chat_price_in, settings.chat_price_out)
        )
        return choose_chat(
            setting,
            settings.chat_url,
            _secret_value(settings.chat_key),
            meter=budget,
            timing=CallTiming(settings.chat_timeout, retries=settings.chat_retries),
        )

    def _models_folder(self) -> Path:
        if self._settings.models_dir is not None:
            return self._settings.models_dir.expanduser()
        return models_folder(os.environ, Path.home(), sys.platform)


def _secret_value(key: SecretStr | None) -> str | None:
    """Return the text of a secret setting; None if it is not set."""
    return key.get_secret_value() if key is not None else None


def load_state_reader(settings: Settings, models: Path) -> StateReader | None:
    """Return the reader of sentence states; None if the settings switch the state model off."""
    encoder = choose_state_model(settings.state_model, settings.embedder, models)
    return StateReader(encoder.states, encoder.pairs, encoder.lists) if encoder is not None else None
