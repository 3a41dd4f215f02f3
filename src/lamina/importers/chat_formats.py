"""The data exports of ChatGPT and Claude. Only the messages that lead to the current one are imported."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lamina.capture.pieces import TextPiece
from lamina.importers.chat_export import ChatFormat, imported_conversation, moment_from_seconds, turn_pieces
from lamina.importers.import_items import ImportedConversation
from lamina.text.normal_form import one_line
from lamina.text.timestamps import parse_time_or_none

_CHATGPT_SPEAKERS = ("user", "assistant")
_CLAUDE_SPEAKERS = {"human": "user", "user": "user", "assistant": "assistant"}
_SPOKEN_CONTENT_TYPES = ("text", "multimodal_text", "code")
# ChatGPT puts citations and other markup between these private-use characters.
_MARKUP = re.compile("\ue200[^\ue201]{0,2000}\ue201|[\ue200-\ue2ff]")


def _parse_chatgpt(value: Mapping[str, Any], path: str) -> ImportedConversation:
    began = moment_from_seconds(value.get("create_time"))
    at, pieces = began, list[TextPiece]()
    for message in _chatgpt_messages(value["mapping"], value.get("current_node")):
        at = moment_from_seconds(message.get("create_time")) or at
        pieces += turn_pieces(message["author"]["role"], _chatgpt_text(message["content"]), at)
    own_id = value.get("conversation_id") or value.get("id")
    return imported_conversation("chatgpt", own_id, value.get("title"), began, pieces, path)


def _chatgpt_messages(mapping: Mapping[str, Any], leaf: object) -> list[Mapping[str, Any]]:
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
    if (message.get("author") or {}).get("role") not in _CHATGPT_SPEAKERS or not isinstance(
        message.get("content"), dict
    ):
        return False
    metadata = message.get("metadata") or {}
    hidden = metadata.get("is_visually_hidden_from_conversation") or message.get("weight") == 0
    to_a_tool = message.get("recipient") not in (None, "all")
    thought = (
        message.get("channel") == "analysis" or message["content"].get("content_type") not in _SPOKEN_CONTENT_TYPES
    )
    return not (hidden or to_a_tool or thought)


def _chatgpt_text(content: Mapping[str, Any]) -> str:
    parts = content.get("parts") or [content.get("text")]
    texts = (part if isinstance(part, str) else _transcribed_text(part) for part in parts)
    text = "\n\n".join(text for text in texts if text.strip())
    return text if text.isascii() else _MARKUP.sub("", text)


def _transcribed_text(part: object) -> str:
    """Return the transcript in a part that is not text; a picture has none."""
    text = part.get("text") if isinstance(part, dict) else None
    return text if isinstance(text, str) else ""


def _is_chatgpt(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("mapping"), dict)


CHATGPT = ChatFormat("ChatGPT export", _is_chatgpt, _parse_chatgpt)


def _parse_claude(value: Mapping[str, Any], path: str) -> ImportedConversation:
    began = parse_time_or_none(value.get("created_at"))
    at, pieces = began, list[TextPiece]()
    for message in _claude_messages(value["chat_messages"], value.get("current_leaf_message_uuid")):
        speaker = _CLAUDE_SPEAKERS.get(message.get("sender", ""))
        if speaker is None:
            continue
        at = parse_time_or_none(message.get("created_at")) or at
        pieces += turn_pieces(speaker, _claude_text(message), at)
        for name, text in _attachments(message):
            pieces += turn_pieces(speaker, text, at, context=name)
    return imported_conversation("claude", value.get("uuid"), value.get("name"), began, pieces, path)


def _claude_messages(messages: Sequence[Mapping[str, Any]], leaf: object) -> Sequence[Mapping[str, Any]]:
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


def _claude_text(message: Mapping[str, Any]) -> str:
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


def _is_claude(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("chat_messages"), list)


CLAUDE = ChatFormat("Claude export", _is_claude, _parse_claude)
