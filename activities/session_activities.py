"""Activities of a learning session: commit a decision, make a draft."""

from collections.abc import Callable

from temporalio import activity

from activities.drafting import Drafter
from activities.refusals import refusing
from contracts.learning.aggregate import BaseCheck, CommitResult, DraftRequest, DraftSummary, SessionCommit
from stores.base_skills import BaseSkills
from stores.session_store import SessionStore


class SessionActivities:
    """Local activities: transactions of milliseconds."""

    def __init__(
        self,
        sessions: SessionStore,
        drafter: Drafter,
        written: Callable[[], None],
        bases: BaseSkills,
    ) -> None:
        """``written`` is told after each commit, so that files follow at once."""
        self._bases = bases
        self._sessions = sessions
        self._drafter = drafter
        self._written = written

    @activity.defn
    @refusing
    def commit_session(self, commit: SessionCommit) -> CommitResult:
        """Writes one decision; a repeated one answers what the first did."""
        result = self._sessions.commit(commit)
        self._written()
        return result

    @activity.defn
    @refusing
    def draft_proposal(self, request: DraftRequest) -> DraftSummary:
        """Reads the capture, drafts, and stages the draft; nothing adopts it yet."""
        return self._drafter.draft(request)

    @activity.defn
    @refusing
    def check_base(self, request: BaseCheck) -> None:
        """Refuses to install an improvement whose base has moved or was edited by hand."""
        self._bases.check(request.proposal, request.lane)
