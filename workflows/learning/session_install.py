"""Decisions about installing: begin a saga, take its result.

Whether what an improvement improves still is as it was: asked before an install begins.
"""

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from activities.learning.session_activities import SessionActivities
    from contracts.abilities.availability import InstallLane
    from contracts.learning.aggregate import (
        BaseCheck,
        LearnSessionAggregate,
        OpenInstall,
    )
    from contracts.learning.install import InstallSagaInput, InstallSagaOutput, SagaState
    from contracts.learning.lifecycle import LearningLifecycleEvent as Event
    from contracts.learning.lifecycle import LearningReceiptKind as Receipt
    from contracts.learning.session import LearnSessionState as S
    from contracts.platform.commands import CommitKey
    from workflows.learning.session_decision import SessionDecision
    from workflows.platform.presets import STORE_CALL
    from workflows.platform.refusals import application_error_in


def begin(
    decision: SessionDecision, lane: InstallLane, note: str | None, asked_under: CommitKey | None
) -> None:
    """An install begins. A private one has a state of its own; an approval stays where it is until done."""
    proposal = decision.next.proposal
    assert proposal is not None
    assert proposal.ability_id is not None, "installable proposals are named"
    install = OpenInstall(
        saga_id=str(workflow.uuid7()),
        lane=lane,
        ability_id=proposal.ability_id,
        asked_under=asked_under,
    )
    facts = {"saga_id": install.saga_id, "install_lane": lane.value, "note": note}
    decision.set(install=install)
    if lane is InstallLane.EXPERIMENTAL_PRIVATE:
        decision.go(S.INSTALLING_PRIVATE, Event.INSTALL_STARTED, Receipt.INSTALL_REQUESTED, None, **facts)
    else:
        decision.note(Event.INSTALL_STARTED, Receipt.INSTALL_REQUESTED, None, **facts)


def saga_input(aggregate: LearnSessionAggregate, correlation_id: str) -> InstallSagaInput:
    """What the child workflow of the open install is given."""
    install, proposal = aggregate.install, aggregate.proposal
    assert install is not None, "only called while an install is open"
    assert proposal is not None
    return InstallSagaInput(
        saga_id=install.saga_id,
        learn_session_id=aggregate.session.learn_session_id,
        proposal_id=proposal.proposal_id,
        owner_user_id=aggregate.session.owner_user_id,
        content_hash=proposal.content_hash,
        ability_id=install.ability_id,
        skill_slug=proposal.proposed_skill_slug,
        lane=install.lane,
        correlation_id=correlation_id,
        requested_at=aggregate.state_since,
    )


def finish(decision: SessionDecision, output: InstallSagaOutput) -> None:
    """The saga's end decides: installed, approved, or quarantined with everything as it was before."""
    install = decision.next.install
    assert install is not None, "only called while an install is open"
    decision.set(install=None)
    if output.state is SagaState.INSTALLED:
        _installed(decision, install, output)
    else:
        _failed(decision, install, output)


def _installed(decision: SessionDecision, install: OpenInstall, output: InstallSagaOutput) -> None:
    decision.set_session(ability_id=install.ability_id)
    decision.set_proposal(install_lane=install.lane)
    facts = {"saga_id": install.saga_id, "install_lane": install.lane.value, "version": output.version}
    decision.note(Event.BRIDGE_REBUILD_STARTED)
    decision.note(Event.BRIDGE_REBUILD_COMPLETED, Receipt.BRIDGE_REBUILT)
    decision.note(Event.ABILITY_SNAPSHOT_UPDATED, Receipt.AVAILABILITY_UPDATED)
    decision.note(Event.ABILITY_ROUTE_ENABLED, Receipt.ACTIVATED)
    if install.lane is InstallLane.EXPERIMENTAL_PRIVATE:
        decision.go(S.INSTALLED_PRIVATE, Event.INSTALL_COMPLETED, Receipt.INSTALLED_PRIVATE, None, **facts)
    else:
        decision.note(Event.INSTALL_COMPLETED, None, None, **facts)
        decision.go(S.APPROVED, Event.SESSION_APPROVED, Receipt.APPROVED, None, **facts)


def _failed(decision: SessionDecision, install: OpenInstall, output: InstallSagaOutput) -> None:
    reason = output.error or f"the install ended as {output.state.value}"
    decision.set_proposal(install_lane=InstallLane.QUARANTINED)
    facts = {
        "saga_id": install.saga_id,
        "saga_state": output.state.value,
        "failed_step": output.failed_step.value if output.failed_step else None,
    }
    decision.note(Event.INSTALL_FAILED, Receipt.INSTALL_FAILED, reason, **facts)
    if decision.next.session.state is S.READY_FOR_REVIEW:
        # The table leads from review to quarantine only through installing (see the ADR on failed approvals).
        decision.go(S.INSTALLING_PRIVATE, Event.INSTALL_STARTED, None, "the approval's install failed")
    decision.go(S.QUARANTINED, Event.SESSION_QUARANTINED, Receipt.QUARANTINED, reason)


async def check_base(aggregate: LearnSessionAggregate, lane: InstallLane) -> None:
    """Refuses an improvement whose base has moved; makes no check where the proposal improves nothing.

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
