"""The order of the tour's steps. Every step runs real commands and checks their results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.tour.chapters.agent_work import AgentWorkChapter
from benchmarks.tour.chapters.change import ChangeChapter
from benchmarks.tour.chapters.conversation import ConversationChapter
from benchmarks.tour.chapters.dream import DreamChapter
from benchmarks.tour.chapters.files import FilesChapter
from benchmarks.tour.chapters.surfaces import SurfacesChapter
from benchmarks.tour.chapters.trust import TrustChapter
from benchmarks.tour.tour_chapter import TourStep


class TourPlan:
    """All chapters of the tour, on one vault."""

    def __init__(self, vault: Path) -> None:
        self.vault = vault
        ids: dict[str, str] = {}
        self._conversation, self._files, self._change = (
            ConversationChapter(vault, ids),
            FilesChapter(vault, ids),
            ChangeChapter(vault, ids),
        )
        self._trust, self._agent_work, self._dream = (
            TrustChapter(vault, ids),
            AgentWorkChapter(vault, ids),
            DreamChapter(vault, ids),
        )
        self._surfaces = SurfacesChapter(vault, ids)

    def steps(self) -> list[Callable[[], TourStep]]:
        """Return the steps in their order; later ones build on earlier ones."""
        conversation, files, change, trust, agent_work = (
            self._conversation,
            self._files,
            self._change,
            self._trust,
            self._agent_work,
        )
        dream, surfaces = self._dream, self._surfaces
        return [
            conversation.capture_conversation,
            conversation.recall_answer,
            conversation.recall_by_meaning,
            conversation.explain_score,
            conversation.give_feedback,
            conversation.list_models,
            files.edit_file,
            files.drop_note,
            change.supersede_value,
            change.show_history,
            change.replace_statement,
            change.replay_transcript,
            change.recall_past_truth,
            change.invalidate_statement,
            change.recall_past_knowledge,
            change.forget_on_request,
            change.erase_text,
            trust.hold_for_review,
            trust.import_from_inbox,
            trust.show_dispute,
            trust.decide_pair,
            trust.quarantine_session,
            trust.undo_quarantine,
            agent_work.run_task,
            agent_work.share_block,
            agent_work.relate_atoms,
            dream.run_dream,
            dream.repeat_dream,
            dream.undo_dream,
            dream.run_daemon_once,
            dream.capture_code,
            dream.resolve_commitment,
            dream.plot_memory,
            surfaces.create_token,
            surfaces.serve_requests,
            surfaces.print_host_config,
            surfaces.run_hook,
            files.pin_atom,
            files.forget_atom,
            files.undo_forget,
            files.break_file,
            files.repair_file,
            files.delete_index,
            files.delete_databases,
            agent_work.export_json,
            agent_work.export_bundle,
            agent_work.show_stats,
        ]
