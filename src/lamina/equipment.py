"""What a memory works with, chosen from its settings: embedders, a reranker, a chat model, a reader of words."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from pydantic import SecretStr

from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.capture.change.dependants import DependencyRule, dependency_rule
from lamina.capture.change.nomination import Nominator
from lamina.capture.found import AskedFor, Extractor, Nobody
from lamina.capture.llm.extractor import LlmExtractor
from lamina.capture.llm.nominator import ChatNominator
from lamina.capture.reading import Reader
from lamina.capture.signals import compile_patterns
from lamina.capture.state_extractor import StateExtractor
from lamina.clock import Clock
from lamina.dream.ration import Rationed
from lamina.dream.scene import Scene
from lamina.errors import InvalidInput
from lamina.lifecycle.moment import Moment
from lamina.lifecycle.retention import Mode
from lamina.models.budget import Budget, Limits, Prices
from lamina.models.chat import Chat
from lamina.models.chat_check import why_unreachable
from lamina.models.choose import Choice, choose, choose_state_model
from lamina.models.choose_chat import choose_chat
from lamina.models.embedder import Embedder
from lamina.models.errors import ModelError
from lamina.models.files import models_folder
from lamina.models.openai_chat import OpenAIChat
from lamina.models.patience import Timing
from lamina.models.reranker import choose_reranker
from lamina.settings import Settings
from lamina.states.replacement_verdict import Certainty, judge_replacements
from lamina.states.state_reader import StateReader
from lamina.store.base import Store
from lamina.store.usage import Usage
from lamina.text.normal import normal_form


class Equipment:
    """Nothing is loaded before it is used."""

    def __init__(self, settings: Settings, usage: Usage, clock: Clock) -> None:
        self._settings, self._usage, self._clock = settings, usage, clock
        self._choice: Choice | None = None

    @property
    def models(self) -> Choice:
        """The embedders recall looks through; a transformer that has been fetched meanwhile counts at once."""
        if self._choice is None or (self._choice.missing and not self._choice.primary):
            own = self._settings
            chosen = choose(
                own.embedder,
                self._models_folder(),
                base_url=own.embedder_url,
                api_key=_secret(own.embedder_key),
                token_bits=own.token_bits,
            )
            second = choose_reranker(own.reranker, own.reranker_url, _secret(own.reranker_key), self._chat_named)
            state = choose_state_model(own.state_model, own.embedder, self._models_folder())
            self._choice = replace(chosen, reranker=second, state=state)
        return self._choice

    def embedders(self) -> list[Embedder]:
        """Those whose vectors are kept, the light one first; a chosen one that is not there is done without."""
        return [each for each in (self.models.light, self.models.primary, self.models.state) if each is not None]

    @cached_property
    def chat(self) -> Chat | None:
        """The chat model, if one is chosen."""
        return self._chat(self._settings.chat)

    @property
    def several(self) -> frozenset[str]:
        """The attributes of which a subject may have several values, beyond those that always may."""
        return frozenset(form for each in self._settings.multi_valued if (form := normal_form(each)))

    @cached_property
    def dependencies(self) -> tuple[DependencyRule, ...]:
        """Which attributes depend on which, as the settings say."""
        return tuple(
            dependency_rule(f"changed {dependency.when[0]}", dependency.when, dependency.doubts)
            for dependency in self._settings.dependencies
        )

    @cached_property
    def reader(self) -> Reader:
        """How captured words are read for statements."""
        own = compile_patterns(self._settings.signals)
        return Reader(self._extractor(), own, self._light, self.several, self._nominator(), self.states)

    @cached_property
    def states(self) -> StateReader | None:
        """The reader of sentence states; None where no state model can be loaded or statements are switched off."""
        if self._settings.extractor == "none":
            return None
        return state_reader(self._settings, self._models_folder())

    def scene(self, store: Store, scope: Scope, ids: Iterator[AtomId], stop: Callable[[], bool]) -> Scene:
        """A scope as a dream finds it."""
        own, chat = self._settings, self.chat
        return Scene(
            store=store,
            scope=scope,
            moment=Moment(self._clock.now(), store.lives.seen(scope)),
            ids=ids,
            mode=Mode(own.retention),
            embedder=self._light,
            rules=self.dependencies,
            chat=Rationed(chat, own.dream_chat_calls) if chat is not None else None,
            roots=tuple(own.roots.get(scope, ())),
            insights=own.insights,
            stop=stop,
        )

    def chat_fault(self) -> str | None:
        """Return what is wrong with the chat model, if one is chosen; its server is asked for its models only."""
        own = self._settings
        try:
            chat = self.chat
        except (InvalidInput, ModelError) as error:
            return f"the chat model cannot be used, so captures fail: {error}"
        if not isinstance(chat, OpenAIChat):
            return None
        why = why_unreachable(chat.address, _secret(own.chat_key), own.chat.partition(":")[2])
        if why is None:
            return None
        return f"{chat.model} {why}; captures are read without it. `lamina models test` says what to do"

    def close(self) -> None:
        """Let go of connections."""
        if "chat" in self.__dict__ and self.chat is not None:
            self.chat.close()

    def _light(self) -> Embedder | None:
        """What tells news from the familiar; where no model can be had, nothing is lost by it."""
        try:
            return self.models.light
        except ModelError:
            return None

    def _extractor(self) -> Extractor:
        match self._settings.extractor:
            case "none":
                return Nobody()
            case "auto":
                own: Extractor = StateExtractor(self.states) if self.states is not None else AskedFor()
                return LlmExtractor(self.chat, own) if self.chat is not None else own

    def _nominator(self) -> Nominator | None:
        """Who is asked what changed: whoever reads, where that is a chat model."""
        chat = self.chat if self._settings.extractor == "auto" else None
        return ChatNominator(chat, self._is_replaced) if chat is not None else None

    def _is_replaced(self, old: str, new: str) -> bool:
        """Whether the state model and the pair model agree that a new sentence likely replaces an old one."""
        return self.states is not None and judge_replacements(new, [old], self.states)[0] >= Certainty.LIKELY

    def _chat_named(self, name: str) -> Chat | None:
        """The chat model, or one of its family by another name."""
        family = self._settings.chat.partition(":")[0]
        return self._chat(f"{family}:{name}") if name else self.chat

    def _chat(self, setting: str) -> Chat | None:
        own = self._settings
        limits = Limits(own.chat_calls_per_day, own.chat_tokens_per_day, own.chat_money_per_day)
        budget = Budget(self._usage, self._clock, limits, Prices(own.chat_price_in, own.chat_price_out))
        return choose_chat(setting, own.chat_url, _secret(own.chat_key), meter=budget, timing=Timing(own.chat_timeout))

    def _models_folder(self) -> Path:
        if self._settings.models_dir is not None:
            return self._settings.models_dir.expanduser()
        return models_folder(os.environ, Path.home(), sys.platform)


def _secret(key: SecretStr | None) -> str | None:
    return key.get_secret_value() if key is not None else None


def state_reader(settings: Settings, models: Path) -> StateReader | None:
    """Return the reader of captured sentences; None where the settings leave the state model out."""
    encoder = choose_state_model(settings.state_model, settings.embedder, models)
    return StateReader(encoder.states, encoder.pairs, encoder.lists) if encoder is not None else None
