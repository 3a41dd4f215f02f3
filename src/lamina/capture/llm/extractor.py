"""The extractor that asks a chat model: assess, extract, check. Whatever goes wrong, another extractor stands in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lamina.atom.atom import Evidence
from lamina.atom.kinds import Durability, Layer, traits
from lamina.capture.found import Extractor, Finding, Said
from lamina.capture.llm.prompts import assessing, extracting
from lamina.capture.llm.quotes import Quoted
from lamina.capture.llm.run import Shown, runs
from lamina.capture.llm.shapes import Assessment, Extracted, FoundStatement
from lamina.capture.llm.support import day_told, days_named, is_borne_out, stands_in
from lamina.models.chat import MOST_TOKENS, Chat
from lamina.models.errors import ModelError
from lamina.models.fence import seen
from lamina.text.normal import normal_form
from lamina.text.roles import is_assistant, is_role

CAPS: Mapping[str, int] = {"facts": 12, "entities": 6, "questions": 3, "profile": 4}
"""How many statements of a family are taken from one run."""
CONFIDENCE: Mapping[str, float] = {"stated": 0.95, "implied": 0.8, "guessed": 0.5}
_SPEAKER = frozenset({"i", "me", "myself", "user", "the user", "speaker", "the speaker"})


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was found and by whom. `trouble` is why the model's findings do not stand and others' do; `unsupported` how
    many statements of the model nobody had said; `skipped` how many runs it thought worth nothing."""

    findings: tuple[Finding, ...]
    by: str
    trouble: str | None = None
    unsupported: int = 0
    skipped: int = 0


class LlmExtractor:
    """Reads with a chat model; keeps only statements whose quote, names, numbers and value stand in the words."""

    instant = False

    def __init__(self, chat: Chat, fallback: Extractor, *, most_tokens: int = MOST_TOKENS) -> None:
        self._chat, self._fallback, self._most_tokens = chat, fallback, most_tokens

    @property
    def name(self) -> str:
        return f"llm {self._chat.model}"

    def extract(self, turns: Sequence[Said], before: Sequence[Said] = ()) -> list[Finding]:
        """Every statement the turns make, in their order; `before` are the turns that led up to them."""
        return list(self.extract_told(turns, before).findings)

    def extract_told(self, turns: Sequence[Said], before: Sequence[Said] = ()) -> Extraction:
        """The same, with who found it and why it was not the model where it was not."""
        findings: list[Finding] = []
        unsupported = skipped = 0
        try:
            for run in runs(turns):
                statements = self._statements(run, before)
                if statements is None:
                    skipped += 1
                    continue
                found = list(_checked(statements, run, before))
                unsupported += len(statements) - len(found)
                findings += _capped(found)
        except ModelError as error:
            return self._stood_in(turns, before, str(error))
        if unsupported and not findings:
            trouble = f"nothing that {self._chat.model} found stands in the words ({unsupported} statements)"
            return self._stood_in(turns, before, trouble, unsupported)
        return Extraction(tuple(_in_order(findings, turns)), self.name, None, unsupported, skipped)

    def _stood_in(
        self, turns: Sequence[Said], before: Sequence[Said], trouble: str, unsupported: int = 0
    ) -> Extraction:
        found = self._fallback.extract(turns, before)
        return Extraction(tuple(found), self._fallback.name, trouble, unsupported)

    def _statements(self, run: Sequence[Shown], before: Sequence[Said]) -> list[FoundStatement] | None:
        """What the model finds in a run; None where it is worth nothing."""
        worth = self._chat.ask(assessing(run, before), Assessment, most_tokens=self._most_tokens).value
        if worth.is_worthless:
            return None
        return self._chat.ask(extracting(run, before), Extracted, most_tokens=self._most_tokens).value.statements


def extraction(extractor: Extractor, turns: Sequence[Said], before: Sequence[Said] = ()) -> Extraction:
    """What any extractor finds, told in the same way."""
    if isinstance(extractor, LlmExtractor):
        return extractor.extract_told(turns, before)
    return Extraction(tuple(extractor.extract(turns, before)), extractor.name)


def _checked(statements: Sequence[FoundStatement], run: Sequence[Shown], before: Sequence[Said]) -> Iterator[Finding]:
    ready = [Quoted(each.said.text) for each in run]
    for statement in statements:
        first = min(statement.turn, len(run)) - 1
        for n in (first, *(n for n in range(len(run)) if n != first)):
            span = ready[n].find(statement.quote)
            if span is not None:
                finding = _finding(statement, run[n].said, span, _around(run, before))
                yield from [finding] if finding else []
                break


def _around(run: Sequence[Shown], before: Sequence[Said]) -> list[str]:
    said = [each.said for each in run] + list(before)
    return [*(each.text for each in said), *(each.speaker or "" for each in said)]


def _finding(told: FoundStatement, said: Said, span: tuple[int, int], around: Sequence[str]) -> Finding | None:
    """A statement with only what the words bear out; None where they do not bear out what it says."""
    start, end = day_told(told.valid_from, said), day_told(told.valid_until, said, end=True)
    start, end = (None, None) if start and end and start >= end else (start, end)
    content, subject = seen(told.content), _subject(told.subject, said)
    days = days_named(said, start, end)
    if not normal_form(content) or not all(is_borne_out(each, around, days) for each in (content, f"of {subject}")):
        return None
    attribute = seen(told.attribute).lower() or None
    value = seen(told.value) if attribute and stands_in(told.value, said.text[span[0] : span[1]]) else None
    return Finding(
        content=content, kind=told.kind, evidence=Evidence(said.segment, said.n, *span), subject=subject,
        attribute=attribute if value else None, value=value,
        confidence=CONFIDENCE[told.certainty], durability=Durability(told.durability),
        entities=tuple(dict.fromkeys(seen(each) for each in told.entities if stands_in(each, " ".join(around)))),
        valid_from=start, valid_until=end, corrects=told.corrects,
    )  # fmt: skip


def _subject(told: str, said: Said) -> str:
    subject = seen(told)
    if subject and normal_form(subject) not in _SPEAKER:
        return subject
    if said.speaker and not is_role(said.speaker):
        return seen(said.speaker)
    return "assistant" if is_assistant(said.speaker) else "user"


def _capped(found: Sequence[Finding]) -> Iterator[Finding]:
    """The first ones of each family."""
    taken = dict.fromkeys(CAPS, 0)
    for finding in found:
        family = _family(finding.kind)
        taken[family] += 1
        if taken[family] <= CAPS[family]:
            yield finding


def _family(kind: str) -> str:
    if kind in ("entity", "question"):
        return "entities" if kind == "entity" else "questions"
    return "profile" if traits(kind).layer is Layer.PROFILE else "facts"


def _in_order(findings: Sequence[Finding], turns: Sequence[Said]) -> list[Finding]:
    place = {(each.segment, each.n): n for n, each in enumerate(turns)}
    return sorted(findings, key=lambda each: (place[each.evidence.segment, each.evidence.passage], each.evidence.start))
