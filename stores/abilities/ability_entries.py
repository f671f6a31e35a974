"""Journal entries of a lifecycle command on an ability (DOC3 §0C.12, §0C.13), and what it changes of its session.

The session is at rest, so its next aggregate is written with the command and not by a workflow (DOC3 §0C.1A). One
that becomes quarantined this way leaves its owner's slot free; taking up the revision asks for the slot.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, select, update

from contracts.abilities.availability import AbilityLifecycleAction as Action
from contracts.abilities.availability import AbilityLifecycleCommand, AbilityState, InstallLane
from contracts.abilities.lifecycle import AbilityOrder, AbilityReceipt
from contracts.base import rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import CommandReceipt, LearnSessionAggregate, SessionCommit
from contracts.learning.lifecycle import LearningLifecycleEvent as Event
from contracts.learning.lifecycle import LearningReceiptKind as Receipt
from contracts.learning.lifecycle import LifecycleChange
from contracts.learning.proposal import ProposalState
from contracts.learning.session import LearnSessionState as S
from contracts.learning.state_machine import may_go
from contracts.workflow_ids import ability_workflow_id
from stores.learning.sessions import entries_of, project_truth
from stores.platform import tables
from stores.platform.canonical import canonical_json
from stores.platform.journal.journal import JournalDraft, JournalEntries

ACTIVATION_HISTORY = "system/abilities/activation_history"

_OF_ACTION: Mapping[Action, tuple[Event, Receipt]] = MappingProxyType(
    {
        Action.ACTIVATE: (Event.ABILITY_ACTIVATED, Receipt.ACTIVATED),
        Action.DEACTIVATE: (Event.ABILITY_DEACTIVATED, Receipt.DEACTIVATED),
        Action.QUARANTINE: (Event.ABILITY_QUARANTINED, Receipt.QUARANTINED),
        Action.UNQUARANTINE: (Event.ABILITY_UNQUARANTINED, Receipt.UNQUARANTINED),
        Action.PROMOTE_SHARED: (Event.ABILITY_PROMOTED, Receipt.PROMOTED),
        Action.DEMOTE_PRIVATE: (Event.ABILITY_DEMOTED, Receipt.DEMOTED),
        Action.ARCHIVE: (Event.ABILITY_ARCHIVED, Receipt.ARCHIVED),
        Action.ROLLBACK: (Event.ABILITY_ROLLED_BACK, Receipt.ROLLED_BACK),
    }
)


class AbilityEntries(JournalEntries):
    """Collects what the journal is to hold of one command."""

    def __init__(
        self,
        order: AbilityOrder,
        owner: str,
        proposal_id: str,
        session: LearnSessionAggregate | None,
        now: datetime,
    ) -> None:
        super().__init__(
            ability_workflow_id(order.ability_id),
            owner,
            order.correlation_id,
            now,
            session.session.learn_session_id if session is not None else None,
            proposal_id,
            order.ability_id,
        )
        self._order = order
        self._session = session

    def record(self, receipt: AbilityReceipt, set_aside: tuple[str, ...]) -> None:
        """The command, and what follows from every command: the bridge and the snapshot anew."""
        order = self._order
        event, kind = _OF_ACTION[order.action]
        facts: dict[str, Any] = {
            "install_lane": receipt.install_lane.value,
            "ability_state": receipt.state.value,
            "version": receipt.version,
        }
        if receipt.restored_from is not None:
            facts["restored_from"] = receipt.restored_from
        if set_aside:
            facts["set_aside"] = list(set_aside)
        self._note(event, kind, order.reason, facts)
        self._note(Event.BRIDGE_REBUILD_STARTED)
        self._note(Event.BRIDGE_REBUILD_COMPLETED, Receipt.BRIDGE_REBUILT)
        self._note(Event.ABILITY_SNAPSHOT_UPDATED, Receipt.AVAILABILITY_UPDATED)
        if receipt.state is AbilityState.ACTIVE and order.action in (Action.ACTIVATE, Action.UNQUARANTINE):
            self._note(Event.ABILITY_ROUTE_ENABLED)
        command = AbilityLifecycleCommand(
            ability_id=order.ability_id,
            action=order.action,
            reason=order.reason,
            requested_by=order.requested_by,
            created_at=self.at,
        )
        self.add(ACTIVATION_HISTORY, command)

    def _note(
        self,
        event: Event,
        receipt: Receipt | None = None,
        reason: str | None = None,
        facts: dict[str, Any] | None = None,
    ) -> None:
        if self._session is not None:
            state = self._session.session.state.value
            payload = {"state": state, "ability_id": self._order.ability_id, **(facts or {})}
            if reason is not None:
                payload["reason"] = reason
            self.event(event.value, payload)
        if receipt is not None:
            self.receipt(receipt, reason, named=self._order.ability_id)


_INSTALLED = frozenset({S.APPROVED, S.INSTALLED_PRIVATE, S.QUARANTINED})

_MOVES: Mapping[Action, tuple[S, ProposalState, Event, Receipt | None]] = MappingProxyType(
    {
        Action.QUARANTINE: (S.QUARANTINED, ProposalState.QUARANTINED, Event.SESSION_QUARANTINED, None),
        Action.PROMOTE_SHARED: (S.APPROVED, ProposalState.APPROVED, Event.SESSION_APPROVED, Receipt.APPROVED),
    }
)
"""The commands that move the session, where the table has the step; the ability's own receipt has the rest."""


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
    session = base.session.changed(updated_at=now)
    proposal = proposal.changed(install_lane=lane, updated_at=now)
    changes: tuple[LifecycleChange, ...] = ()
    since = base.state_since
    if moves and move is not None:
        target, proposal_state, event, receipt = move
        session = session.changed(state=target)
        proposal = proposal.changed(proposal_state=proposal_state)
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
    after = base.changed(session=session, proposal=proposal, state_since=since, change=base.change + 1)
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
