"""Redirects from former routes for six months after deployment (DOC3 §0C.16, §0C.20B, L4070).

Always 308, which keeps method and body; a 301 would let a client turn its POST into a GET. Where the former
path lacks an id that the new one needs, it is found from the caller's session or proposal.
"""

import re
from calendar import monthrange
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from email.utils import format_datetime
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse

from api.platform.dependencies import Reader, ServicesDep, parse_uuid
from api.services import Services
from contracts.errors import ErrorCode, Refusal
from contracts.platform.identity import Principal

MONTHS_KEPT = 6
"""How long after the deployment a former route still leads on (DOC3 L1293)."""

_ABILITY_ID = re.compile(r"[\w.-]{1,160}", re.ASCII)

router = APIRouter(include_in_schema=False, deprecated=True)


def last_day(deployed_on: date) -> date:
    """The last day on which a former route leads on: the same day six months later, or that month's last."""
    month = deployed_on.month - 1 + MONTHS_KEPT
    year, month = deployed_on.year + month // 12, month % 12 + 1
    return date(year, month, min(deployed_on.day, monthrange(year, month)[1]))


def _still_kept(services: ServicesDep) -> date | None:
    """The last day, where a deployment date is configured.

    Raises:
        Refusal: ``ROUTE_GONE`` after it.
    """
    deployed_on = services.settings.deployed_on
    if deployed_on is None:
        return None
    until = last_day(deployed_on)
    if datetime.now(UTC).date() > until:
        raise Refusal(
            ErrorCode.ROUTE_GONE,
            f"This route ended on {until}; GET /openapi.json lists what there is.",
            ended_on=until.isoformat(),
        )
    return until


LastDay = Annotated[date | None, Depends(_still_kept)]


def _to(request: Request, path: str, until: date | None) -> RedirectResponse:
    query = f"?{request.url.query}" if request.url.query else ""
    headers = {"link": f'<{path}>; rel="successor-version"'}
    if until is not None:
        headers["sunset"] = format_datetime(datetime.combine(until, time.max, UTC), usegmt=True)
    return RedirectResponse(path + query, status_code=308, headers=headers)


@router.post("/api/capabilities/teach/start")
@router.post("/api/learn/session/start")
async def started(request: Request, until: LastDay) -> RedirectResponse:
    """A session begins with its creation."""
    return _to(request, "/api/learn/sessions", until)


@router.post("/api/capabilities/teach/cancel")
def teach_cancel(request: Request, until: LastDay, caller: Reader, services: ServicesDep) -> RedirectResponse:
    """Cancels the caller's open session."""
    return _to(request, f"/api/learn/sessions/{_open_session(services, caller)}/cancel", until)


@router.post("/api/capabilities/teach/finish")
def teach_finish(request: Request, until: LastDay, caller: Reader, services: ServicesDep) -> RedirectResponse:
    """Ends the capture of the caller's open session."""
    return _to(request, f"/api/learn/sessions/{_open_session(services, caller)}/stop", until)


@router.post("/api/learn/session/{action}")
def of_open_session(
    request: Request, action: str, until: LastDay, caller: Reader, services: ServicesDep
) -> RedirectResponse:
    """A command of the caller's open session, which the path of seed 004 L13689 to L13692 does not name."""
    if action not in _OF_OPEN_SESSION:
        raise _no_such_route()
    return _to(request, f"/api/learn/sessions/{_open_session(services, caller)}/{action}", until)


@router.post("/api/capabilities/promote")
async def promote(request: Request, until: LastDay, caller: Reader) -> RedirectResponse:
    """Shares the ability that the body names."""
    del caller
    return _to(request, f"/api/abilities/{await _named_ability(request)}/promote-shared", until)


@router.get("/api/skills/mining/proposals")
async def mined_proposals(request: Request, until: LastDay) -> RedirectResponse:
    """Proposals of any origin are listed together."""
    return _to(request, "/api/learn/proposals", until)


@router.get("/api/skills/mining/settings")
@router.post("/api/skills/mining/settings")
async def mining_settings(request: Request, until: LastDay) -> RedirectResponse:
    """Settings of mining; what was a POST is still taken as one."""
    return _to(request, "/api/learn/mining/settings", until)


