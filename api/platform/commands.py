"""Commands of routes: who asks, under which idempotency key; the message built, sent, and answered once.

Text is masked before it reaches workflow history, store or files.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, overload

import anyio.to_thread
from fastapi import Depends, Header, Request
from pydantic import BaseModel
from uuid_utils import uuid7

from api.platform.dependencies import ServicesDep, correlation_id_of, require
from api.services import Services
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import CommandReceipt
from contracts.learning.state_machine import SessionCommand
from contracts.platform.commands import CommitKey
from contracts.platform.identity import Principal, Scope
from domain.learning.redaction.redaction import redact
from gateways.platform.updates import OWN_KEY_PREFIX
from stores.platform.answers import Answers
from stores.platform.canonical import canonical_json, digest_of
from workflows.learning.learn_session_messages import LearnCommand

Message = TypeVar("Message", bound=BaseModel)
Body = TypeVar("Body", bound=BaseModel)

MAX_KEY_LENGTH = 120

KEY_PATTERN = r"^[ -~]+$"
"""What an ``Idempotency-Key`` is made of: printable ASCII."""

_CLIENT_KEY_PREFIX = "client-"
# So that no client can name the key of a deadline's decision, or of a request that brought none.


@dataclass(frozen=True)
class CommandFrame:
    """One request for a change: its caller, route, idempotency key and correlation id, and the services."""

    services: Services
    caller: Principal
    route: str
    header_key: str | None
    correlation_id: str

    @property
    def owner(self) -> str:
        """The user who asks, and owns what comes of it."""
        return self.caller.user_id

    def key_for(self, body: BaseModel | None) -> CommitKey:
        """The client's idempotency key, else a generated one, which is another at each call."""
        return self.client_key(body) or CommitKey(
            owner_user_id=self.owner,
            key=f"{OWN_KEY_PREFIX}{uuid7()}",
            request_digest=digest_of(canonical_json({"route": self.route})),
        )

    def client_key(self, body: BaseModel | None) -> CommitKey | None:
        """The client's idempotency key, from the header or the body.

        The digest covers route and body, so that a key cannot stand for two different requests.
        """
        given = self.header_key or getattr(body, "client_request_id", None)
        if not given:
            return None
        payload = body.model_dump(mode="json", exclude={"client_request_id"}) if body is not None else {}
        return CommitKey(
            owner_user_id=self.owner,
            key=_CLIENT_KEY_PREFIX + given,
            request_digest=digest_of(canonical_json({"route": self.route, "body": payload})),
        )

    def message(self, kind: type[Message], body: BaseModel | None, /, **fields: Any) -> Message:
        """The message of this command, with its idempotency key and correlation id."""
        return kind(commit_key=self.key_for(body), correlation_id=self.correlation_id, **fields)

    async def to_session(
        self,
        command: SessionCommand,
        session_id: str,
        message: LearnCommand,
        check: Callable[[], None] | None = None,
    ) -> CommandReceipt:
        """Sends one command to a session; ``check`` and the refusals are those of ``LearnGateway.send``."""
        return await self.services.gateway.send(command, session_id, message, check)

    async def to_proposal(
        self,
        command: SessionCommand,
        proposal_id: str,
        message: LearnCommand,
        check: Callable[[], None] | None = None,
    ) -> CommandReceipt:
        """Sends one command to the session of a proposal; ``check`` as in ``to_session``.

        Raises:
            Refusal: ``PROPOSAL_NOT_FOUND``, and as ``LearnGateway.send``.
        """
        proposal = await anyio.to_thread.run_sync(self.services.proposals.owned, proposal_id, self.owner)
        if proposal.learn_session_id is None:
            raise Refusal(ErrorCode.PROPOSAL_NOT_FOUND, "The proposal belongs to no session.")
        return await self.to_session(command, proposal.learn_session_id, message, check)

    async def first_answer(
        self, receipt: CommandReceipt, key: CommitKey, compose: Callable[[], Body], model: type[Body]
    ) -> Body:
        """The response composed now, or the one that this key was answered with the first time."""
        if receipt.kept_response is not None:
            return model.model_validate_json(receipt.kept_response)
        # Nothing is stored under a key that the server generated for this request alone.
        if key.key.startswith(OWN_KEY_PREFIX):
            return await anyio.to_thread.run_sync(compose)

        def keep() -> Body:
            kept = self.services.sessions.keep_response(key, canonical_json(compose()))
            return model.model_validate_json(kept)

        return await anyio.to_thread.run_sync(keep)

    async def answer_once(
        self, body: BaseModel | None, act: Callable[[], Awaitable[Body]], model: type[Body]
    ) -> Body:
        """Executes an idempotent write that no workflow decides, or returns the answer stored under the client's key.

        ``act`` must be safe to repeat: its answer is stored only after it has returned.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED`` before anything is done, and what ``act`` refuses.
        """
        key = self.client_key(body)
        if key is None:
            return await act()
        answers = Answers(self.services.database)
        kept = await anyio.to_thread.run_sync(answers.recall, key)
        if kept is None:
            answer = await act()
            kept = await anyio.to_thread.run_sync(answers.keep, key, answer.model_dump_json())
        return model.model_validate_json(kept)

    async def write_once(self, body: BaseModel | None, act: Callable[[], Body], model: type[Body]) -> Body:
        """As ``answer_once`` for a write that blocks; it runs in a thread."""
        return await self.answer_once(body, lambda: anyio.to_thread.run_sync(act), model)


def framed(scope: Scope) -> Callable[..., Awaitable[CommandFrame]]:
    """A dependency: the frame of a command by a caller with ``scope``.

    Raises:
        Refusal: ``UNAUTHENTICATED``, ``FORBIDDEN``.
    """

    async def frame(
        request: Request,
        services: ServicesDep,
        caller: Annotated[Principal, Depends(require(scope))],
        idempotency_key: Annotated[
            str | None,
            Header(
                min_length=1,
                max_length=MAX_KEY_LENGTH,
                pattern=KEY_PATTERN,
                description="Makes a repeated request harmless: for 24 hours the same key and request get the "
                "first answer, the same key with another request `IDEMPOTENCY_KEY_REUSED`.",
            ),
        ] = None,
    ) -> CommandFrame:
        route = f"{request.method} {request.url.path}"
        return CommandFrame(services, caller, route, idempotency_key, correlation_id_of(request))

    return frame


LearnerFrame = Annotated[CommandFrame, Depends(framed(Scope.LEARN))]
ObserverFrame = Annotated[CommandFrame, Depends(framed(Scope.OBSERVE))]
ApproverFrame = Annotated[CommandFrame, Depends(framed(Scope.APPROVE))]
InstallerFrame = Annotated[CommandFrame, Depends(framed(Scope.INSTALL))]
ToolUserFrame = Annotated[CommandFrame, Depends(framed(Scope.CALL))]
AdminFrame = Annotated[CommandFrame, Depends(framed(Scope.ADMIN))]


@overload
def masked(text: str) -> str: ...
@overload
def masked(text: None) -> None: ...
def masked(text: str | None) -> str | None:
    """``text`` without its secrets. The mask never makes it longer than its field allows."""
    if text is None:
        return None
    return redact(text).text[: max(len(text), 1)]


def masked_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """``fields`` with every text in them masked, however deep."""
    return {name: _masked_value(value) for name, value in fields.items()}


def _masked_value(value: Any) -> Any:
    match value:
        case str():
            return masked(value)
        case list() | tuple():
            return [_masked_value(part) for part in value]  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return masked_fields(value)  # pyright: ignore[reportUnknownArgumentType]
        case _:
            return value
