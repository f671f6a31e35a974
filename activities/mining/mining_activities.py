"""Activities of skill mining: look through people's captures page by page, build what was found, close."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from temporalio import activity
from temporalio.client import Client

from activities.platform.refusals import refusals_by_rule, refusing
from contracts.base import clipped
from contracts.errors import Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.session import LearnSessionState as S
from contracts.mining.candidates import MiningCandidate, MiningSettings
from contracts.mining.runs import (
    SAMPLE_SIZE,
    CandidateBuild,
    CandidateBuildEnd,
    CandidateGivenUp,
    CandidateToBuild,
    MiningFailure,
    MiningPage,
    MiningPageResult,
    MiningProgress,
    MiningRun,
    MiningRunClosing,
    MiningRunOpening,
    left_out,
)
from contracts.workflow_ids import skill_mining_id
from stores.mining.candidate_reads import CandidateReads
from stores.mining.candidates import CandidateStore
from stores.mining.mining import MiningStore, PersonMined
from stores.mining.runs import MiningRunStore, MiningSettingsStore

_UNPROVEN = frozenset({S.DRAFTING_PROPOSAL, S.QUARANTINED})
TESTS_FAILED = "The draft did not pass its tests."


class SessionBuilder(Protocol):
    """Opens and drives the learning sessions of candidates."""

    async def open(
        self, candidate: MiningCandidate, allowed: MiningSettings, alive: Callable[[], None]
    ) -> LearnSessionAggregate:
        """Everything up to questions, a draft or the start of its tests."""
        ...

    async def tested(self, candidate: MiningCandidate, alive: Callable[[], None]) -> LearnSessionAggregate:
        """The session once no test of it runs any more."""
        ...

    async def withdraw(self, candidate: MiningCandidate, reason: str) -> None:
        """Cancels the session, where there is one that can be."""
        ...


@dataclass(frozen=True)
class MiningStores:
    """What mining reads and writes."""

    mining: MiningStore
    runs: MiningRunStore
    candidates: CandidateStore
    reads: CandidateReads
    settings: MiningSettingsStore


class MiningActivities:
    """Each may be repeated: what was done once is found done."""

    def __init__(
        self, stores: MiningStores, builder: Callable[[Client], SessionBuilder], written: Callable[[], None]
    ) -> None:
        """``written`` is called after each change, to have the files projected."""
        self._stores = stores
        self._builder = builder
        self._written = written

    @activity.defn
    @refusing
    def open_mining(self, opening: MiningRunOpening) -> MiningRun:
        """Opens the run's record, or finds it open."""
        return self._stores.runs.open(opening)

    @activity.defn
    @refusing
    def mine_page(self, page: MiningPage) -> MiningPageResult:
        """Looks at the next people; one who cannot be looked at is counted and skipped.

        Ends early, and without loss, when the worker is asked to stop.
        """
        before = page.before
        limit = page.limit
        if page.owner_user_id is not None:
            people: tuple[str, ...] = (page.owner_user_id,)
        else:
            people = self._stores.mining.people_after(before.cursor, limit)
        finished = page.owner_user_id is not None or len(people) < limit
        progress, to_build = before, list[CandidateToBuild]()
        for count, person in enumerate(people):
            if count and activity.is_worker_shutdown():
                finished = False
                break
            activity.heartbeat(count)
            found = self._one(person, page)
            progress = _added(progress, person, found)
            to_build += [CandidateToBuild(candidate_id=c, owner_user_id=person) for c in found.to_build]
        progress = progress.changed(finished=finished)
        self._stores.runs.note(page.run_id, progress)
        self._written()
        return MiningPageResult(progress=progress, to_build=tuple(to_build))

    def _one(self, person: str, page: MiningPage) -> PersonMined:
        correlation_id = skill_mining_id(page.run_id)
        try:
            return self._stores.mining.mine(person, correlation_id, page.now, activity.heartbeat)
        except Exception as error:
            activity.logger.warning(
                "a person's captures were left out", extra={"person": person, "error": type(error).__name__}
            )
            reason = clipped(f"{type(error).__name__} while mining", 240)
            return PersonMined(failures=(MiningFailure(item=clipped(f"user {person}", 240), reason=reason),))

    @activity.defn
    @refusing
    def close_mining(self, closing: MiningRunClosing) -> MiningRun:
        """Records how the run ended."""
        return self._stores.runs.close(closing)

    @activity.defn
    @refusing
    def begin_build(self, build: CandidateBuild) -> MiningCandidate:
        """Decides that the candidate is built, once."""
        candidate = self._stores.candidates.begin_build(build)
        self._written()
        return candidate

    @activity.defn
    async def open_mined_session(self, build: CandidateBuild) -> MiningCandidate:
        """Opens the candidate's learning session, up to its draft or its questions."""
        with refusals_by_rule():
            candidate = self._candidate(build)
            allowed = self._stores.settings.of(build.owner_user_id)
            await self._builder(activity.client()).open(candidate, allowed, activity.heartbeat)
            opened = self._stores.candidates.opened(build.candidate_id, build.correlation_id, build.now)
        self._written()
        return opened

    @activity.defn
    async def see_build_through(self, build: CandidateBuild) -> CandidateBuildEnd:
        """Waits for the tests. A draft that mining made by itself and that fails them is withdrawn."""
        with refusals_by_rule():
            candidate = self._candidate(build)
            builder = self._builder(activity.client())
            aggregate = await builder.tested(candidate, activity.heartbeat)
            allowed = self._stores.settings.of(build.owner_user_id)
            state = aggregate.session.state
            unproven = state in _UNPROVEN and allowed.require_tests_before_proposal
            if not unproven or build.asked_by is not None:
                return CandidateBuildEnd(candidate_id=build.candidate_id, built=True)
            if state is S.DRAFTING_PROPOSAL:
                await builder.withdraw(candidate, TESTS_FAILED)
            reason = (
                TESTS_FAILED
                if state is S.DRAFTING_PROPOSAL
                else "Its draft was quarantined; look at its session."
            )
        return self._give_up(build, reason)

    @activity.defn
    async def abandon_build(self, given_up: CandidateGivenUp, build: CandidateBuild) -> CandidateBuildEnd:
        """Takes back what a build that cannot go on has begun; the candidate also where its session stays."""
        with refusals_by_rule():
            try:
                await self._builder(activity.client()).withdraw(self._candidate(build), given_up.reason)
            except Refusal as refused:
                if refused.retryable:
                    raise
                activity.logger.warning(
                    "the session of a build was not withdrawn", extra={"reason": refused.message}
                )
        return self._give_up(build, given_up.reason, deferred=given_up.deferred)

    @activity.defn
    @refusing
    def give_up_build(self, given_up: CandidateGivenUp, build: CandidateBuild) -> CandidateBuildEnd:
        """Takes the candidate back alone, where its session could not be reached."""
        return self._give_up(build, given_up.reason, deferred=given_up.deferred)

    def _candidate(self, build: CandidateBuild) -> MiningCandidate:
        return self._stores.reads.owned(build.candidate_id, build.owner_user_id)

    def _give_up(self, build: CandidateBuild, reason: str, *, deferred: bool = False) -> CandidateBuildEnd:
        given_up = CandidateGivenUp(
            candidate_id=build.candidate_id, reason=reason, deferred=deferred, now=build.now
        )
        self._stores.candidates.give_up(given_up, build.correlation_id)
        self._written()
        return CandidateBuildEnd(candidate_id=build.candidate_id, built=False, reason=reason)


def _added(progress: MiningProgress, person: str, found: PersonMined) -> MiningProgress:
    """The progress after one more person."""
    gates = Counter(progress.closed_gates) + found.closed
    return MiningProgress(
        people=progress.people + 1,
        people_off=progress.people_off + found.off,
        traces=progress.traces + found.traces,
        excluded=progress.excluded + found.excluded.total(),
        left_out=left_out(Counter({one.reason: one.count for one in progress.left_out}) + found.excluded),
        clusters=progress.clusters + found.clusters,
        candidates=progress.candidates + found.candidates,
        deferred=progress.deferred + found.deferred,
        built=progress.built,
        builds_failed=progress.builds_failed,
        failed=progress.failed + len(found.failures),
        closed_gates=dict(gates),
        failures=(*progress.failures, *found.failures)[:SAMPLE_SIZE],
        cursor=person,
    )
