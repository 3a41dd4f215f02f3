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
"""How long the answer of one call may be; the bounded schema needs no more."""
CONFIDENCE = 0.8
"""Below what a base extractor is sure of, so that its findings come first."""
_SPEAKER = frozenset({"i", "me", "myself", "we", "my", "user", "the user", "speaker", "the speaker"})


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was found and by whom; `trouble` says why the language model, or the extractor itself, contributed nothing;
    `counts` is None where no language model was asked."""

    findings: tuple[Finding, ...]
    by: str
    trouble: str | None = None
    counts: ModelCounts | None = None


class LlmExtractor:
    """Adds statements of a language model to those of a base extractor, so far as the words support them.

    A failed call costs nothing but the model's statements of that run: the base's stand, and the next run asks again.
    """

    instant = False

    def __init__(self, chat: Chat, base: Extractor, *, most_tokens: int = MOST_TOKENS) -> None:
        self._chat, self._base, self._most_tokens = chat, base, most_tokens

    @property
    def name(self) -> str:
        return f"{self._base.name} and {self._chat.model}"

    def extract(self, turns: Sequence[Said], before: Sequence[Said] = ()) -> list[Finding]:
        """Return every statement that the turns make, in their order; `before` are the turns that led up to them."""
        return list(self.extract_counted(turns, before).findings)

    def extract_counted(self, turns: Sequence[Said], before: Sequence[Said] = ()) -> Extraction:
        """Return the same with counts of what the language model contributed."""
        base = self._base.extract(turns, before)
        found, dropped, failures, calls = list[Finding](), list[Reason](), list[str](), 0
        for run in runs(turns):
            if all(is_assistant(shown.said.speaker) for shown in run):
                continue
            try:
                reply = self._chat.ask(extraction_prompt(run, before), ModelStatements, most_tokens=self._most_tokens)
            except ModelError as error:
                calls += error.calls
                failures.append(str(error))
                continue
            calls += reply.calls
            for statement in reply.value.statements:
                checked = _checked(statement, run, before)
                if isinstance(checked, Finding):
                    found.append(checked)
                else:
                    dropped.append(checked)
        merged = merge(base, found)
        counts = ModelCounts(calls, merged.kept, Counter((*dropped, *merged.dropped)), tuple(dict.fromkeys(failures)))
        findings = tuple(_in_order(merged.findings, turns))
        if failures and not merged.kept:
            return Extraction(findings, self._base.name, failures[0], counts)
        return Extraction(findings, self.name, None, counts)


def extraction(extractor: Extractor, turns: Sequence[Said], before: Sequence[Said] = ()) -> Extraction:
    """Return what any extractor finds, with counts where a language model was asked."""
    if isinstance(extractor, LlmExtractor):
        return extractor.extract_counted(turns, before)
    return Extraction(tuple(extractor.extract(turns, before)), extractor.name)


def _checked(statement: ModelStatement, run: Sequence[Shown], before: Sequence[Said]) -> Finding | Reason:
    """Return the finding that a statement supports, or why there is none."""
    passage = _passage(statement, run, before)
    if passage is None:
        return Reason.QUOTE
    said = passage.said
    content, start = seen(statement.content), day_told(statement.date, said)
    subject, is_speaker = _subject(statement.subject, said)
    days = days_named(said, start)
    reason = why_unsupported(content, subject, passage, is_speaker=is_speaker, days=days)
    if reason is not None:
        return reason
    attribute, value = seen(statement.attribute).lower(), seen(statement.value)
    has_claim = bool(normal_form(attribute)) and stands_in(value, passage.sentence)
    return Finding(
        content=content,
        kind="fact",
        evidence=Evidence(said.segment, said.n, *passage.sentences),
        subject=subject,
        attribute=attribute if has_claim else None,
        value=value if has_claim else None,
        confidence=CONFIDENCE,
        valid_from=start,
        is_sure=False,
    )


def _passage(statement: ModelStatement, run: Sequence[Shown], before: Sequence[Said]) -> Passage | None:
    """Return the passage that holds the quote; of several the one that shares most words with the content."""
    everything = [*(shown.said for shown in run), *before]
    around = [*(said.text for said in everything), *(said.speaker or "" for said in everything)]
    found: list[Passage] = []
    for said in dict.fromkeys(shown.said for shown in run if not is_assistant(shown.said.speaker)):
        text = Quoted(said.text)
        quote, sentences = text.locate(statement.quote), text.find(statement.quote)
        if quote is not None and sentences is not None:
            found.append(Passage(said, quote, sentences, around))
    wanted = content_words(statement.content) | content_words(statement.subject)
    return max(found, key=lambda each: _likeness(each, wanted), default=None)


def _likeness(passage: Passage, wanted: frozenset[str]) -> int:
    return len(wanted & (content_words(passage.sentence) | content_words(passage.said.speaker or "")))


def _subject(told: str, said: Said) -> tuple[str, bool]:
    """Return the subject as it is stored, and whether it is the speaker."""
    subject, speaker = seen(told), seen(said.speaker or "")
    is_named = bool(speaker) and not is_role(speaker)
    form = normal_form(subject)
    if not form or form in _SPEAKER or form == normal_form(speaker):
        return (speaker if is_named else "user"), True
    first = normal_form(speaker).split()[:1] if is_named else []
    return (speaker, True) if [form] == first else (subject, False)


def _in_order(findings: Sequence[Finding], turns: Sequence[Said]) -> list[Finding]:
    place = {(said.segment, said.n): n for n, said in enumerate(turns)}
    return sorted(findings, key=lambda each: (place[each.evidence.segment, each.evidence.passage], each.evidence.start))