@router.post("/api/skills/mining/scan")
async def mining_scan(request: Request, until: LastDay) -> RedirectResponse:
    """Looks through the caller's captures now."""
    return _to(request, "/api/learn/mining/scan", until)


_OF_OPEN_SESSION = frozenset({"pause", "resume", "stop", "cancel"})

_OF_PROPOSAL: Mapping[str, str] = {
    "test": "validate",
    "install-private": "install",
    "install-experimental": "install",
    "feedback": "revise",
}


@router.post("/api/learn/proposals/{proposal_id}/questions")
@router.post("/api/learn/proposals/{proposal_id}/answers")
def proposal_questions(
    request: Request, proposal_id: str, until: LastDay, caller: Reader, services: ServicesDep
) -> RedirectResponse:
    """The questions of a proposal belong to its session (DOC3 L13702, L13703)."""
    wanted = parse_uuid(proposal_id, ErrorCode.PROPOSAL_NOT_FOUND, "proposal")
    return _to_answers(request, wanted, until, caller, services)


@router.post("/api/learn/proposals/{proposal_id}/test")
@router.post("/api/learn/proposals/{proposal_id}/install-private")
async def proposal_command(request: Request, proposal_id: str, until: LastDay) -> RedirectResponse:
    """Commands of a proposal under their former names (DOC3 L13704, L13705)."""
    wanted = parse_uuid(proposal_id, ErrorCode.PROPOSAL_NOT_FOUND, "proposal")
    former = request.url.path.rsplit("/", 1)[-1]
    return _to(request, f"/api/learn/proposals/{wanted}/{_OF_PROPOSAL[former]}", until)


@router.post("/api/skills/mining/proposals/{proposal_id}/{action}")
def mined_proposal(
    request: Request, proposal_id: str, action: str, until: LastDay, caller: Reader, services: ServicesDep
) -> RedirectResponse:
    """A proposal's commands, and its questions, which belong to its session."""
    wanted = parse_uuid(proposal_id, ErrorCode.PROPOSAL_NOT_FOUND, "proposal")
    if action in ("questions", "answers"):
        return _to_answers(request, wanted, until, caller, services)
    if action not in _OF_PROPOSAL:
        raise _no_such_route()
    return _to(request, f"/api/learn/proposals/{wanted}/{_OF_PROPOSAL[action]}", until)


@router.api_route("/api/learn/session/{session_id}", methods=["GET", "DELETE"])
@router.api_route("/api/learn/session/{session_id}/{action}", methods=["GET", "POST"])
async def singular(
    request: Request, session_id: str, until: LastDay, action: str | None = None
) -> RedirectResponse:
    """The plural path of one session."""
    wanted = parse_uuid(session_id, ErrorCode.LEARN_SESSION_NOT_FOUND, "session")
    tail = f"/{action}" if action and action.replace("-", "").isalpha() else ""
    return _to(request, f"/api/learn/sessions/{wanted}{tail}", until)


def _to_answers(
    request: Request, proposal_id: str, until: date | None, caller: Principal, services: Services
) -> RedirectResponse:
    session_id = services.proposals.owned(proposal_id, caller.user_id).learn_session_id
    return _to(request, f"/api/learn/sessions/{session_id}/answer-questions", until)


def _no_such_route() -> Refusal:
    return Refusal(ErrorCode.NOT_FOUND, "There is no such route; GET /openapi.json lists what there is.")


def _open_session(services: Services, caller: Principal) -> str:
    active = services.sessions.active_session_id(caller.user_id)
    if active is None:
        raise Refusal(
            ErrorCode.LEARN_SESSION_NOT_FOUND,
            "You have no open session; POST /api/learn/sessions begins one.",
        )
    return active


async def _named_ability(request: Request) -> str:
    try:
        body: Any = await request.json()
    except ValueError:
        body = None
    given: Mapping[str, Any] = cast("Mapping[str, Any]", body) if isinstance(body, dict) else {}
    named = given.get("ability_id", given.get("capability_id"))
    if not isinstance(named, str) or not _ABILITY_ID.fullmatch(named):
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            'Name the ability: {"ability_id": "learned.…"}, or POST /api/abilities/{id}/promote-shared.',
            fields=["ability_id"],
        )
    return named
