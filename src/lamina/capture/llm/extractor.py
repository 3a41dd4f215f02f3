"""The extractor that adds a language model's statements to those of a base extractor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lamina.atom.atom import Evidence, RelationName
from lamina.atom.passage import is_assistant, is_role
from lamina.capture.extractors import (
    CapturedTurn,
    CountingExtractor,
    ExtractedStatement,
    ExtractionResult,
    Extractor,
    GuidedExtractor,
    StatedRelation,
    StoredStatement,
)
from lamina.capture.llm.prompts import ModelStatement, ModelStatements, PromptTurn, batch_turns, extraction_prompt
from lamina.capture.llm.quotes import (
    QuotedPassage,
    QuoteFinder,
    content_words,
    find_named_days,
    find_unsupported_reason,
    occurs_in,
    parse_stated_day,
)
from lamina.capture.llm.statement_merge import merge_statements
from lamina.capture.receipt import DropReason, ModelCounts
from lamina.models.chat import Chat
from lamina.models.errors import ModelError
from lamina.models.prompt_fence import strip_invisible
from lamina.text.normal_form import normal_form

MAX_TOKENS = 1600
"""The most tokens of one answer; the bounded schema needs no more."""
CONFIDENCE = 0.8
"""Below the confidence of base extractors, so that their statements come first."""
_SPEAKER_WORDS = frozenset({"i", "me", "myself", "we", "my", "user", "the user", "speaker", "the speaker"})


class LlmExtractor(CountingExtractor, GuidedExtractor):
    """Adds statements of a language model to those of a base extractor, if the words support them.

    A failed call loses only the model's statements of that batch: the base's remain, and the next batch calls the model
    again.
    """

    instant = False

    def __init__(
        self, chat: Chat, base: Extractor, *, max_tokens: int = MAX_TOKENS, guidelines: Sequence[str] = ()
    ) -> None:
        self._chat, self._base, self._most_tokens = chat, base, max_tokens
        self._guidelines = tuple(guidelines)

    @property
    def name(self) -> str:
        """The names of the base extractor and of the language model."""
        return f"{self._base.name} and {self._chat.model}"

    def following(self, guidelines: Sequence[str]) -> LlmExtractor:
        """Return the extractor whose language model follows these lines."""
        return LlmExtractor(self._chat, self._base, max_tokens=self._most_tokens, guidelines=guidelines)

    def extract(self, turns: Sequence[CapturedTurn], before: Sequence[CapturedTurn] = ()) -> list[ExtractedStatement]:
        """Return every statement of the turns, in their order; `before` are the turns before them, as context."""
        return list(self.extract_with_counts(turns, before).statements)

    def extract_with_counts(
        self, turns: Sequence[CapturedTurn], before: Sequence[CapturedTurn] = (), stored: Sequence[StoredStatement] = ()
    ) -> ExtractionResult:
        """Return the same with relations and with counts of what the language model contributed."""
        base_statements = self._base.extract(turns, before)
        model_statements, dropped, failures, calls = list[ExtractedStatement](), list[DropReason](), list[str](), 0
        for batch in batch_turns(turns):
            if all(is_assistant(prompt_turn.turn.speaker) for prompt_turn in batch):
                continue
            prompt = extraction_prompt(batch, before, stored, self._guidelines)
            try:
                reply = self._chat.ask(prompt, ModelStatements, most_tokens=self._most_tokens)
            except ModelError as error:
                calls += error.calls
                failures.append(str(error))
                continue
            calls += reply.calls
            checked = [_check_statement(statement, batch, before) for statement in reply.value.statements]
            model_statements += _add_relations(reply.value.statements, checked, stored)
            dropped += [reason for reason in checked if isinstance(reason, DropReason)]
        merged = merge_statements(base_statements, model_statements)
        counts = ModelCounts(calls, merged.kept, Counter((*dropped, *merged.dropped)), tuple(dict.fromkeys(failures)))
        findings = tuple(_sort_by_turn(merged.statements, turns))
        if failures and not merged.kept:
            return ExtractionResult(findings, self._base.name, failures[0], counts)
        return ExtractionResult(findings, self.name, None, counts)


def _check_statement(
    statement: ModelStatement, batch: Sequence[PromptTurn], before: Sequence[CapturedTurn]
) -> ExtractedStatement | DropReason:
    """Return the statement that the words support, or the reason why there is none."""
    passage = _find_passage(statement, batch, before)
    if passage is None:
        return DropReason.QUOTE
    turn = passage.turn
    content, start = strip_invisible(statement.content), parse_stated_day(statement.date, turn)
    subject, is_speaker = _resolve_subject(statement.subject, turn)
    days = find_named_days(turn, start)
    reason = find_unsupported_reason(content, subject, passage, is_speaker=is_speaker, days=days)
    if reason is not None:
        return reason
    attribute, value = strip_invisible(statement.attribute).lower(), strip_invisible(statement.value)
    has_claim = bool(normal_form(attribute)) and occurs_in(value, passage.sentence)
    return ExtractedStatement(
        content=content,
        kind=statement.kind,
        evidence=Evidence(turn.segment, turn.n, *passage.sentences),
        subject=subject,
        attribute=attribute if has_claim else None,
        value=value if has_claim else None,
        confidence=CONFIDENCE,
        valid_from=start,
        may_end_others=False,
    )


def _add_relations(
    statements: Sequence[ModelStatement],
    checked: Sequence[ExtractedStatement | DropReason],
    stored: Sequence[StoredStatement],
) -> Iterator[ExtractedStatement]:
    """Yield the supported statements of one answer with the relation that each names, if there is such a target."""
    for statement, extracted in zip(statements, checked, strict=True):
        if not isinstance(extracted, ExtractedStatement):
            continue
        family, _, number = statement.target.strip().lower().partition(" ")
        targets: Sequence[object] = {"memory": stored, "statement": checked}.get(family, ())
        n = int(number) if number.isascii() and number.isdecimal() else 0
        target = targets[n - 1] if 0 < n <= len(targets) else None
        if not statement.relation or target is extracted:
            yield extracted
        elif isinstance(target, ExtractedStatement | StoredStatement):
            stored_id = target.id if isinstance(target, StoredStatement) else None
            relation = StatedRelation(RelationName(statement.relation), target.evidence, target.content, stored_id)
            yield replace(extracted, relations=(relation,))
        else:
            yield extracted


def _find_passage(
    statement: ModelStatement, batch: Sequence[PromptTurn], before: Sequence[CapturedTurn]
) -> QuotedPassage | None:
    """Return the passage that contains the quote; of several, the one that shares most words with the content."""
    all_turns = [*(prompt_turn.turn for prompt_turn in batch), *before]
    context = [*(turn.text for turn in all_turns), *(turn.speaker or "" for turn in all_turns)]
    passages: list[QuotedPassage] = []
    for turn in dict.fromkeys(prompt_turn.turn for prompt_turn in batch if not is_assistant(prompt_turn.turn.speaker)):
        finder = QuoteFinder(turn.text)
        quote, sentences = finder.find_quote(statement.quote), finder.find_sentences(statement.quote)
        if quote is not None and sentences is not None:
            passages.append(QuotedPassage(turn, quote, sentences, context))
    statement_words = content_words(statement.content) | content_words(statement.subject)
    return max(passages, key=lambda passage: _count_shared_words(passage, statement_words), default=None)


def _count_shared_words(passage: QuotedPassage, words: frozenset[str]) -> int:
    return len(words & (content_words(passage.sentence) | content_words(passage.turn.speaker or "")))


def _resolve_subject(stated_subject: str, turn: CapturedTurn) -> tuple[str, bool]:
    """Return the subject as it is stored, and whether it is the speaker."""
    subject, speaker = strip_invisible(stated_subject), strip_invisible(turn.speaker or "")
    is_named = bool(speaker) and not is_role(speaker)
    form = normal_form(subject)
    if not form or form in _SPEAKER_WORDS or form == normal_form(speaker):
        return (speaker if is_named else "user"), True
    first_name = normal_form(speaker).split()[:1] if is_named else []
    return (speaker, True) if [form] == first_name else (subject, False)


def _sort_by_turn(statements: Sequence[ExtractedStatement], turns: Sequence[CapturedTurn]) -> list[ExtractedStatement]:
    position_of = {(turn.segment, turn.n): n for n, turn in enumerate(turns)}
    return sorted(
        statements,
        key=lambda statement: (
            position_of[statement.evidence.segment, statement.evidence.passage],
            statement.evidence.start,
        ),
    )
