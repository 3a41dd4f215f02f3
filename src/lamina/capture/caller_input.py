"""Input from callers: statements, turns and conversations, validated and redacted.

Recalled context that an agent sends back is removed first, then secrets are replaced."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Annotated, Any, Self, TypedDict, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    model_validator,
)

from lamina.argument_checks import describe_faults
from lamina.atom.atom import Atom, AtomId, Evidence, kind_defaults
from lamina.atom.kinds import Durability, Layer, MemoryType
from lamina.atom.metadata import MetadataValue, check_value, map_texts
from lamina.atom.provenance import Origin, Scope
from lamina.capture.echo_filter import remove_recalled_context, require_own_words
from lamina.capture.pieces import TextPiece, detect_format, split_text
from lamina.capture.redact import redact
from lamina.capture.statement_scores import score_valence
from lamina.errors import InvalidInput
from lamina.text.normal_form import one_line
from lamina.text.timestamps import TimeInput, parse_time, to_utc

CONTENT_LIMIT = 64 * 1024
LABEL_LIMIT = 500
_KIND = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_TEXTS = ("content", "subject", "attribute", "value")
_LISTS = ("tags", "entities")


def clean_text(text: str) -> str:
    """Return the text with uniform line ends; ValueError if it contains characters that no file can store."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("text may not contain NUL or lone surrogate characters")
    return text


def _check_label(text: str) -> str:
    label = one_line(clean_text(text))
    if len(label) > LABEL_LIMIT:
        raise ValueError(f"longer than {LABEL_LIMIT} characters")
    return label


def _check_content(text: str) -> str:
    content = clean_text(text).strip()
    if not content:
        raise ValueError("the content is empty; give a text to remember")
    if len(content.encode()) > CONTENT_LIMIT:
        raise ValueError("longer than 64 KiB; use capture for long text, it is stored in segments")
    return content


def _check_kind(kind: str) -> str:
    if not _KIND.fullmatch(kind):
        raise ValueError("must be one word in lower case, such as fact or preference")
    return kind


def _to_utc_moment(moment: datetime) -> datetime:
    try:
        return to_utc(moment)
    except OverflowError as error:
        raise ValueError("outside the years 1 to 9999 in UTC") from error


def _to_end_of_day(given: object) -> object:
    """Return the end of the day for a bare date, and any other value unchanged."""
    if isinstance(given, date) and not isinstance(given, datetime):
        given = given.isoformat()
    is_bare_date = isinstance(given, str) and len(given.strip()) == 10 and given.strip()[4] == "-"
    return parse_time(str(given), end=True) if is_bare_date else given


def _check_metadata_value(value: object) -> MetadataValue:
    return map_texts(check_value(value), clean_text)


UnitInterval = Annotated[float, Field(ge=0, le=1)]
Label = Annotated[str, AfterValidator(_check_label)]
UtcMoment = Annotated[datetime, AfterValidator(_to_utc_moment)]
EndMoment = Annotated[datetime, BeforeValidator(_to_end_of_day), AfterValidator(_to_utc_moment)]


MetadataInput = Annotated[MetadataValue, PlainValidator(_check_metadata_value)]


class RevisionFields(TypedDict, total=False):
    """The fields of a statement that a caller may set and change, beside its content; `Draft` checks their values."""

    kind: str
    subject: str
    attribute: str | None
    value: str | None
    tags: Sequence[str]
    entities: Sequence[str]
    metadata: Mapping[str, object]
    valid_from: TimeInput | None
    valid_until: TimeInput | None
    expires_at: TimeInput | None
    confidence: float
    importance: float
    valence: float | None
    durability: Durability | str | None
    memory_type: MemoryType | str | None


class StatementFields(RevisionFields, total=False):
    """The fields of a new statement, beside its content."""

    observed_at: TimeInput | None
    session_id: str | None
    source_id: str | None
    agents: Sequence[str]
    layer: Layer | str | None
    pinned: bool
    evidence: Sequence[Evidence]


class _InputModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


M = TypeVar("M", bound=_InputModel)


