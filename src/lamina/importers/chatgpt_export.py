"""Read ChatGPT's data export. Each conversation is a tree; only the path to the current message is imported."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from lamina.capture.pieces import TextPiece
from lamina.importers.chat_export import ChatExport, imported_conversation, moment_from_seconds, turn_pieces
from lamina.importers.import_items import ImportedConversation, ImportStep

_SPEAKERS = ("user", "assistant")
_SPOKEN_CONTENT_TYPES = ("text", "multimodal_text", "code")
# ChatGPT puts citations and other markup between these private-use characters.
_MARKUP = re.compile("\ue200[^\ue201]{0,2000}\ue201|[\ue200-\ue2ff]")


@dataclass(frozen=True, slots=True)
class ChatGPTExport:
    """The conversations of a ChatGPT export."""

    export: ChatExport
    name: str = "ChatGPT export"

    @staticmethod
    def recognizes(value: object) -> bool:
        """Return whether a conversation has the format of ChatGPT."""
        return isinstance(value, dict) and isinstance(value.get("mapping"), dict)

    def total(self) -> int:
        return self.export.total()

    def steps(self) -> Iterator[ImportStep]:
        return self.export.steps(partial(_parse_conversation, path=self.export.path.name))


def _parse_conversation(value: Mapping[str, Any], path: str) -> ImportedConversation:
    began = moment_from_seconds(value.get("create_time"))
    at, pieces = began, list[TextPiece]()
    for message in _current_messages(value["mapping"], value.get("current_node")):
        at = moment_from_seconds(message.get("create_time")) or at
        pieces += turn_pieces(message["author"]["role"], _message_text(message["content"]), at)
    own_id = value.get("conversation_id") or value.get("id")
    return imported_conversation("chatgpt", own_id, value.get("title"), began, pieces, path)


def _current_messages(mapping: Mapping[str, Any], leaf: object) -> list[Mapping[str, Any]]:
    """Return the spoken messages from the first to the current one."""
    node = leaf if isinstance(leaf, str) and leaf in mapping else _latest_leaf(mapping)
    path: dict[str, Mapping[str, Any]] = {}
    while isinstance(node, str) and node in mapping and node not in path:
        path[node] = mapping[node].get("message") or {}
        node = mapping[node].get("parent")
    return [message for message in reversed(path.values()) if _is_spoken(message)]


def _latest_leaf(mapping: Mapping[str, Any]) -> str | None:
    """Return the newest leaf, for exports that do not name the current one."""
    leaves = [node for node, entry in mapping.items() if not entry.get("children")]
    return max(leaves, key=lambda node: _created_at(mapping[node]), default=None)


def _created_at(node: Mapping[str, Any]) -> float:
    seconds = (node.get("message") or {}).get("create_time")
    return float(seconds) if isinstance(seconds, int | float) else 0.0


def _is_spoken(message: Mapping[str, Any]) -> bool:
    """Return whether a message is text between user and assistant: no system text, tool call,
    reasoning or hidden note.
    """
    if (message.get("author") or {}).get("role") not in _SPEAKERS or not isinstance(message.get("content"), dict):
        return False
    metadata = message.get("metadata") or {}
    hidden = metadata.get("is_visually_hidden_from_conversation") or message.get("weight") == 0
    to_a_tool = message.get("recipient") not in (None, "all")
    thought = (
        message.get("channel") == "analysis" or message["content"].get("content_type") not in _SPOKEN_CONTENT_TYPES
    )
    return not (hidden or to_a_tool or thought)


def _message_text(content: Mapping[str, Any]) -> str:
    parts = content.get("parts") or [content.get("text")]
    texts = (part if isinstance(part, str) else _transcribed_text(part) for part in parts)
    text = "\n\n".join(text for text in texts if text.strip())
    return text if text.isascii() else _MARKUP.sub("", text)


def _transcribed_text(part: object) -> str:
    """Return the transcript in a part that is not text; a picture has none."""
    text = part.get("text") if isinstance(part, dict) else None
    return text if isinstance(text, str) else ""
