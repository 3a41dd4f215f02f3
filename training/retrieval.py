"""Ask every chat's questions through the engine and write down what it finds, for the ranker to learn from.

Usage: python -m training.retrieval OUT.jsonl [--embedder auto|light] [--held-out] [--all]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from training.chat_format import Chat
from training.examples import is_ranker_chat, load_chats, speaker_of, without_speaker

CANDIDATES = 30


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--embedder", default="auto")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--all", action="store_true", help="every training chat, not only the ranker's")
    options = parser.parse_args()
    os.environ["LAMINA_EMBEDDER"], os.environ["LAMINA_EXTRACTOR"] = options.embedder, "none"
    os.environ["LAMINA_STATE_MODEL"] = "off"
    chats = load_chats(held_out=options.held_out)
    chosen = [each for each in chats if options.all or options.held_out or is_ranker_chat(each)]
    with options.out.open("w", encoding="utf-8") as out:
        for chat in chosen:
            for row in ask_chat(chat):
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(f"{len(chosen)} chats")


def ask_chat(chat: Chat) -> list[dict]:
    """Capture a chat into a vault of its own and return what each question finds, best first."""
    import lamina
    from lamina.clock import FixedClock

    root = Path(tempfile.mkdtemp(prefix="retrieval-"))
    clock = FixedClock(_moment(chat.turns[0].day, 0))
    turn_at: dict[tuple[str, str], int] = {}
    with lamina.open(root / "vault", clock=clock, watch=False, background=False) as memory:
        for session in sorted({turn.session for turn in chat.turns}):
            turns = [turn for turn in chat.turns if turn.session == session]
            clock.at = max(clock.at, _moment(turns[-1].day, len(turns)))
            said = []
            for minute, turn in enumerate(turns):
                at = _moment(turn.day, minute).isoformat()
                text = without_speaker(turn.text)
                speaker = speaker_of(turn, chat) if text != turn.text else "user"
                said.append({"speaker": speaker, "content": text, "at": at})
                turn_at[datetime.fromisoformat(at).isoformat(), text] = turn.number
            memory.capture(said, session_id=f"{chat.id}-{session}", wait=True)
        clock.at += timedelta(days=2)
        rows = []
        for question in chat.questions:
            found = memory.recall(question.text, k=CANDIDATES)
            hits = [
                {
                    "turn": turn_at.get((hit.passage.at.isoformat() if hit.passage.at else "", hit.passage.text)),
                    "text": hit.passage.text, "at": hit.passage.at.timestamp() if hit.passage.at else 0.0,
                    "speaker": hit.passage.speaker, "session": hit.atom.session_id, "relevance": hit.relevance,
                    "terms": dict(hit.terms), "relevant": hit.relevant,
                }
                for hit in found.hits
            ]  # fmt: skip
            rows.append({"chat": chat.id, "question": question.text, "kind": question.kind, "gold": question.gold,
                         "now": clock.at.timestamp(), "hits": hits})  # fmt: skip
    shutil.rmtree(root)
    return rows


def _moment(day: str, minute: int) -> datetime:
    return datetime.fromisoformat(day).replace(hour=9, tzinfo=UTC) + timedelta(minutes=minute)


if __name__ == "__main__":
    main()
