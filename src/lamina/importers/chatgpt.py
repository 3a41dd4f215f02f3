"""Read ChatGPT's data export. Each conversation is a tree; only the path to the current message is imported."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from lamina.capture.pieces import Piece
from lamina.importers.export import Export, conversation, moment_of, turn
from lamina.importers.item import ImportedConversation, Step

_SPEAKERS = ("user", "assistant")
_SPOKEN = ("text", "multimodal_text", "code")
# ChatGPT puts citations and other markup between these private-use characters.
_MARKUP = re.compile("\ue200[^\ue201]{0,2000}\ue201|[\ue200-\ue2ff]")


@dataclass(frozen=True, slots=True)
class ChatGPT:
    """The conversations of a ChatGPT export."""

    export: Export
    name: str = "ChatGPT export"

    @staticmethod
    def claims(value: object) -> bool:
        """Return whether a conversation has the format of ChatGPT."""
        return isinstance(value, dict) and isinstance(value.get("mapping"), dict)

    def total(self) -> int:
        return self.export.total()

    def steps(self) -> Iterator[Step]:
        return self.export.steps(partial(_conversation, path=self.export.path.name))


def _conversation(value: Mapping[str, Any], path: str) -> ImportedConversation:
    began = moment_of(value.get("create_time"))
    at, pieces = began, list[Piece]()
    for message in _messages(value["mapping"], value.get("current_node")):
        at = moment_of(message.get("create_time")) or at
        pieces += turn(message["author"]["role"], _words(message["content"]), at)
    own_id = value.get("conversation_id") or value.get("id")
    return conversation("chatgpt", own_id, value.get("title"), began, pieces, path)


def _messages(mapping: Mapping[str, Any], leaf: object) -> list[Mapping[str, Any]]:
    """Return the spoken messages from the first to the current one."""
    node = leaf if isinstance(leaf, str) and leaf in mapping else _latest(mapping)
    path: dict[str, Mapping[str, Any]] = {}
    while isinstance(node, str) and node in mapping and node not in path:
        path[node] = mapping[node].get("message") or {}
        node = mapping[node].get("parent")
    return [message for message in reversed(path.values()) if _was_spoken(message)]


def _latest(mapping: Mapping[str, Any]) -> str | None:
    """Return the newest leaf, for exports that do not name the current one."""
    leaves = [node for node, entry in mapping.items() if not entry.get("children")]
    return max(leaves, key=lambda node: _time(mapping[node]), default=None)


def _time(node: Mapping[str, Any]) -> float:
    seconds = (node.get("message") or {}).get("create_time")
    return float(seconds) if isinstance(seconds, int | float) else 0.0


def _was_spoken(message: Mapping[str, Any]) -> bool:
    """Return whether a message is text between user and assistant: no system text, tool call,
    reasoning or hidden note.
    """
    if (message.get("author") or {}).get("role") not in _SPEAKERS or not isinstance(message.get("content"), dict):
        return False
    metadata = message.get("metadata") or {}
    hidden = metadata.get("is_visually_hidden_from_conversation") or message.get("weight") == 0
    to_a_tool = message.get("recipient") not in (None, "all")
    thought = message.get("channel") == "analysis" or message["content"].get("content_type") not in _SPOKEN
    return not (hidden or to_a_tool or thought)


def _words(content: Mapping[str, Any]) -> str:
    parts = content.get("parts") or [content.get("text")]
    texts = (part if isinstance(part, str) else _transcribed(part) for part in parts)
    text = "\n\n".join(text for text in texts if text.strip())
    return text if text.isascii() else _MARKUP.sub("", text)


def _transcribed(part: object) -> str:
    """Return the transcript in a part that is not text; a picture has none."""
    text = part.get("text") if isinstance(part, dict) else None
    return text if isinstance(text, str) else ""
