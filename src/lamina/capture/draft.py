"""What comes in from outside, checked once at the border."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from lamina.atom.atom import Atom, Evidence, kind_defaults
from lamina.atom.identity import AtomId
from lamina.atom.kinds import Durability, Layer, MemoryType
from lamina.atom.scope import Scope
from lamina.atom.trust import Origin
from lamina.errors import InvalidInput
from lamina.text.normal import one_line
from lamina.text.times import to_utc

CONTENT_LIMIT = 64 * 1024
LABEL_LIMIT = 500


def clean_text(text: str) -> str:
    """The text with one kind of line end; refused where no file could hold it."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("text may not hold NUL or lone surrogate characters")
    return text


def _label(text: str) -> str:
    label = one_line(clean_text(text))
    if len(label) > LABEL_LIMIT:
        raise ValueError(f"longer than {LABEL_LIMIT} characters")
    return label


def _content(text: str) -> str:
    content = clean_text(text).strip()
    if not content:
        raise ValueError("the content is empty; say something to remember")
    if len(content.encode()) > CONTENT_LIMIT:
        raise ValueError("longer than 64 KiB; capture long text instead, it is kept in pieces")
    return content


Label = Annotated[str, AfterValidator(_label)]
Moment = Annotated[datetime, AfterValidator(to_utc)]


class _Border(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


M = TypeVar("M", bound=_Border)


class Draft(_Border):
    """One explicit statement to remember."""

    content: Annotated[str, AfterValidator(_content)]
    kind: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")] = "fact"
    subject: Label = ""
    attribute: Label | None = None
    value: Label | None = None
    tags: tuple[Label, ...] = ()
    entities: tuple[Label, ...] = ()
    agents: tuple[Label, ...] = ()
    metadata: dict[Label, Annotated[str, AfterValidator(clean_text)]] = {}
    observed_at: Moment | None = None
    source_id: Label | None = None
    session_id: Label | None = None
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    expires_at: Moment | None = None
    pinned: bool = False
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    importance: Annotated[float, Field(ge=0, le=1)] = 0.5
    layer: Layer | None = None
    durability: Durability | None = None
    memory_type: MemoryType | None = None
    evidence: tuple[Evidence, ...] = ()

    def to_atom(self, atom_id: AtomId, scope: Scope, origin: Origin, principal: str | None, now: datetime) -> Atom:
        """The atom this draft describes, its kind's traits filled in."""
        given = {name: getattr(self, name) for name in type(self).model_fields}
        overridden = {name: given.pop(name) for name in ("layer", "durability", "memory_type")}
        own = kind_defaults(self.kind, self.confidence, origin) | {k: v for k, v in overridden.items() if v is not None}
        given["observed_at"] = self.observed_at or now
        return Atom(id=atom_id, scope=scope, origin=origin, principal=principal, **given, **own)


class Turn(_Border):
    """One thing somebody said."""

    content: Annotated[str, AfterValidator(clean_text)]
    speaker: Label | None = None
    role: Label | None = None
    at: Moment | None = None

    @property
    def name(self) -> str | None:
        return self.speaker or self.role


def parse_draft(content: str, **given: Any) -> Draft:
    """A draft from a caller's arguments, or InvalidInput that says which one is wrong."""
    return _parsed(Draft, {"content": content, **given})


def parse_text(text: str) -> str:
    """Plain words from a caller, or InvalidInput where no file could hold them."""
    try:
        return clean_text(text)
    except ValueError as error:
        raise InvalidInput(str(error)) from error


def parse_turns(turns: Sequence[dict[str, Any]]) -> list[Turn]:
    """The turns of a conversation; blank ones are left out."""
    return [turn for turn in (_parsed(Turn, dict(each)) for each in turns) if turn.content.strip()]


def _parsed(model: type[M], values: dict[str, Any]) -> M:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        said = "; ".join(
            f"{'.'.join(str(part) for part in each['loc']) or 'input'}: {each['msg'].removeprefix('Value error, ')}"
            for each in error.errors()
        )
        raise InvalidInput(said) from error
