"""Step guidelines: keep what use has shown about what is worth storing on a page that extraction follows."""

from __future__ import annotations

from lamina.atom.atom import GUIDELINES_PAGE
from lamina.dream.guidelines import gather_tallies, write_guidelines
from lamina.dream.scope_pages import plan_root_page
from lamina.dream.step_context import StepContext
from lamina.dream.step_plan import StepPlan

_INTRODUCTION = (
    "What use has shown. Extraction with a chat model follows these lines, and list items that you write outside of "
    "this section."
)


def guidelines(context: StepContext) -> StepPlan:
    """Plan the guidelines page; without new lines an existing one stays as it is."""
    lines = write_guidelines(gather_tallies(context))
    if not lines:
        return StepPlan()
    generated = "\n".join(["# Guidelines", "", _INTRODUCTION, "", *(f"- {line}" for line in lines)])
    return plan_root_page(context, GUIDELINES_PAGE, generated, f"{len(lines)} guidelines")
