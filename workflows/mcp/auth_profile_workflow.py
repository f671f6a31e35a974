"""Workflow of a sign-in (auth profile): orders run one at a time, and a timer renews its token before it expires."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError, FailureError

with workflow.unsafe.imports_passed_through():
    from activities.mcp.auth_profile_activities import ATTEMPTS_OF_A_PERSON, AuthProfileActivities
    from contracts.backoff import Backoff
    from contracts.base import rfc3339
    from contracts.errors import ErrorCode
    from contracts.mcp.auth_work import (
        AuthOrder,
        AuthOutcome,
        AuthReceipt,
        BeginSignIn,
        ChangeProfile,
        FinishSignIn,
        ForgetProfile,
        RenewToken,
        RevokeSignIn,
        SignInLook,
    )
    from contracts.platform.commands import CommitKey
    from contracts.workflow_ids import LOOK
    from workflows.mcp.mcp_messages import AuthProfileEnd, AuthProfileStart
    from workflows.platform.presets import STORE_CALL, LocalCall
    from workflows.platform.refusals import application_error_in, refused


# Both end later than every request they make: two attempts with one refresh token never overlap, which an
# authorization server would take for a theft.
ASKED = LocalCall(
    start_to_close_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(milliseconds=500), maximum_attempts=ATTEMPTS_OF_A_PERSON
    ),
)
"""A token exchange that a client waits for."""

ON_TIME = LocalCall(
    start_to_close_timeout=timedelta(seconds=30), retry_policy=RetryPolicy(maximum_attempts=1)
)
"""A renewal ahead of the end: there is time, so what fails is tried again by the timer."""

RENEWAL_BACKOFF = Backoff(first=10, cap=300, jitter=0.9)
"""Seconds before a failed renewal is tried again (decisions "Numbers")."""

PAUSE_AFTER_REFUSAL = timedelta(hours=1)
"""How long before one is tried again that was refused for good, while the sign-in is kept."""


@workflow.defn(name="AuthProfileWorkflow")
class AuthProfileWorkflow:
    """The lock of a sign-in, and its alarm clock. Without a token to renew it closes; the next order opens it.

    It knows versions and times, never a token, a code or a state.
    """

    @workflow.init
    def __init__(self, start: AuthProfileStart) -> None:
        self._start = start
        self._refresh_at = start.refresh_at
        self._version = start.token_version
        self._failures = start.failures
        self._turn = asyncio.Lock()
        self._asked = 0
        self._answered = 0
        self._renewed = 0
        self._stirred = False
        self._is_to_look = False

    @workflow.run
    async def run(self, start: AuthProfileStart) -> AuthProfileEnd:
        """Renews on time for as long as there is something to renew."""
        if self._refresh_at is None:
            await workflow.wait_condition(lambda: self._asked > 0 or self._is_to_look)
        while True:
            await workflow.wait_condition(workflow.all_handlers_finished)
            self._stirred = False
            if self._is_to_look:
                await self._look_at_store()
                continue
            if self._refresh_at is None:
                return AuthProfileEnd(answered=self._answered, renewed=self._renewed)
            if self._renewed >= start.renewals_a_run or workflow.info().is_continue_as_new_suggested():
                self._go_on_afresh()
            left = max(self._refresh_at - workflow.now(), timedelta())
            try:
                await workflow.wait_condition(
                    lambda: self._stirred, timeout=left, timeout_summary="renew the token"
                )
            except TimeoutError:
                await self._renew_on_time()

    @workflow.signal(name=LOOK, description="The store may know more: look at it")
    def look(self) -> None:
        self._is_to_look = self._stirred = True

    @workflow.update(description="Begin a sign-in: find where, and keep a state for the way back")
    async def begin_sign_in(self, order: BeginSignIn) -> AuthReceipt:
        return await self._in_turn(
            lambda: workflow.execute_activity_method(
                AuthProfileActivities.begin_sign_in, order, summary="find the authorization server", **ASKED
            )
        )

    @workflow.update(description="Finish a sign-in with the code that the browser brought")
    async def finish_sign_in(self, order: FinishSignIn) -> AuthReceipt:
        return await self._in_turn(
            lambda: workflow.execute_activity_method(
                AuthProfileActivities.finish_sign_in, order, summary="exchange the code", **ASKED
            )
        )

    @workflow.update(description="Renew the token, unless somebody just did")
    async def refresh(self, order: RenewToken) -> AuthReceipt:
        return await self._in_turn(
            lambda: workflow.execute_activity_method(
                AuthProfileActivities.renew_token, order, summary="renew the token", **ASKED
            )
        )

    @workflow.update(description="End the sign-in")
    async def revoke(self, order: RevokeSignIn) -> AuthReceipt:
        return await self._in_turn(
            lambda: workflow.execute_activity_method(
                AuthProfileActivities.revoke_sign_in, order, summary="end the sign-in", **ASKED
            )
        )

    @workflow.update(description="Change what people chose of the sign-in")
    async def change(self, order: ChangeProfile) -> AuthReceipt:
        return await self._in_turn(
            lambda: workflow.execute_local_activity_method(
                AuthProfileActivities.change_profile, order, summary="change the sign-in", **STORE_CALL
            )
        )

    @workflow.update(description="Forget the sign-in and its secrets")
    async def forget(self, order: ForgetProfile) -> AuthReceipt:
        return await self._in_turn(
            lambda: workflow.execute_local_activity_method(
                AuthProfileActivities.forget_profile, order, summary="forget the sign-in", **STORE_CALL
            )
        )

    @begin_sign_in.validator
    def _may_begin(self, order: BeginSignIn) -> None:
        self._is_meant(order)

    @finish_sign_in.validator
    def _may_finish(self, order: FinishSignIn) -> None:
        self._is_meant(order)

    @refresh.validator
    def _may_refresh(self, order: RenewToken) -> None:
        self._is_meant(order)

    @revoke.validator
    def _may_revoke(self, order: RevokeSignIn) -> None:
        self._is_meant(order)

    @change.validator
    def _may_change(self, order: ChangeProfile) -> None:
        self._is_meant(order)

    @forget.validator
    def _may_forget(self, order: ForgetProfile) -> None:
        self._is_meant(order)

    def _is_meant(self, order: AuthOrder) -> None:
        start = self._start
        if (order.auth_profile_id, order.owner_user_id) != (start.auth_profile_id, start.owner_user_id):
            raise refused(
                ErrorCode.INTERNAL_ERROR, f"This workflow is the sign-in {start.auth_profile_id}'s."
            )

    async def _in_turn(self, act: Callable[[], Awaitable[AuthReceipt]]) -> AuthReceipt:
        self._asked += 1
        try:
            async with self._turn:
                receipt = await act()
                self._take(receipt)
                return receipt
        except FailureError as error:
            raise application_error_in(error) from None
        finally:
            self._answered += 1
            self._stirred = True

    async def _look_at_store(self) -> None:
        """An order may have been carried out whose update was lost before it reached the history."""
        self._is_to_look = False
        start = self._start
        look = SignInLook(auth_profile_id=start.auth_profile_id, owner_user_id=start.owner_user_id)
        async with self._turn:
            try:
                self._take(
                    await workflow.execute_local_activity_method(
                        AuthProfileActivities.look_at_sign_in, look, summary="look at the store", **STORE_CALL
                    )
                )
            except ActivityError as error:
                self._pause_after(error)

    async def _renew_on_time(self) -> None:
        start = self._start
        async with self._turn:
            order = RenewToken(
                commit_key=CommitKey(
                    owner_user_id=start.owner_user_id,
                    key=f"{workflow.info().workflow_id}#{workflow.uuid4()}",
                    request_digest="0" * 64,
                ),
                correlation_id=str(workflow.uuid4()),
                auth_profile_id=start.auth_profile_id,
                owner_user_id=start.owner_user_id,
                seen_version=self._version,
                automatic=True,
                ahead=True,
            )
            try:
                receipt = await workflow.execute_activity_method(
                    AuthProfileActivities.renew_token, order, summary="renew ahead of the end", **ON_TIME
                )
            except ActivityError as error:
                self._pause_after(error)
            else:
                self._renewed += receipt.outcome is AuthOutcome.DONE
                self._take(receipt)

    def _take(self, receipt: AuthReceipt) -> None:
        """What follows from an order for the timer."""
        self._version = receipt.token_version
        if receipt.refresh_at is None or receipt.renew_in_seconds is None:
            self._refresh_at = None
        elif receipt.outcome is AuthOutcome.DONE or self._failures == 0 or self._refresh_at is None:
            # A second at the least: a token that is over when it comes must not be fetched without end.
            self._refresh_at = workflow.now() + timedelta(seconds=max(receipt.renew_in_seconds, 1.0))
        if receipt.outcome is AuthOutcome.DONE:
            self._failures = 0
        self._show(f"{receipt.state.value} after `{receipt.outcome.value}`")

    def _pause_after(self, error: ActivityError) -> None:
        cause = error.cause
        if isinstance(cause, ApplicationError) and cause.type == ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND:
            self._refresh_at = None
            return
        self._failures += 1
        if isinstance(cause, ApplicationError) and cause.non_retryable:
            pause = PAUSE_AFTER_REFUSAL
        elif isinstance(cause, ApplicationError) and cause.next_retry_delay is not None:
            pause = cause.next_retry_delay
        else:
            pause = timedelta(seconds=RENEWAL_BACKOFF.delay(self._failures, workflow.random().random()))
        self._refresh_at = workflow.now() + max(pause, timedelta(seconds=1))
        self._show(f"renewal failed {self._failures} times ({cause}); the sign-in is kept")

    def _go_on_afresh(self) -> None:
        workflow.continue_as_new(
            self._start.changed(
                refresh_at=self._refresh_at, token_version=self._version, failures=self._failures
            )
        )

    def _show(self, state: str) -> None:
        lines = [
            f"**Sign-in** `{self._start.auth_profile_id}` of {self._start.owner_user_id}",
            f"**{state}**",
        ]
        if self._refresh_at is not None:
            lines.append(f"**Waits for:** the renewal at {rfc3339(self._refresh_at)}")
        workflow.set_current_details("\n\n".join(lines))
