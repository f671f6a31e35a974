"""Invocations of skills: ask, read, confirm, give up (skills_interface.md "Routes")."""

import re
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated

import anyio.to_thread
from fastapi import APIRouter, Depends, Header, Path, Query, Response

from api.platform.commands import ApproverFrame, CommandFrame, framed, masked
from api.platform.dependencies import PageDep, Reader, ServicesDep, parse_digest, parse_uuid
from api.platform.pictures import SVG_RESPONSES, svg_response
from api.skills.catalog import SkillName
from contracts.errors import ErrorCode, Refusal
from contracts.learning.starting_state import ARCHIVE_TYPE
from contracts.platform.identity import Scope
from contracts.skills.catalog import InspectFolder
from contracts.skills.invocation import (
    OPEN_INVOCATION_STATUSES,
    CancelInvocationRequest,
    ConfirmInvocationRequest,
    InvocationListResponse,
    InvocationStatus,
    InvocationView,
    InvokeSkillRequest,
)
from contracts.skills.learned import SkillLane
from gateways.skills.choosing import Chosen, unapproved
from stores.learning.trials import TrialStore
from stores.platform.answers import Answers
from stores.skills.services.content_cards import ContentCards

MOST_WAITED = timedelta(seconds=300)
"""The longest that an answer is waited for with ``Prefer: wait=N``."""

_WAIT = re.compile(r"(?:^|[,;\s])wait=(\d{1,4})(?:$|[,;\s])")

router = APIRouter(prefix="/api/skills", tags=["skills"])

ReaderFrame = Annotated[CommandFrame, Depends(framed(Scope.READ))]


def _invocation_id(invocation_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(invocation_id, ErrorCode.SKILL_INVOCATION_NOT_FOUND, "invocation")


InvocationId = Annotated[str, Depends(_invocation_id)]


def _card_digest(card_digest: Annotated[str, Path(max_length=200)]) -> str:
    return parse_digest(card_digest, "picture")


CardDigest = Annotated[str, Depends(_card_digest)]


@router.get("/invocations", operation_id="skill_invocation_list")
def list_invocations(
    caller: Reader,
    services: ServicesDep,
    page: PageDep,
    skill: Annotated[str | None, Query(max_length=80, pattern=r"^[A-Za-z0-9_-]+$")] = None,
    status: InvocationStatus | None = None,
) -> InvocationListResponse:
    """The caller's invocations, newest first."""
    name = skill.replace("_", "-") if skill is not None else None
    found, counts = services.skills.invocations.page(caller.user_id, page, skill=name, status=status)
    return InvocationListResponse(invocations=found, **counts)


@router.get("/invocations/{invocation_id}", operation_id="skill_invocation_get")
def get(invocation_id: InvocationId, caller: Reader, services: ServicesDep) -> InvocationView:
    """One invocation of the caller's, with what came of it. A run that failed is data: this answers 200."""
    return services.skills.invocations.view(invocation_id, caller.user_id)


@router.get(
    "/invocations/{invocation_id}/folder",
    operation_id="skill_invocation_folder",
    response_class=Response,
    responses={200: {"content": {ARCHIVE_TYPE: {"schema": {"type": "string", "format": "binary"}}}}},
)
def folder(invocation_id: InvocationId, caller: Reader, services: ServicesDep) -> Response:
    """The folder that a script of a learned ability made of its copy, as a gzip'd tar archive. It is kept for a day."""
    view = services.skills.invocations.view(invocation_id, caller.user_id)
    digest = (view.outputs or {}).get("folder_digest") if view.lane is SkillLane.LEARNED_SCRIPT else None
    if digest is None:
        raise Refusal(ErrorCode.NOT_FOUND, "This invocation has no resulting folder.")
    content = TrialStore(services.database).kept_result(caller.user_id, digest, datetime.now(UTC))
    return Response(content, media_type=ARCHIVE_TYPE)


@router.get(
    "/media/{card_digest}",
    operation_id="skill_media",
    response_class=Response,
    responses=SVG_RESPONSES,
)
def media(card_digest: CardDigest, caller: Reader, services: ServicesDep) -> Response:
    """The picture that ``generate_content`` made where no tool does, for the user it was made for; kept for 31 days."""
    return svg_response(ContentCards(services.database).card(caller.user_id, card_digest, datetime.now(UTC)))


@router.post(
    "/{name}/invocations",
    operation_id="skill_invoke",
    status_code=202,
    responses={200: {"model": InvocationView, "description": "It is over."}},
)
async def invoke(
    name: SkillName,
    body: InvokeSkillRequest,
    frame: ReaderFrame,
    response: Response,
    prefer: Annotated[
        str | None, Header(max_length=200, description="`wait=N` waits up to N seconds for the end.")
    ] = None,
) -> InvocationView:
    """Asks for one invocation. A read needs the scope ``read``, anything else ``call``.

    The name of a learned ability runs one of its scripts on a copy of a folder that was handed in (input ``script``,
    ``arguments``, ``folder``): always asked first, in a sandbox.

    With ``unapproved`` a folder is tried out that nobody has approved: needs the scope ``admin``; it gets none of the
    permissions that it asks for.

    The answer has what there is: 200 when it is over, 202 while it runs or waits for a person.
    """
    gateway = frame.services.skills.invocation_gateway
    key = frame.key_for(body)
    if frame.client_key(body) is not None:
        # A repeated request finds the invocation as it stands by then; the key is this request's alone.
        await anyio.to_thread.run_sync(Answers(frame.services.database).hold, key)
    skill: Chosen | str = name
    if body.unapproved:
        frame.caller.require(Scope.ADMIN, "Running what nobody has approved")
        order = frame.message(InspectFolder, body, by=frame.owner, name=name)
        skill = unapproved(await frame.services.skills.catalog_gateway.inspect(order))
    view = await gateway.invoke(skill, body, frame.caller, key, frame.correlation_id, wait=_waited(prefer))
    if view.status not in OPEN_INVOCATION_STATUSES:
        response.status_code = 200
    return view


@router.post("/invocations/{invocation_id}/confirm", operation_id="skill_invocation_confirm")
async def confirm(
    invocation_id: InvocationId, body: ConfirmInvocationRequest, frame: ApproverFrame
) -> InvocationView:
    """Lets an invocation that waits pass, or refuses it. The first answer wins."""
    asked = body.changed(reason=masked(body.reason))
    gateway = frame.services.skills.invocation_gateway
    return await gateway.confirm(invocation_id, asked, frame.caller, frame.key_for(body))


@router.post("/invocations/{invocation_id}/cancel", operation_id="skill_invocation_cancel")
async def cancel(
    invocation_id: InvocationId, body: CancelInvocationRequest, frame: ReaderFrame
) -> InvocationView:
    """Gives an invocation up. One that runs may have had its effect; its status then shows that."""
    asked = body.changed(reason=masked(body.reason))
    gateway = frame.services.skills.invocation_gateway
    act = partial(gateway.cancel, invocation_id, asked, frame.caller, frame.key_for(body))
    return await frame.answer_once(body, act, InvocationView)


def _waited(prefer: str | None) -> timedelta | None:
    found = _WAIT.search(prefer or "")
    return min(timedelta(seconds=int(found.group(1))), MOST_WAITED) if found is not None else None
