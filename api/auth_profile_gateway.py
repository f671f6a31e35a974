"""The way to a sign-in's workflow: an order is one update-with-start."""

from datetime import timedelta

import anyio.to_thread
from temporalio.client import Client, WithStartWorkflowOperation
from temporalio.common import WorkflowIDConflictPolicy

from api.opening_update import update_or_open
from api.update_errors import WorkflowWasClosing
from contracts.errors import ErrorCode, Refusal
from contracts.mcp.auth_work import (
    AuthOrder,
    AuthReceipt,
    BeginSignIn,
    ChangeProfile,
    FinishSignIn,
    ForgetProfile,
    RenewToken,
    RevokeSignIn,
)
from contracts.mcp.auth_work import AuthOutcome as Outcome
from stores.mcp.auth_profiles import AuthProfileStore
from workflows.auth_profile_messages import AuthProfileStart
from workflows.auth_profile_workflow import AuthProfileWorkflow
from workflows.ids import auth_profile_workflow_id
from workflows.session_view import search_attributes_of

ANSWER_WITHIN = timedelta(seconds=65)
"""Two attempts at an authorization server that takes its time, and the wait for one that is under way."""

REOPENINGS = 5
"""How often an order follows a workflow that was just closing."""

UPDATES: dict[type[AuthOrder], str] = {
    BeginSignIn: "begin_sign_in",
    FinishSignIn: "finish_sign_in",
    RenewToken: "refresh",
    RevokeSignIn: "revoke",
    ChangeProfile: "change",
    ForgetProfile: "forget",
}
"""The update of each order."""


class AuthProfileGateway:
    """Sends orders to sign-ins. Every refusal comes back as a ``Refusal``, whoever made it."""

    def __init__(
        self,
        client: Client,
        task_queue: str,
        profiles: AuthProfileStore,
        *,
        answer_within: timedelta = ANSWER_WITHIN,
    ) -> None:
        self._client = client
        self._task_queue = task_queue
        self._profiles = profiles
        self._answer_within = answer_within

    async def send(self, order: AuthOrder) -> AuthReceipt:
        """Carries out one order.

        Raises:
            Refusal: ``MCP_AUTH_PROFILE_NOT_FOUND``, what the sign-in refuses, ``MCP_SERVER_UNREACHABLE`` when the
                authorization server cannot be reached, ``TEMPORAL_UNAVAILABLE`` when nobody answers.
        """
        for _ in range(REOPENINGS):
            stored = await anyio.to_thread.run_sync(
                self._profiles.get, order.auth_profile_id, order.owner_user_id
            )
            rest = stored.outcome(Outcome.CURRENT)
            start = AuthProfileStart(
                auth_profile_id=order.auth_profile_id,
                owner_user_id=order.owner_user_id,
                refresh_at=rest.refresh_at,
                token_version=rest.token_version,
            )
            try:
                return await self._update(order, start)
            except WorkflowWasClosing:
                continue
        raise Refusal(ErrorCode.CONFLICT, "The sign-in is changing too fast; repeat the command.")

    async def _update(self, order: AuthOrder, start: AuthProfileStart) -> AuthReceipt:
        operation = WithStartWorkflowOperation(
            AuthProfileWorkflow.run,
            start,
            id=auth_profile_workflow_id(start.auth_profile_id),
            task_queue=self._task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            static_summary=f"sign-in of {start.owner_user_id}",
            search_attributes=search_attributes_of("auth-profile", start.owner_user_id),
        )
        update = UPDATES[type(order)]
        return await update_or_open(
            self._client,
            operation,
            update,
            order,
            AuthReceipt,
            update_id=f"{update}/{order.commit_key.owner_user_id}/{order.commit_key.key}",
            within=self._answer_within,
        )
