"""The order of the tour's steps. Every step runs real commands and checks their results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lamina.cli.chapters.change import Change
from lamina.cli.chapters.doors import Doors
from lamina.cli.chapters.files import Files
from lamina.cli.chapters.night import Night
from lamina.cli.chapters.talk import Talk
from lamina.cli.chapters.trust import Trust
from lamina.cli.chapters.work import Work
from lamina.cli.scene import Scene


class Story:
    """All chapters of the tour, on one vault."""

    def __init__(self, vault: Path) -> None:
        self.vault = vault
        ids: dict[str, str] = {}
        self._talk, self._files, self._change = Talk(vault, ids), Files(vault, ids), Change(vault, ids)
        self._trust, self._work, self._night = Trust(vault, ids), Work(vault, ids), Night(vault, ids)
        self._doors = Doors(vault, ids)

    def scenes(self) -> list[Callable[[], Scene]]:
        """Return the steps in their order; later ones build on earlier ones."""
        conversation, files, change, trust, agent_work = self._talk, self._files, self._change, self._trust, self._work
        dream, surfaces = self._night, self._doors
        return [
            conversation.capture,
            conversation.recall,
            conversation.meaning,
            conversation.xray,
            conversation.feedback,
            conversation.models,
            files.edit,
            files.drop,
            change.supersede,
            change.history,
            change.move,
            change.replay,
            change.as_of,
            change.correct,
            change.known_at,
            change.hush,
            change.erase,
            trust.hold,
            trust.feed,
            trust.dispute,
            trust.decide,
            trust.suspect,
            trust.release,
            agent_work.work,
            agent_work.block,
            agent_work.relate,
            dream.dream,
            dream.again,
            dream.undo,
            dream.keep,
            dream.code,
            dream.move,
            dream.picture,
            surfaces.token,
            surfaces.serve,
            surfaces.install,
            surfaces.hook,
            files.pin,
            files.forget,
            files.undo,
            files.broken,
            files.repair,
            files.lose_index,
            files.lose_everything,
            agent_work.export,
            agent_work.bundle,
            agent_work.stats,
        ]
