"""What a command on an ability changes of the session that taught it (DOC3 §0C.1A).

The session is at rest, so no workflow has a say: its next aggregate is written with the ability's command. One
that becomes quarantined this way leaves its owner's slot free; taking up the revision asks for the slot.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

from sqlalchemy import Connection, select, update

from contracts.abilities.life import AbilityOrder
from contracts.abilities.lifecycle_command import AbilityLifecycleAction as Action
from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import CommandReceipt, LearnSessionAggregate, SessionCommit
from contracts.learning.lifecycle import LearningLifecycleEvent as Event
from contracts.learning.lifecycle import LearningReceiptKind as Receipt
from contracts.learning.lifecycle import LifecycleChange
from contracts.learning.proposal import InstallLane, ProposalState
from contracts.learning.session import LearnSessionState as S
from contracts.learning.state_machine import may_go
from stores import tables
from stores.canonical import canonical_json
from stores.journal import JournalDraft
from stores.session_entries import entries_of
from stores.session_truth import project_truth

_INSTALLED = frozenset({S.APPROVED, S.INSTALLED_PRIVATE, S.QUARANTINED})

_MOVES: Mapping[Action, tuple[S, ProposalState, Event, Receipt | None]] = MappingProxyType(
    {
        Action.QUARANTINE: (S.QUARANTINED, ProposalState.QUARANTINED, Event.SESSION_QUARANTINED, None),
        Action.PROMOTE_SHARED: (S.APPROVED, ProposalState.APPROVED, Event.SESSION_APPROVED, Receipt.APPROVED),
    }
)
"""The commands that move the session, where the table has the step; the ability's own receipt tells the rest."""


def locked_session(connection: Connection, proposal_id: str | None) -> LearnSessionAggregate | None:
    """The session of the proposal, its row held until the transaction ends."""
    proposals, sessions = tables.proposals, tables.learn_sessions
    session_id = connection.scalar(
        select(proposals.c.session_id).where(proposals.c.proposal_id == proposal_id)
    )
    if session_id is None:
        return None
    body = connection.scalar(
        select(sessions.c.aggregate).where(sessions.c.session_id == session_id).with_for_update()
    )
    return LearnSessionAggregate.model_validate_json(body) if body is not None else None


def follow_ability(
    connection: Connection,
    base: LearnSessionAggregate,
    order: AbilityOrder,
    proposal_id: str,
    lane: InstallLane,
    now: datetime,
) -> tuple[LearnSessionAggregate, tuple[JournalDraft, ...]]:
    """The session after the command, written, and what the journal is to hold of it.

    Raises:
        Refusal: ``INSTALL_IN_PROGRESS`` while an install of the session is open.
    """
    if base.install is not None:
        raise Refusal(ErrorCode.INSTALL_IN_PROGRESS, "The session installs this ability; wait for its end.")
    proposal = base.proposal
    installed = (
        base.session.state in _INSTALLED and proposal is not None and proposal.proposal_id == proposal_id
    )
    move = _MOVES.get(order.action)
    moves = installed and move is not None and may_go(base.session.state, move[0])
    if not installed or proposal is None or not (moves or proposal.install_lane is not lane):
        return base, ()
    session = base.session.model_copy(update={"updated_at": now})
    proposal = proposal.model_copy(update={"install_lane": lane, "updated_at": now})
    changes: tuple[LifecycleChange, ...] = ()
    since = base.state_since
    if moves and move is not None:
        target, proposal_state, event, receipt = move
        session = session.model_copy(update={"state": target})
        proposal = proposal.model_copy(update={"proposal_state": proposal_state})
        since = now
        changes = (
            LifecycleChange(
                event=event,
                state=target,
                receipt=receipt,
                reason=order.reason,
                ability_id=order.ability_id,
                payload={"ability_id": order.ability_id},
            ),
        )
    after = base.model_copy(
        update={"session": session, "proposal": proposal, "state_since": since, "change": base.change + 1}
    )
    commit = SessionCommit(
        commit_key=order.commit_key,
        expected_change=base.change,
        aggregate=after,
        receipt=CommandReceipt(session=session, change=after.change),
        changes=changes,
        correlation_id=order.correlation_id,
    )
    _write(connection, after)
    project_truth(connection, commit)
    return after, entries_of(commit)


def _write(connection: Connection, after: LearnSessionAggregate) -> None:
    sessions, proposals = tables.learn_sessions, tables.proposals
    session, proposal = after.session, after.proposal
    connection.execute(
        update(sessions)
        .where(sessions.c.session_id == session.learn_session_id)
        .values(
            state=session.state.value,
            change=after.change,
            updated_at=rfc3339(session.updated_at),
            aggregate=canonical_json(after),
        )
    )
    if proposal is not None:
        connection.execute(
            update(proposals)
            .where(proposals.c.proposal_id == proposal.proposal_id)
            .values(
                state=proposal.proposal_state.value,
                updated_at=rfc3339(proposal.updated_at),
                body=canonical_json(proposal),
            )
        )
