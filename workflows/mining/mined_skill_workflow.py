"""The build of one mined candidate: a learning session is opened for it, drafted and tested."""

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, FailureError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from activities.mining.mining_activities import MiningActivities
    from contracts.base import clipped
    from contracts.errors import ErrorCode
    from contracts.mining.candidates import CandidateState, MiningCandidate
    from contracts.mining.runs import CandidateBuildEnd, CandidateGivenUp
    from workflows.mining.skill_mining_messages import MinedSkillStart
    from workflows.platform.presets import REHEARSAL, SESSION_COMMANDS, STORE_CALL
    from workflows.platform.refusals import application_error_in


GIVES_UP_ITSELF = "gives-up-its-own-record"
"""The change by which a build whose session cannot be reached takes its candidate back; before it that stayed open."""


@workflow.defn(name="MinedSkillWorkflow")
class MinedSkillWorkflow:
    """Goes no further than the owner's settings let it: the session stops at questions, review or private use.

    The command that accepted the candidate is answered as soon as its session exists.
    """

    @workflow.init
    def __init__(self, start: MinedSkillStart) -> None:
        self._build = start.build
        self._opened: MiningCandidate | None = None
        self._refused: ApplicationError | None = None
        self._show("opening")

    @workflow.run
    async def run(self, start: MinedSkillStart) -> CandidateBuildEnd:
        """Decides, opens, sees through; a build that cannot go on is taken back."""
        try:
            end = await self._carry_out()
        except FailureError as error:
            if is_cancelled_exception(error):
                raise
            self._refused = application_error_in(error)
            reason = clipped(self._refused.message, 240)
            end = CandidateBuildEnd(candidate_id=start.build.candidate_id, built=False, reason=reason)
        self._show("built" if end.built else f"not built: {end.reason}")
        await workflow.wait_condition(workflow.all_handlers_finished)
        return end

    @workflow.update(description="Wait for the session that the candidate becomes")
    async def opened(self) -> MiningCandidate:
        """The candidate with its session, or the refusal of the build."""
        await workflow.wait_condition(lambda: self._opened is not None or self._refused is not None)
        if self._opened is None:
            assert self._refused is not None
            raise self._refused
        return self._opened

    async def _carry_out(self) -> CandidateBuildEnd:
        begun = await workflow.execute_local_activity_method(
            MiningActivities.begin_build, self._build, summary="decide", **STORE_CALL
        )
        if begun.state is CandidateState.BUILT:
            self._opened = begun
            return CandidateBuildEnd(candidate_id=begun.candidate_id, built=True)
        try:
            opened = await workflow.execute_activity_method(
                MiningActivities.open_mined_session,
                self._build,
                summary="open its session",
                **SESSION_COMMANDS,
            )
        except ActivityError as error:
            if not is_cancelled_exception(error):
                await self._abandon(application_error_in(error))
            raise
        self._opened = opened
        self._show(f"testing, session {opened.learn_session_id}")
        return await workflow.execute_activity_method(
            MiningActivities.see_build_through, self._build, summary="wait for its tests", **REHEARSAL
        )

    async def _abandon(self, error: ApplicationError) -> None:
        given_up = CandidateGivenUp(
            candidate_id=self._build.candidate_id,
            reason=clipped(error.message, 240),
            deferred=error.type == ErrorCode.LEARN_SESSION_ALREADY_ACTIVE,
            now=workflow.now(),
        )
        try:
            await workflow.execute_activity_method(
                MiningActivities.abandon_build,
                args=[given_up, self._build],
                summary="take it back",
                **SESSION_COMMANDS,
            )
        except ActivityError:
            if not workflow.patched(GIVES_UP_ITSELF):
                raise
            await workflow.execute_local_activity_method(
                MiningActivities.give_up_build,
                args=[given_up, self._build],
                summary="take the candidate back",
                **STORE_CALL,
            )

    def _show(self, doing: str) -> None:
        build = self._build
        workflow.set_current_details(
            f"**Candidate** `{build.candidate_id}` of {build.owner_user_id}\n\n"
            f"- asked by: {build.asked_by or 'mining itself'}\n- at: {doing}"
        )