class Draft(_InputModel):
    """One explicit statement to remember."""

    content: Annotated[str, AfterValidator(_check_content)]
    kind: Annotated[str, AfterValidator(_check_kind)] = "fact"
    subject: Label = ""
    attribute: Label | None = None
    value: Label | None = None
    tags: tuple[Label, ...] = ()
    entities: tuple[Label, ...] = ()
    agents: tuple[Label, ...] = ()
    metadata: dict[Label, MetadataInput] = {}
    observed_at: UtcMoment | None = None
    source_id: Label | None = None
    session_id: Label | None = None
    valid_from: UtcMoment | None = None
    valid_until: EndMoment | None = None
    expires_at: UtcMoment | None = None
    pinned: bool = False
    confidence: UnitInterval = 1.0
    importance: UnitInterval = 0.5
    valence: Annotated[float, Field(ge=-1, le=1)] | None = None
    layer: Layer | None = None
    durability: Durability | None = None
    memory_type: MemoryType | None = None
    evidence: tuple[Evidence, ...] = ()

    @model_validator(mode="after")
    def _check_interval(self) -> Self:
        if self.valid_from and self.valid_until and self.valid_until <= self.valid_from:
            raise ValueError("valid_until must be later than valid_from")
        return self

    def to_atom(self, atom_id: AtomId, scope: Scope, origin: Origin, principal: str | None, now: datetime) -> Atom:
        """Return the atom that this draft describes, with the defaults of its kind and the valence of its words."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        overridden = {name: fields.pop(name) for name in ("layer", "durability", "memory_type")}
        traits = kind_defaults(self.kind, self.confidence, origin) | {
            k: v for k, v in overridden.items() if v is not None
        }
        fields["observed_at"] = self.observed_at or now
        fields["valence"] = score_valence(self.content) if self.valence is None else self.valence
        return Atom(id=atom_id, scope=scope, origin=origin, principal=principal, **fields, **traits)


class InputTurn(_InputModel):
    """A turn as input: the words of one speaker at one time."""

    content: Annotated[str, AfterValidator(clean_text)]
    speaker: Label | None = None
    role: Label | None = None
    at: UtcMoment | None = None

    @property
    def name(self) -> str | None:
        """The speaker, or the role if no speaker is given."""
        return self.speaker or self.role


class ConversationHeader(_InputModel):
    """The ids and the time of a conversation as a whole."""

    session_id: Label | None = None
    source_id: Label | None = None
    observed_at: UtcMoment | None = None


def parse_draft(**given: Any) -> Draft:
    """Return a draft made of keyword arguments; InvalidInput names the argument that is wrong."""
    return _validate(Draft, given)


def require_object(statement: object, index: int) -> Mapping[str, Any]:
    """Return one of several statements; InvalidInput with its index if it is not an object with fields."""
    if not isinstance(statement, Mapping):
        raise InvalidInput(f"statements.{index}: must be an object")
    return statement


def parse_conversation_header(**given: Any) -> ConversationHeader:
    """Return the header of a conversation made of keyword arguments; InvalidInput names the one that is wrong."""
    return _validate(ConversationHeader, given)


def parse_text(text: str) -> str:
    """Return plain text with uniform line ends; InvalidInput if it contains characters that no file can store."""
    try:
        return clean_text(text)
    except ValueError as error:
        raise InvalidInput(str(error)) from error


def parse_turns(turns: Sequence[dict[str, Any]]) -> list[InputTurn]:
    """Return the turns of a conversation without blank ones; InvalidInput names the turn that is wrong."""
    if isinstance(turns, Mapping):
        raise InvalidInput("capture takes a text or a list of turns; put a single turn into a list")
    return [
        turn
        for turn in (_validate(InputTurn, values, f"turn {n}") for n, values in enumerate(turns, 1))
        if turn.content.strip()
    ]


def _validate(model: type[M], values: object, noun: str = "input") -> M:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise InvalidInput(describe_faults(error, noun)) from error


def redact_fields(arguments: Mapping[str, Any], *, personal: bool = False) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the fields without secrets and recalled context, and the names of the secrets.

    Values that are not text stay as they are. InvalidInput if the content is nothing but recalled context.
    """
    secret_names: list[str] = []

    def redact_text(text: str) -> str:
        redacted = redact(text, personal=personal)
        secret_names.extend(secret.name for secret in redacted.secrets)
        return redacted.text

    def redact_value(value: Any) -> Any:
        return redact_text(value) if isinstance(value, str) else value

    def redact_metadata(value: Any) -> Any:
        return map_texts(tuple(value) if isinstance(value, list) else value, redact_text)

    fields = dict(arguments)
    if isinstance(fields.get("content"), str):
        fields["content"] = require_own_words(fields["content"])
    fields |= {name: redact_value(fields[name]) for name in _TEXTS if name in fields}
    for name in _LISTS:
        if isinstance(fields.get(name), list | tuple):
            fields[name] = [redact_value(item) for item in fields[name]]
    if isinstance(fields.get("metadata"), Mapping):
        fields["metadata"] = {key: redact_metadata(value) for key, value in fields["metadata"].items()}
    return fields, tuple(dict.fromkeys(secret_names))


