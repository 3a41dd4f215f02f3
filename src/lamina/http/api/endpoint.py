"""Shared parts of every endpoint: the caller, how an endpoint is declared, and its JSON response."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar, get_args, get_origin

from fastapi import APIRouter, Depends, Header, Path, Request, params
from pydantic import BaseModel
from starlette.responses import Response

from lamina.access import Principal, ServedMemory
from lamina.documents.argument_types import MAX_KEY_LENGTH
from lamina.documents.json_document import JsonDocument
from lamina.http.operation_policies import OPERATION_POLICIES, READ, WRITE, OperationPolicy
from lamina.http.problem import ProblemDetails, ProblemError, validation_problem
from lamina.memory import Memory

F = TypeVar("F", bound=Callable[..., JsonDocument])

PROBLEM_CONTENT = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
_STATUS_DESCRIPTIONS: dict[int, str] = {
    400: "The request cannot be parsed, or its URL contains a token.",
    401: "No token, or one that is not valid.",
    403: "The right, the scope, the Host or the Origin is not allowed.",
    404: "Not in any scope this token may read.",
    408: "The body did not arrive in time.",
    409: "The store's rules forbid the change; the detail says what is allowed.",
    410: "It was erased.",
    413: "The body is larger than 1 MiB.",
    415: "The body is not declared as JSON.",
    422: "An argument is not valid; the detail names it.",
    424: "It needs a model that is missing or cannot be reached.",
    429: "The rate limit is exceeded; Retry-After says when to try again.",
    500: "Internal error; acknowledged writes are safe.",
    503: "The store is busy or failed; acknowledged writes are safe.",
    504: "The request timed out; it may still be completed.",
}
PROBLEM_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"description": text, "content": PROBLEM_CONTENT} for status, text in _STATUS_DESCRIPTIONS.items()
}


NOT_VAULT_ADMIN = ProblemDetails(
    403, "NotTheKeeper", "this concerns the whole vault; use a token with the right admin in the scope that is served"
)


@dataclass(frozen=True)
class CallerContext:
    """The caller of a request, and the memory that is served."""

    served_memory: ServedMemory
    caller: Principal
    key: str | None = None
    """The idempotency key of a write."""
    _memories: list[Memory] = field(default_factory=list)

    @property
    def memory(self) -> Memory:
        """The memory as this caller may use it. It may wait for the store, so only handlers in threads use it."""
        if not self._memories:  # a cached_property of Python 3.11 holds one lock for all instances
            self._memories.append(self.served_memory.memory_for(self.caller))
        return self._memories[0]

    @property
    def is_vault_admin(self) -> bool:
        """Return whether the caller administers the whole vault, not only its own scope."""
        return self.served_memory.is_vault_admin(self.caller)

    def require_vault_admin(self) -> None:
        """Raise ProblemError if the caller does not administer the whole vault."""
        if not self.is_vault_admin:
            raise ProblemError(NOT_VAULT_ADMIN)

    def scope_key(self, body: BaseModel, key_in_body: str | None = None) -> str | None:
        """Return an idempotency key that is unique to this caller and this body, or None if none was given.

        The middleware has already refused a known key that comes with another body.
        """
        given = self.key or key_in_body
        if not given:
            return None
        digest = hashlib.sha256(body.model_dump_json(exclude={"key", "wait"}).encode()).hexdigest()[:32]
        return f"{self.caller.name}:{given}:{digest}"


AtomIdPath = Annotated[str, Path(min_length=4, max_length=64, description="An atom's id, or its unmistakable end.")]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=MAX_KEY_LENGTH,
        pattern=r"^[!-~]([ -~]*[!-~])?$",
        description="A unique key for this write: sent again with the same key, it is done once and answered twice.",
    ),
]


async def get_caller_context(request: Request) -> CallerContext:
    """Return the caller context of a request that the middleware admitted."""
    return CallerContext(request.app.state.served_memory, request.state.caller)


async def get_write_context(request: Request, key: IdempotencyKey = None) -> CallerContext:
    """Return the caller context of a write, with its idempotency key."""
    return CallerContext(request.app.state.served_memory, request.state.caller, key)


CurrentCaller = Annotated[CallerContext, Depends(get_caller_context)]
CurrentWriter = Annotated[CallerContext, Depends(get_write_context)]


def read_endpoint(
    router: APIRouter, path: str, policy: OperationPolicy = READ, *, method: str = "GET"
) -> Callable[[F], F]:
    """Declare an endpoint that changes nothing; its handler returns a document."""
    return _declare_endpoint(router, path, policy, method)


def write_endpoint(router: APIRouter, path: str, policy: OperationPolicy = WRITE) -> Callable[[F], F]:
    """Declare an endpoint that changes something; its handler returns a document."""
    return _declare_endpoint(router, path, policy, "POST")


def reject_unknown_parameters(*single: str, repeatable: Iterable[str] = ()) -> params.Depends:
    """Reject unknown and repeated query parameters, so that a typing error is not ignored."""
    single_names, repeatable_names = frozenset(single), frozenset(repeatable)

    async def check(request: Request) -> None:
        names = [name for name, _ in request.query_params.multi_items()]
        unknown = [name for name in dict.fromkeys(names) if name not in single_names | repeatable_names]
        repeated = [name for name in single_names if names.count(name) > 1]
        errors = [(name, "is not a parameter of this operation") for name in unknown]
        errors += [(name, "is given twice") for name in repeated]
        if errors:
            raise ProblemError(
                validation_problem([{"loc": ("query", name), "msg": message} for name, message in errors])
            )

    return params.Depends(check)


def _reject_undeclared_parameters(signature: inspect.Signature) -> params.Depends:
    """Reject query parameters that the handler does not declare."""
    declared: dict[str, object] = {}
    for parameter in signature.parameters.values():
        kind, *metadata = get_args(parameter.annotation) or (parameter.annotation,)
        if any(isinstance(item, params.Query) for item in metadata):
            is_many = isinstance(kind, type) and issubclass(kind, BaseModel)
            fields = kind.model_fields if is_many else {}
            declared |= {name: item.annotation for name, item in fields.items()} or {parameter.name: kind}
    lists = [name for name, kind in declared.items() if _is_list(kind)]
    return reject_unknown_parameters(*(name for name in declared if name not in lists), repeatable=lists)


def _is_list(kind: object) -> bool:
    return get_origin(kind) is list or any(_is_list(arg) for arg in get_args(kind))


def _declare_endpoint(router: APIRouter, path: str, policy: OperationPolicy, method: str) -> Callable[[F], F]:
    def register(function: F) -> F:
        verb, signature = function.__name__.rstrip("_"), inspect.signature(function, eval_str=True)

        @functools.wraps(function)
        def respond(*args: Any, **named: Any) -> Response:
            """Serialise the document in the handler's thread, not on the event loop."""
            document = function(*args, **named)
            return Response(document.model_dump_json(exclude_unset=True), media_type="application/json")

        OPERATION_POLICIES[verb] = policy
        router.add_api_route(
            f"/v1{path}",
            respond,
            methods=[method],
            operation_id=verb,
            name=verb,
            response_model=signature.return_annotation,
            summary=verb.replace("_", " "),
            description=function.__doc__,
            responses=PROBLEM_RESPONSES,
            dependencies=[_reject_undeclared_parameters(signature)],
        )
        return function

    return register
