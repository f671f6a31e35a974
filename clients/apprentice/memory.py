"""Typed API calls: what skills remember, their check-ins, and answers to their questions."""

from clients.apprentice.transport import ApiRoutes, path_part
from contracts.inbox.items import AnswerRequest, SentItem
from contracts.memory.check_ins import CancelCheckInRequest, CheckIn, CheckInListResponse
from contracts.memory.goals import Goal, GoalListResponse, MoveGoalRequest
from contracts.memory.memory import MemoryKind
from contracts.memory.views import ErasedMemory, FactListResponse, MemoryListResponse

_MEMORY = "/api/memory"


class MemoryApi(ApiRoutes):
    """Memories, facts and check-ins of the caller; answers to questions of the inbox."""

    def list(self, page: int = 1, kind: MemoryKind | None = None) -> MemoryListResponse:
        """List memories and events, newest first."""
        wanted = kind.value if kind is not None else None
        return self._http.get(_MEMORY, MemoryListResponse, page=page, kind=wanted)

    def facts(self, page: int = 1, subject: str | None = None) -> FactListResponse:
        """List facts, the latest changed first."""
        return self._http.get(f"{_MEMORY}/facts", FactListResponse, page=page, subject=subject)

    def check_ins(self, page: int = 1, page_size: int = 25) -> CheckInListResponse:
        """List check-ins, the next due first."""
        return self._http.get(f"{_MEMORY}/check-ins", CheckInListResponse, page=page, page_size=page_size)

    def cancel_check_in(self, check_in_id: str) -> CheckIn:
        """Cancel one that has not fired."""
        path = f"{_MEMORY}/check-ins/{path_part(check_in_id)}/cancel"
        return self._http.write("POST", path, CheckIn, CancelCheckInRequest())

    def goals(self, page: int = 1, page_size: int = 25) -> GoalListResponse:
        """List goals, the latest changed first."""
        return self._http.get(f"{_MEMORY}/goals", GoalListResponse, page=page, page_size=page_size)

    def move_goal(self, goal_id: str, request: MoveGoalRequest) -> Goal:
        """Take one up, complete or drop it."""
        return self._http.write("POST", f"{_MEMORY}/goals/{path_part(goal_id)}/state", Goal, request)

    def erase(self, memory_id: str) -> ErasedMemory:
        """Erase a memory, an event or a fact for good."""
        return self._http.write("DELETE", f"{_MEMORY}/{path_part(memory_id)}", ErasedMemory)

    def answer(self, item_id: str, request: AnswerRequest) -> SentItem:
        """Answer a question of the inbox."""
        return self._http.write("POST", f"/api/inbox/{path_part(item_id)}/answer", SentItem, request)
