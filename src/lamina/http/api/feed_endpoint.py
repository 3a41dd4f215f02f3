"""The endpoint of the change feed."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response, StreamingResponse

from lamina.http.api.endpoint import PROBLEM_RESPONSES, CurrentCaller, reject_unknown_parameters
from lamina.http.problem import ProblemDetails, ProblemError

router = APIRouter(tags=["reading"])

TOO_MANY_LISTENERS = ProblemDetails(
    503, "TooManyListeners", "too many clients listen already; try again later", headers={"Retry-After": "10"}
)
_POSITION = re.compile(r"[0-9]{1,15}")
_STREAM_RESPONSE = {
    "description": "Server-sent events; their ids are journal positions.",
    "content": {"text/event-stream": {}},
}


@router.get(
    "/v1/feed",
    operation_id="feed",
    name="feed",
    response_class=StreamingResponse,
    responses={**PROBLEM_RESPONSES, 200: _STREAM_RESPONSE},
    dependencies=[reject_unknown_parameters("since", "reasons")],
)
async def feed(
    request: Request,
    context: CurrentCaller,
    since: Annotated[int | None, Query(ge=0, le=2**53, description="Start after this journal position.")] = None,
    last_event_id: Annotated[
        str | None,
        Header(alias="Last-Event-ID", description="The same, as browsers send it; it takes precedence over `since`."),
    ] = None,
    reasons: Annotated[bool, Query(description="Include the reasons of commits, which may quote content.")] = False,
) -> Response:
    """Stream every commit of this token's scopes as it happens."""
    change_feed = request.app.state.feed
    if change_feed.is_full:
        raise ProblemError(TOO_MANY_LISTENERS)
    position = int(last_event_id) if last_event_id and _POSITION.fullmatch(last_event_id) else since
    stream = change_feed.stream(context.caller, position, reasons=reasons)
    return StreamingResponse(stream, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