@dataclass(frozen=True, slots=True)
class Conversation:
    """The text to store: pieces of one session.

    Also the names of redacted secrets and the number of removed blocks of recalled context.
    """

    pieces: tuple[TextPiece, ...]
    session_id: str
    source_id: str | None
    observed_at: datetime
    agents: tuple[str, ...] = ()
    redacted_secrets: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    recalled_blocks: int = 0


def parse_conversation(
    words: str | Sequence[InputTurn] | Sequence[TextPiece],
    session_id: str | None,
    source_id: str | None,
    observed_at: datetime,
    agents: tuple[str, ...] = (),
    *,
    file_name: str | None = None,
    tags: Sequence[str] = (),
    redact_personal: bool = False,
) -> Conversation:
    """Return the redacted pieces of a text or of a list of turns; InvalidInput if there is no text.

    A text is split by its format: a transcript into turns, markdown at headings, code at definitions. The `file_name`
    helps to detect the format. Without a `session_id`, one is derived from the words.
    """
    pieces, recalled = _split_words(words, observed_at, file_name)
    if not pieces:
        suffix = " besides recalled context" if recalled else ""
        raise InvalidInput(f"there are no words to capture{suffix}")
    redactor = _PieceRedactor(redact_personal)
    redacted_pieces = tuple(redactor.redact_piece(piece) for piece in pieces)
    session_name, source_name = redactor.redact_id(session_id or ""), redactor.redact_id(source_id or "")
    redacted_tags = tuple(dict.fromkeys(redactor.redact_label(tag) for tag in tags))
    return Conversation(
        redacted_pieces,
        session_name or _make_session_id(redacted_pieces, observed_at),
        source_name or None,
        observed_at,
        agents,
        tuple(redactor.secret_names),
        tags=redacted_tags,
        recalled_blocks=recalled,
    )


def _split_words(
    words: str | Sequence[InputTurn] | Sequence[TextPiece], observed_at: datetime, file_name: str | None
) -> tuple[list[TextPiece], int]:
    """Return the pieces, and the number of blocks of recalled context that were removed from them."""
    if isinstance(words, str):
        cleaned = remove_recalled_context(words)
        return split_text(
            cleaned.text, detect_format(cleaned.text, file_name), day=observed_at.date()
        ), cleaned.removed_blocks
    pieces, removed_blocks = list[TextPiece](), 0
    for part in words:
        piece = part if isinstance(part, TextPiece) else TextPiece(part.content, part.name, part.at or observed_at)
        cleaned = remove_recalled_context(piece.text)
        removed_blocks += cleaned.removed_blocks
        text = cleaned.text if isinstance(part, TextPiece) else cleaned.text.strip("\n")
        if text.strip() or not cleaned.removed_blocks:
            pieces.append(replace(piece, text=text))
    return pieces, removed_blocks


class _PieceRedactor:
    """Redacts pieces and labels and collects the names of the secrets.

    Labels are cached: many pieces share a heading.
    """

    def __init__(self, redact_personal: bool) -> None:
        self._personal = redact_personal
        self._labels: dict[str, str] = {"": ""}
        self.secret_names: list[str] = []

    def redact_piece(self, piece: TextPiece) -> TextPiece:
        """Return a piece with its text and labels redacted."""
        speaker = self.redact_label(piece.speaker) if piece.speaker else None
        return TextPiece(
            self._redact(piece.text), speaker, piece.at, self.redact_label(piece.context), self.redact_label(piece.page)
        )

    def redact_label(self, text: str) -> str:
        """Return a speaker, tag or heading redacted."""
        if text not in self._labels:
            self._labels[text] = self._redact(text)
        return self._labels[text]

    def redact_id(self, text: str) -> str:
        """Redact a session or source id. Personal numbers stay, because digits tell one id from another."""
        return self._redact(text, redact_personal=False)

    def _redact(self, text: str, redact_personal: bool | None = None) -> str:
        redacted = redact(text, personal=self._personal if redact_personal is None else redact_personal)
        self.secret_names += [secret.name for secret in redacted.secrets]
        return redacted.text


def _make_session_id(pieces: Sequence[TextPiece], at: datetime) -> str:
    words = "\n\n".join(piece.text for piece in pieces)
    return f"{at:%Y%m%d}-{hashlib.blake2b(words.encode(), digest_size=4).hexdigest()}"
