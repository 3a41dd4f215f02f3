"""The extractor that adds a language model's statements to those of a base extractor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lamina.atom.atom import Evidence
from lamina.capture.found import Extractor, Finding, Said
from lamina.capture.llm.counts import ModelCounts, Reason
from lamina.capture.llm.merge import merge
from lamina.capture.llm.prompts import ModelStatement, ModelStatements, Shown, extraction_prompt, runs
from lamina.capture.llm.quotes import Quoted
from lamina.capture.llm.support import Passage, content_words, day_told, days_named, stands_in, why_unsupported
from lamina.models.chat import Chat
from lamina.models.errors import ModelError
from lamina.models.fence import seen
from lamina.text.normal import normal_form
from lamina.text.roles import is_assistant, is_role

MOST_TOKENS = 1600
"""The most tokens of one answer; the bounded schema needs no more."""
CONFIDENCE = 0.8
"""Below the confidence of base extractors, so that their statements come first."""
_SPEAKER = frozenset({"i", "me", "myself", "we", "my", "user", "the user", "speaker", "the speaker"})


@dataclass(frozen=True, slots=True)
class Extraction:
    """The statements that an extractor found, and its name.

    `failure` says why the language model, or the extractor itself, contributed nothing; `counts` is None if no language
    model was called.
    """

    findings: tuple[Finding, ...]
    by: str
    trouble: str | None = None
    counts: ModelCounts | None = None


class LlmExtractor:
    """Adds statements of a language model to those of a base extractor, if the words support them.

    A failed call loses only the model's statements of that batch: the base's remain, and the next batch calls the model
    again.
    """

    instant = False

    def __init__(self, chat: Chat, base: Extractor, *, most_tokens: int = MOST_TOKENS) -> None:
        self._chat, self._base, self._most_tokens = chat, base, most_tokens

    @property
    def name(self) -> str:
        """The names of the base extractor and of the language model."""
        return f"{self._base.name} and {self._chat.model}"

    def extract(self, turns: Sequence[Said], before: Sequence[Said] = ()) -> list[Finding]:
        """Return every statement of the turns, in their order; `before` are the turns before them, as context."""
        return list(self.extract_counted(turns, before).findings)

    def extract_counted(self, turns: Sequence[Said], before: Sequence[Said] = ()) -> Extraction:
        """Return the same with counts of what the language model contributed."""
        base_statements = self._base.extract(turns, before)
        model_statements, dropped, failures, calls = list[Finding](), list[Reason](), list[str](), 0
        for batch in runs(turns):
            if all(is_assistant(shown.said.speaker) for shown in batch):
                continue
            try:
                reply = self._chat.ask(extraction_prompt(batch, before), ModelStatements, most_tokens=self._most_tokens)
            except ModelError as error:
                calls += error.calls
                failures.append(str(error))
                continue
            calls += reply.calls
            for statement in reply.value.statements:
                checked = _checked(statement, batch, before)
                if isinstance(checked, Finding):
                    model_statements.append(checked)
                else:
                    dropped.append(checked)
        merged = merge(base_statements, model_statements)
        counts = ModelCounts(calls, merged.kept, Counter((*dropped, *merged.dropped)), tuple(dict.fromkeys(failures)))
        findings = tuple(_in_order(merged.findings, turns))
        if failures and not merged.kept:
            return Extraction(findings, self._base.name, failures[0], counts)
        return Extraction(findings, self.name, None, counts)


def extraction(extractor: Extractor, turns: Sequence[Said], before: Sequence[Said] = ()) -> Extraction:
    """Return what any extractor finds, with counts if a language model was called."""
    if isinstance(extractor, LlmExtractor):
        return extractor.extract_counted(turns, before)
    return Extraction(tuple(extractor.extract(turns, before)), extractor.name)


def _checked(statement: ModelStatement, run: Sequence[Shown], before: Sequence[Said]) -> Finding | Reason:
    """Return the statement that the words support, or the reason why there is none."""
    passage = _passage(statement, run, before)
    if passage is None:
        return Reason.QUOTE
    turn = passage.said
    content, start = seen(statement.content), day_told(statement.date, turn)
    subject, is_speaker = _subject(statement.subject, turn)
    days = days_named(turn, start)
    reason = why_unsupported(content, subject, passage, is_speaker=is_speaker, days=days)
    if reason is not None:
        return reason
    attribute, value = seen(statement.attribute).lower(), seen(statement.value)
    has_claim = bool(normal_form(attribute)) and stands_in(value, passage.sentence)
    return Finding(
        content=content,
        kind="fact",
        evidence=Evidence(turn.segment, turn.n, *passage.sentences),
        subject=subject,
        attribute=attribute if has_claim else None,
        value=value if has_claim else None,
        confidence=CONFIDENCE,
        valid_from=start,
        is_sure=False,
    )


def _passage(statement: ModelStatement, run: Sequence[Shown], before: Sequence[Said]) -> Passage | None:
    """Return the passage that contains the quote; of several, the one that shares most words with the content."""
    all_turns = [*(shown.said for shown in run), *before]
    context = [*(turn.text for turn in all_turns), *(turn.speaker or "" for turn in all_turns)]
    passages: list[Passage] = []
    for turn in dict.fromkeys(shown.said for shown in run if not is_assistant(shown.said.speaker)):
        finder = Quoted(turn.text)
        quote, sentences = finder.locate(statement.quote), finder.find(statement.quote)
        if quote is not None and sentences is not None:
            passages.append(Passage(turn, quote, sentences, context))
    statement_words = content_words(statement.content) | content_words(statement.subject)
    return max(passages, key=lambda passage: _likeness(passage, statement_words), default=None)


def _likeness(passage: Passage, wanted: frozenset[str]) -> int:
    return len(wanted & (content_words(passage.sentence) | content_words(passage.said.speaker or "")))


def _subject(told: str, said: Said) -> tuple[str, bool]:
    """Return the subject as it is stored, and whether it is the speaker."""
    subject, speaker = seen(told), seen(said.speaker or "")
    is_named = bool(speaker) and not is_role(speaker)
    form = normal_form(subject)
    if not form or form in _SPEAKER or form == normal_form(speaker):
        return (speaker if is_named else "user"), True
    first_name = normal_form(speaker).split()[:1] if is_named else []
    return (speaker, True) if [form] == first_name else (subject, False)


def _in_order(findings: Sequence[Finding], turns: Sequence[Said]) -> list[Finding]:
    position_of = {(turn.segment, turn.n): n for n, turn in enumerate(turns)}
    return sorted(
        findings,
        key=lambda statement: (
            position_of[statement.evidence.segment, statement.evidence.passage],
            statement.evidence.start,
        ),
    )
