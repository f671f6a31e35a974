"""Gateway to the workflow of a sign-in (auth profile): each order is one update-with-start."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any

import anyio.to_thread
from temporalio.client import Client, WithStartWorkflowOperation

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
from contracts.workflow_ids import LOOK, auth_profile_workflow_id
from gateways.platform.updates import (
    Recall,
    StartOptions,
    Update,
    signal_running,
    start_options,
    start_or_join,
    told_if_behind,
    update_id_of,
    update_or_recall,
    update_with_start,
)
from stores.mcp.auth.profiles import AuthProfileStore, StoredProfile
from workflows.mcp.auth_profile_workflow import AuthProfileWorkflow
from workflows.mcp.mcp_messages import AuthProfileStart

ANSWER_WITHIN = timedelta(seconds=65)
"""Two attempts at a slow authorization server, and the wait for an order that runs."""

UPDATES: Mapping[type[AuthOrder], tuple[str, Update[Any, AuthReceipt]]] = {
    BeginSignIn: ("begin_sign_in", AuthProfileWorkflow.begin_sign_in),
    FinishSignIn: ("finish_sign_in", AuthProfileWorkflow.finish_sign_in),
    RenewToken: ("refresh", AuthProfileWorkflow.refresh),
    RevokeSignIn: ("revoke", AuthProfileWorkflow.revoke),
    ChangeProfile: ("change", AuthProfileWorkflow.change),
    ForgetProfile: ("forget", AuthProfileWorkflow.forget),
}
"""The prefix of the update id, and the update, of each order."""


def auth_profile_start(stored: StoredProfile) -> AuthProfileStart:
    """The input of a sign-in's workflow, from what the store has."""
    rest = stored.outcome(Outcome.CURRENT)
    return AuthProfileStart(
        auth_profile_id=stored.profile.auth_profile_id,
        owner_user_id=stored.owner,
        refresh_at=rest.refresh_at,
        token_version=rest.token_version,
    )


def auth_profile_options(start: AuthProfileStart, task_queue: str) -> StartOptions:
    """The options of the start of a sign-in's workflow; one that runs is joined."""
    return start_options(
        auth_profile_workflow_id(start.auth_profile_id),
        task_queue,
        kind="auth-profile",
        owner=start.owner_user_id,
        summary=f"sign-in of {start.owner_user_id}",
    )


async def run_sign_in(client: Client, task_queue: str, stored: StoredProfile) -> None:
    """Starts the workflow of a sign-in that is renewed on time; one that runs stays, and looks at the store.

    Raises:
        Refusal: ``TEMPORAL_UNAVAILABLE``.
    """
    start = auth_profile_start(stored)
    options = auth_profile_options(start, task_queue)
    await start_or_join(client, AuthProfileWorkflow.run, start, options, signal=LOOK)


class AuthProfileGateway:
    """Sends orders to sign-ins; every failure is raised as a ``Refusal``."""

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

    async def send(self, order: AuthOrder, check: Callable[[], object] | None = None) -> AuthReceipt:
        """Carries out one order; ``check`` may block and refuse what was not carried out before.

        Raises:
            Refusal: ``MCP_AUTH_PROFILE_NOT_FOUND``, what the sign-in refuses, ``MCP_SERVER_UNREACHABLE`` when the
                authorization server cannot be reached, ``TEMPORAL_UNAVAILABLE`` when no worker answers.
        """
        return await update_or_recall(
            partial(self._attempt, order),
            workflow_id=auth_profile_workflow_id(order.auth_profile_id),
            conflict="The sign-in is changing too fast; repeat the command.",
            recall=Recall(order.commit_key, self._profiles.recall, tell=self._make_known),
            check=check,
        )

    async def _make_known(self, receipt: AuthReceipt) -> None:
        """Has a sign-in's workflow look at the store.

        Raises:
            Refusal: ``TEMPORAL_UNAVAILABLE``.
        """
        workflow_id = auth_profile_workflow_id(receipt.auth_profile_id)
        if not await signal_running(self._client, workflow_id, LOOK, within=self._answer_within):
            stored = await anyio.to_thread.run_sync(self._profiles.due, receipt.auth_profile_id)
            if stored is not None:
                await run_sign_in(self._client, self._task_queue, stored)

    async def _attempt(self, order: AuthOrder) -> AuthReceipt:
        stored = await anyio.to_thread.run_sync(
            self._profiles.get, order.auth_profile_id, order.owner_user_id
        )
        begun = auth_profile_start(stored)
        start = WithStartWorkflowOperation(
            AuthProfileWorkflow.run, begun, **auth_profile_options(begun, self._task_queue)
        )
        name, update = UPDATES[type(order)]

        def is_behind() -> bool:
            return self._profiles.version_of(order.auth_profile_id) != stored.version

        async def tell() -> None:
            workflow_id = auth_profile_workflow_id(order.auth_profile_id)
            await signal_running(self._client, workflow_id, LOOK, within=self._answer_within)

        async with told_if_behind(is_behind, tell):
            return await update_with_start(
                self._client,
                start,
                update,
                order,
                update_id=f"{name}/{update_id_of(order.commit_key, stored.version)}",
                within=self._answer_within,
            )
