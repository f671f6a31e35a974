"""What the caller may do with sessions and proposals as they stand, from the facts that the rules look at."""

from collections.abc import Sequence

from sqlalchemy import select

from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.allowed_actions import LearnSessionView, ProposalView, SessionActions
from contracts.learning.proposal import SkillBundleProposal
from contracts.learning.state_machine import AT_REST, LANES_OF, TAKEN_IN, SessionCommand
from domain.learning.session.allowed_actions import SessionFacts, proposal_actions, session_actions
from stores.learning.base_skills import BaseSkills
from stores.platform import tables
from stores.platform.database import Database

_DRAFTED_FROM = TAKEN_IN[SessionCommand.GENERATE_PROPOSAL]
_INSTALLED_FROM = frozenset(state for command in LANES_OF for state in TAKEN_IN[command])


class AllowedActions:
    """Reads the facts and asks the rules; however many sessions, two queries and those on improvements."""

    def __init__(self, database: Database, bases: BaseSkills) -> None:
        self._database = database
        self._bases = bases

    def of_sessions(self, aggregates: Sequence[LearnSessionAggregate]) -> tuple[LearnSessionView, ...]:
        """The sessions as clients read them, in the order given."""
        return tuple(
            LearnSessionView.model_validate(dict(facts.aggregate.session) | dict(session_actions(facts)))
            for facts in self._facts(aggregates)
        )

    def of_proposals(self, proposals: Sequence[SkillBundleProposal]) -> tuple[ProposalView, ...]:
        """The proposals as clients list them, in the order given; one without a session takes nothing."""
        found = self._facts_by_proposal(proposals)
        return tuple(_view(one, found.get(one.proposal_id)) for one in proposals)

    def of_proposal(self, proposal: SkillBundleProposal) -> SessionActions:
        """What the proposal takes now."""
        facts = self._facts_by_proposal([proposal]).get(proposal.proposal_id)
        return proposal_actions(facts) if facts is not None else SessionActions()

    def _facts_by_proposal(self, proposals: Sequence[SkillBundleProposal]) -> dict[str, SessionFacts]:
        table = tables.learn_sessions
        wanted = {one.learn_session_id for one in proposals if one.learn_session_id is not None}
        with self._database.read() as connection:
            bodies = connection.scalars(select(table.c.aggregate).where(table.c.session_id.in_(wanted))).all()
        facts = self._facts([LearnSessionAggregate.model_validate_json(body) for body in bodies])
        return {
            one.aggregate.proposal.proposal_id: one for one in facts if one.aggregate.proposal is not None
        }

    def _facts(self, aggregates: Sequence[LearnSessionAggregate]) -> list[SessionFacts]:
        nothing_captured = self._without_capture(aggregates)
        return [
            SessionFacts(
                aggregate=one,
                captured=one.session.learn_session_id not in nothing_captured,
                closed_lanes=self._bases.closed_lanes(one.proposal)
                if one.proposal is not None and one.session.state in _INSTALLED_FROM
                else {},
            )
            for one in aggregates
        ]

    def _without_capture(self, aggregates: Sequence[LearnSessionAggregate]) -> frozenset[str]:
        """The sessions that are to be drafted from what was captured in them, and hold nothing."""
        asked = {
            one.session.learn_session_id
            for one in aggregates
            if one.session.state in _DRAFTED_FROM and one.base is None and not one.source_runs
        }
        if not asked:
            return frozenset()
        table = tables.observation_counters
        query = select(table.c.session_id).where(table.c.session_id.in_(asked), table.c.accepted > 0)
        with self._database.read() as connection:
            return frozenset(asked.difference(connection.scalars(query)))


def _view(proposal: SkillBundleProposal, facts: SessionFacts | None) -> ProposalView:
    if facts is None:
        return ProposalView.model_validate(dict(proposal))
    pinned = facts.aggregate.session.state not in AT_REST
    return ProposalView.model_validate(dict(proposal) | dict(proposal_actions(facts)) | {"pinned": pinned})
