"""What skills remember of their user: memories, facts and check-ins are listed, erased, cancelled (O-13)."""

from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query

from api.platform.commands import ApproverFrame, ToolUserFrame, masked
from api.platform.dependencies import PageDep, Reader, ServicesDep, parse_uuid
from contracts.errors import ErrorCode, Refusal
from contracts.memory.check_ins import CancelCheckInRequest, CheckIn, CheckInListResponse
from contracts.memory.goals import Goal, GoalListResponse, GoalState, MoveGoalRequest
from contracts.memory.memory import MemoryKind
from contracts.memory.views import ErasedMemory, FactListResponse, MemoryListResponse
from gateways.memory.check_ins import tell_check_in


def _memory_id(memory_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(memory_id, ErrorCode.NOT_FOUND, "memory")


def _check_in_id(check_in_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(check_in_id, ErrorCode.NOT_FOUND, "check-in")


def _goal_id(goal_id: Annotated[str, Path(max_length=200)]) -> str:
    return parse_uuid(goal_id, ErrorCode.NOT_FOUND, "goal")


GoalId = Annotated[str, Depends(_goal_id)]
MemoryId = Annotated[str, Depends(_memory_id)]
CheckInId = Annotated[str, Depends(_check_in_id)]

router = APIRouter(prefix="/api/memory", tags=["skills"])


@router.get("", operation_id="memory_list")
def list_memories(
    caller: Reader,
    services: ServicesDep,
    page: PageDep,
    kind: Annotated[MemoryKind | None, Query(description="Memories or events alone.")] = None,
) -> MemoryListResponse:
    """The caller's memories and events, newest first; the skill query_relevant_memories searches them."""
    kinds = (kind,) if kind is not None else tuple(MemoryKind)
    found, counts = services.skills.memories.page(caller.user_id, kinds, page)
    return MemoryListResponse(memories=found, **counts)


@router.get("/facts", operation_id="memory_facts")
def list_facts(
    caller: Reader,
    services: ServicesDep,
    page: PageDep,
    subject: Annotated[
        str | None,
        Query(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$", description="Facts of this subject alone."),
    ] = None,
) -> FactListResponse:
    """The caller's facts, the latest changed first; also those that no longer hold."""
    found = services.skills.memories.facts_page(caller.user_id, subject, page)
    return FactListResponse(facts=found.documents, **found.counts)


@router.get("/check-ins", operation_id="memory_check_ins")
def list_check_ins(caller: Reader, services: ServicesDep, page: PageDep) -> CheckInListResponse:
    """The caller's check-ins, the next due first; also those that have fired or were cancelled."""
    found = services.skills.check_ins.page(caller.user_id, page)
    return CheckInListResponse(check_ins=found.documents, **found.counts)


@router.post("/check-ins/{check_in_id}/cancel", operation_id="memory_check_in_cancel")
async def cancel_check_in(
    check_in_id: CheckInId, body: CancelCheckInRequest, frame: ToolUserFrame
) -> CheckIn:
    """Cancels a check-in that has not fired."""

    def act() -> CheckIn:
        return frame.services.skills.check_ins.cancel(check_in_id, frame.owner, datetime.now(UTC))

    done = await frame.write_once(body, act, CheckIn)
    with suppress(Refusal):
        # It finds out by itself when it is due.
        await tell_check_in(frame.services.client, check_in_id)
    return done


@router.get("/goals", operation_id="memory_goals")
def list_goals(
    caller: Reader,
    services: ServicesDep,
    page: PageDep,
    state: Annotated[GoalState | None, Query(description="Goals in this state alone.")] = None,
) -> GoalListResponse:
    """The caller's goals, the latest changed first; candidates are suggestions of skills."""
    found = services.skills.goals.page(caller.user_id, state, page)
    return GoalListResponse(goals=found.documents, **found.counts)


@router.post("/goals/{goal_id}/state", operation_id="memory_goal_move")
async def move_goal(goal_id: GoalId, body: MoveGoalRequest, frame: ApproverFrame) -> Goal:
    """Takes a goal up, completes or drops it."""

    def act() -> Goal:
        goals = frame.services.skills.goals
        return goals.move(goal_id, frame.owner, body.state, masked(body.note), datetime.now(UTC))

    return await frame.write_once(body, act, Goal)


@router.delete("/{memory_id}", operation_id="memory_erase")
async def erase(memory_id: MemoryId, frame: ApproverFrame) -> ErasedMemory:
    """Erases a memory, an event or a fact for good; the audit log keeps its id and nothing that it said."""

    def act() -> ErasedMemory:
        memories = frame.services.skills.memories
        kind = memories.erase(memory_id, frame.owner, frame.correlation_id, datetime.now(UTC))
        return ErasedMemory(memory_id=memory_id, kind=kind)

    return await frame.write_once(None, act, ErasedMemory)
