"""Autonomous practice in the document."""

from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from api.openapi_story import BEGUN, SESSION_ID, THEN
from contracts.errors import ErrorCode
from contracts.learning.observation import ProducedFile
from contracts.learning.practice import (
    ConditionSeen,
    IdeaSource,
    PracticeAttempt,
    PracticeBudget,
    PracticeCondition,
    PracticeConditionKind,
    PracticeIdea,
    PracticeRun,
    PracticeState,
    PracticeStep,
    PractisedAction,
)

_GOAL = "Sort the sales figures into top.csv"
_COMMAND = "sort -r sales.csv > top.csv"
REQUESTS: dict[str, dict[str, Any]] = {
    "learn_session_practice": {
        "goal": _GOAL,
        "success_conditions": [
            {"kind": "file_contains", "path": "top.csv", "text": "south,9"},
            {"kind": "command_exits", "command": "sort -rc top.csv"},
        ],
        "allowed_commands": ["sort", "sort -r {input} > {output}"],
        "start_files": [{"name": "sales.csv", "content": "north,3\nsouth,9\n"}],
        "budget": {"max_actions": 12, "max_minutes": 5, "max_attempts": 2},
    },
}
MODELS: tuple[BaseModel, ...] = (
    PracticeRun(
        learn_session_id=SESSION_ID,
        owner_user_id="alice",
        state=PracticeState.REACHED,
        goal=_GOAL,
        success_conditions=(
            PracticeCondition(kind=PracticeConditionKind.FILE_CONTAINS, path="top.csv", text="south,9"),
        ),
        allowed_commands=("sort", "sort -r {input} > {output}"),
        start_files=("sales.csv",),
        budget=PracticeBudget(max_actions=12, max_minutes=5, max_attempts=2),
        request_blob="b" * 64,
        actions_used=1,
        attempts=(
            PracticeAttempt(
                number=1,
                idea=PracticeIdea(
                    steps=(PracticeStep(command=_COMMAND, source=IdeaSource.ALLOWED),), confidence=0.9
                ),
                actions=(
                    PractisedAction(
                        command=_COMMAND,
                        succeeded=True,
                        produced=(ProducedFile(path="top.csv", change="created", size_bytes=16),),
                    ),
                ),
                conditions=(ConditionSeen(condition="top.csv holds south,9", met=True),),
                reached=True,
                outcome="Every success condition was seen to hold.",
            ),
        ),
        note="Reached in attempt 1.",
        workflow_id=f"practice/{SESSION_ID}",
        correlation_id="practice-1",
        started_at=BEGUN,
        updated_at=THEN,
        ends_by=BEGUN + timedelta(minutes=5),
        finished_at=THEN,
    ),
)
ERRORS: dict[str, tuple[ErrorCode, ...]] = {
    "learn_session_practice": (
        ErrorCode.CONFLICT,
        ErrorCode.INVALID_LEARN_STATE_TRANSITION,
        ErrorCode.TEST_POLICY_VIOLATION,
        ErrorCode.ADAPTER_UNAVAILABLE,
        ErrorCode.TEMPORAL_UNAVAILABLE,
        ErrorCode.STORAGE_FULL,
    ),
    "learn_session_practice_progress": (ErrorCode.NOT_FOUND,),
}
PATH_IDS: dict[str, ErrorCode] = {}
TAG: dict[str, str] | None = {
    "name": "practice",
    "description": "The agent tries by itself, in a sandbox and within a budget, to reach a goal.",
}
