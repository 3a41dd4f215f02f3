"""Read Claude's data export: conversations with a list of messages and the text of their attachments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from lamina.capture.pieces import TextPiece
from lamina.importers.chat_export import ChatExport, imported_conversation, turn_pieces
from lamina.importers.import_items import ImportedConversation, ImportStep
from lamina.text.normal_form import one_line
from lamina.text.timestamps import parse_time

_SPEAKERS = {"human": "user", "user": "user", "assistant": "assistant"}


@dataclass(frozen=True, slots=True)
class ClaudeExport:
    """The conversations of a Claude export."""

    export: ChatExport
    name: str = "Claude export"

    @staticmethod
    def recognizes(value: object) -> bool:
        """Return whether a conversation has the format of Claude."""
        return isinstance(value, dict) and isinstance(value.get("chat_messages"), list)

    def total(self) -> int:
        return self.export.total()

    def steps(self) -> Iterator[ImportStep]:
        return self.export.steps(partial(_parse_conversation, path=self.export.path.name))


def _parse_conversation(value: Mapping[str, Any], path: str) -> ImportedConversation:
    began = _parse_moment(value.get("created_at"))
    at, pieces = began, list[TextPiece]()
    for message in _current_messages(value["chat_messages"], value.get("current_leaf_message_uuid")):
        speaker = _SPEAKERS.get(message.get("sender", ""))
        if speaker is None:
            continue
        at = _parse_moment(message.get("created_at")) or at
        pieces += turn_pieces(speaker, _message_text(message), at)
        for name, text in _attachments(message):
            pieces += turn_pieces(speaker, text, at, context=name)
    return imported_conversation("claude", value.get("uuid"), value.get("name"), began, pieces, path)


def _current_messages(messages: Sequence[Mapping[str, Any]], leaf: object) -> Sequence[Mapping[str, Any]]:
    """Return the messages that lead to the last one; all of them if the export does not say which message answers
    which.
    """
    by_id = {message.get("uuid"): message for message in messages}
    if not any(message.get("parent_message_uuid") in by_id for message in messages):
        return messages
    node = leaf if leaf in by_id else messages[-1].get("uuid")
    path: dict[object, Mapping[str, Any]] = {}
    while node in by_id and node not in path:
        path[node] = by_id[node]
        node = by_id[node].get("parent_message_uuid")
    return [*reversed(path.values())]


def _message_text(message: Mapping[str, Any]) -> str:
    """Return the text of a message, without reasoning and tool use."""
    blocks = message.get("content")
    spoken = [
        block["text"]
        for block in (blocks if isinstance(blocks, list) else [])
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]
    text = message.get("text")
    return "\n\n".join(part for part in spoken if part.strip()) or (text if isinstance(text, str) else "")


def _attachments(message: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for file in message.get("attachments") or ():
        text = file.get("extracted_content")
        if isinstance(text, str) and text.strip():
            yield one_line(str(file.get("file_name") or "attachment"))[:200], text


def _parse_moment(text: object) -> datetime | None:
    try:
        return parse_time(text) if isinstance(text, str) else None
    except ValueError:
        return None
