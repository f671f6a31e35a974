"""Actions that a session and its proposal allow their owner now: computed on every read, never stored."""

from pydantic import Field

from contracts.abilities.availability import InstallLane
from contracts.base import Contract, Text240
from contracts.errors import ErrorCode
from contracts.learning.proposal import SkillBundleProposal
from contracts.learning.session import LearnSession
from contracts.learning.state_machine import SessionCommand


class RefusedAction(Contract):
    """A command that one looks for here and that is not taken now; ``code`` is what it would answer."""

    action: SessionCommand
    code: ErrorCode
    reason: Text240


class SessionActions(Contract):
    """The commands that are taken as things stand, and why some that belong here are not (DOC3 §0A.30)."""

    allowed_actions: tuple[SessionCommand, ...] = Field(
        default=(), description="What the caller may do with it now."
    )
    allowed_lanes: tuple[InstallLane, ...] = Field(
        default=(), description="Where `install` and `approve` may put it now, the least far first."
    )
    refused_actions: tuple[RefusedAction, ...] = Field(
        default=(), description="What belongs here and is not possible yet, with the reason."
    )


class LearnSessionView(SessionActions, LearnSession):
    """A session as clients read it, with what it takes now."""

    quarantine_lifted: bool = Field(
        default=False, description="Its ability is out of the quarantine that it ended with."
    )


class ProposalView(SessionActions, SkillBundleProposal):
    """A proposal as clients list it, with what it takes now."""

    pinned: bool = Field(
        default=False, description="Its session is at work on it: it stays on top of the list (DOC3 §0A.24)."
    )
