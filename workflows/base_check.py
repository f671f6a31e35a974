"""Whether what an improvement improves still is as it was: asked before an install begins."""

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from activities.session_activities import SessionActivities
    from contracts.learning.aggregate import BaseCheck, LearnSessionAggregate
    from contracts.learning.proposal import InstallLane
    from workflows.presets import STORE_CALL
    from workflows.refusals import application_error_in


async def check_base(aggregate: LearnSessionAggregate, lane: InstallLane) -> None:
    """Refuses an improvement whose base has moved; asks nobody where the proposal improves nothing.

    Raises:
        ApplicationError: ``PROPOSAL_STALE``, ``HAND_EDITED`` or ``INSTALL_LANE_DENIED``.
    """
    proposal = aggregate.proposal
    if proposal is None or proposal.base is None:
        return
    try:
        await workflow.execute_local_activity_method(
            SessionActivities.check_base,
            BaseCheck(proposal=proposal, lane=lane),
            summary="check the base",
            **STORE_CALL,
        )
    except FailureError as error:
        raise application_error_in(error) from None
