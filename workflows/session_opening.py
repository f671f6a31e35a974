"""How the workflow of a session is started, by whoever finds that it should run."""

from typing import TypedDict

from temporalio.common import SearchAttributePair, TypedSearchAttributes, WorkflowIDConflictPolicy

from contracts.learning.aggregate import LearnSessionAggregate
from workflows.ids import learn_session_id
from workflows.session_view import KIND_ATTRIBUTE, OWNER_ATTRIBUTE, STATE_ATTRIBUTE, phase_of


class Opening(TypedDict):
    """The arguments of a start: one that runs already is joined."""

    id: str
    task_queue: str
    id_conflict_policy: WorkflowIDConflictPolicy
    static_summary: str
    static_details: str
    search_attributes: TypedSearchAttributes


def opening_of(aggregate: LearnSessionAggregate, task_queue: str) -> Opening:
    """The start of this session's workflow."""
    session = aggregate.session
    return Opening(
        id=learn_session_id(session.learn_session_id),
        task_queue=task_queue,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        static_summary=f"{session.entry_mode.value} by {session.owner_user_id}",
        static_details=_static_details(aggregate),
        search_attributes=TypedSearchAttributes(
            [
                SearchAttributePair(STATE_ATTRIBUTE, phase_of(session.state)),
                SearchAttributePair(OWNER_ATTRIBUTE, session.owner_user_id),
                SearchAttributePair(KIND_ATTRIBUTE, "learn-session"),
            ]
        ),
    )


def _static_details(aggregate: LearnSessionAggregate) -> str:
    session = aggregate.session
    return "\n".join(
        [
            f"Learning session `{session.learn_session_id}`",
            "",
            f"- entry mode: {session.entry_mode.value}",
            f"- observation: {session.observation_mode.value}",
            f"- build policy: {session.build_policy.value}",
        ]
    )
