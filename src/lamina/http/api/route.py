"""What every operation shares: whoever asks, how it is declared, and how its answer leaves."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar, get_args, get_origin

from fastapi import APIRouter, Depends, Header, Path, Request, params
from pydantic import BaseModel
from starlette.responses import Response

from lamina.access import Caller, House
from lamina.documents.document import Document
from lamina.http.problem import Problem, invalid
from lamina.http.replies import LONGEST
from lamina.http.stop import Stop
from lamina.memory import Memory

F = TypeVar("F", bound=Callable[..., Response])

PROBLEM = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
_SAID: dict[int, str] = {
    400: "The request cannot be read, or its address holds a token.",
    401: "No token, or one that opens nothing.",
    403: "The right, the scope, the Host or the Origin is not permitted.",
    404: "Not in any scope this token may read.",
    408: "The body did not come in time.",
    409: "The store's rules forbid the change; the detail says what is allowed.",
    410: "A person had it erased.",
    413: "The body is larger than 1 MiB.",
    415: "The body is not declared as JSON.",
    422: "An argument cannot be used as it is; the detail names it.",
    424: "It needs a model that is missing or out of reach.",
    429: "The budget of this minute is used up; Retry-After says when there is more.",
    500: "Something went wrong; nothing acknowledged is lost.",
    503: "The store is busy or failed; nothing acknowledged is lost.",
    504: "It took too long; what was begun may still be done.",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"description": said, "content": PROBLEM} for status, said in _SAID.items()
}


NOT_THE_KEEPER = Problem(
    403, "NotTheKeeper", "this concerns the whole vault; it takes an admin's token of the scope the vault is served for"
)


@dataclass(frozen=True)
class Guest:
    """Whoever asks, and the house that is asked."""

    house: House
    caller: Caller
    _seat: list[Memory] = field(default_factory=list)

    @property
    def memory(self) -> Memory:
        """Their seat. It waits for the store, so only handlers on threads of their own take it."""
        if not self._seat:  # a cached_property of Python 3.11 would let all guests wait for one another
            self._seat.append(self.house.seat(self.caller))
        return self._seat[0]

    @property
    def keeps(self) -> bool:
        """Whether they look after the whole vault, and not only what is in their scope."""
        return self.house.is_kept_by(self.caller)

    def must_keep(self) -> None:
        """Stop who does not look after the whole vault."""
        if not self.keeps:
            raise Stop(NOT_THE_KEEPER)

    def key(self, given: str | None, body: BaseModel) -> str | None:
        """A key under the caller's own name and for these words: nobody meets another's, and no others are lost to it.

        Within the memory of a server the gate has refused a key that comes with other words.
        """
        if not given:
            return None
        said = hashlib.sha256(body.model_dump_json(exclude={"key", "wait"}).encode()).hexdigest()[:32]
        return f"{self.caller.name}:{given}:{said}"


async def guest(request: Request) -> Guest:
    """The guest of a request; the gate has let it in."""
    return Guest(request.app.state.house, request.state.caller)


Here = Annotated[Guest, Depends(guest)]
Id = Annotated[str, Path(min_length=4, max_length=64, description="An atom's id, or its unmistakable end.")]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=LONGEST,
        pattern=r"^[!-~]([ -~]*[!-~])?$",
        description="A name for this very write: sent again with the same one, it is done once and answered twice.",
    ),
]


def told(document: Document) -> Response:
    """A document on its way out; written here, on the handler's thread, and not on the loop."""
    return Response(document.model_dump_json(), media_type="application/json")


def reads(router: APIRouter, path: str, answer: type[Document], *, method: str = "GET") -> Callable[[F], F]:
    """Declare an operation that changes nothing."""
    return _declared(router, path, answer, method)


def writes(router: APIRouter, path: str, answer: type[Document]) -> Callable[[F], F]:
    """Declare an operation that changes something."""
    return _declared(router, path, answer, "POST")


def only(*once: str, often: Iterable[str] = ()) -> params.Depends:
    """Refuse what an address says beyond the arguments an operation has, or twice: no slip of the pen passes unseen."""
    known, many = frozenset(once), frozenset(often)

    async def check(request: Request) -> None:
        given = [name for name, _ in request.query_params.multi_items()]
        unknown = [name for name in dict.fromkeys(given) if name not in known | many]
        twice = [name for name in known if given.count(name) > 1]
        wrong = [(name, "is no argument here") for name in unknown] + [(name, "is there twice") for name in twice]
        if wrong:
            raise Stop(invalid([{"loc": ("query", name), "msg": said} for name, said in wrong]))

    return params.Depends(check)


def _only_those_of(function: Callable[..., Response]) -> params.Depends:
    """The arguments an operation takes from the address, and nothing else."""
    found: dict[str, object] = {}
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        kind, *about = get_args(parameter.annotation) or (parameter.annotation,)
        if any(isinstance(each, params.Query) for each in about):
            is_many = isinstance(kind, type) and issubclass(kind, BaseModel)
            fields = kind.model_fields if is_many else {}
            found |= {name: each.annotation for name, each in fields.items()} or {parameter.name: kind}
    often = [name for name, kind in found.items() if _is_list(kind)]
    return only(*(name for name in found if name not in often), often=often)


def _is_list(kind: object) -> bool:
    return get_origin(kind) is list or any(_is_list(arg) for arg in get_args(kind))


def _declared(router: APIRouter, path: str, answer: type[Document], method: str) -> Callable[[F], F]:
    def register(function: F) -> F:
        verb = function.__name__.rstrip("_")
        router.add_api_route(
            f"/v1{path}",
            function,
            methods=[method],
            operation_id=verb,
            name=verb,
            response_model=answer,
            summary=verb.replace("_", " "),
            description=function.__doc__,
            responses=PROBLEMS,
            dependencies=[_only_those_of(function)],
        )
        return function

    return register
