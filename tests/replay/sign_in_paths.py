"""The life of a sign-in, walked through the API against a real authorization server."""

from datetime import timedelta

import anyio
from temporalio.testing import WorkflowEnvironment

from tests.fixtures.authorization_server import running_authorization_server
from tests.fixtures.learner import Learner
from tests.fixtures.signing_in import Person
from tests.fixtures.stack import Stack

WITHIN_SECONDS = 30
AUTO = {"refresh_policy": "auto_if_refresh_token"}


async def sign_in(stack: Stack, env: WorkflowEnvironment) -> Learner:
    """A sign-in that was denied, begun again, finished, renewed by the timer and by hand, changed, and revoked."""
    learner = stack.learner("signed_in", ("read", "learn", "install"))
    with running_authorization_server() as server:
        asked = {"provider": "custom_remote", "auth_mode": "oauth2_delegated", **AUTO}
        made = await learner.ok("POST", "/api/mcp/auth-profiles", asked)
        person = Person(stack, learner, profile_id=made["auth_profile_id"])
        # Switched off, so that nobody looks at it: what is recorded is the sign-in.
        person = await person.adds_server(server.url, enabled=False)
        server.ways.denies = "access_denied"
        await person.signs_in()
        server.ways.denies = None
        await person.signs_in()
        server.ways.token_status = [(503, {})]
        handle = env.client.get_workflow_handle(f"auth-profile/{person.profile_id}")
        await env.fast_forward(handle, timedelta(minutes=49))
        with anyio.fail_after(WITHIN_SECONDS):
            while len(server.token_requests) < 2:
                await anyio.sleep(0.02)
        await env.fast_forward(handle, timedelta(minutes=5))
        with anyio.fail_after(WITHIN_SECONDS):
            while person.stored().connection.token_version < 2:
                await anyio.sleep(0.02)
        await person.refreshes(force=True)
        path = f"/api/mcp/auth-profiles/{person.profile_id}"
        await learner.ok("PATCH", path, {"shared_profile": True})
        await person.revokes(revoke_remote=True)
        await learner.ok("DELETE", f"/api/mcp/servers/{person.server_id}")
        await learner.ok("DELETE", path)
    await learner.create()
    await learner.act("cancel", {"reason": "seen enough"})
    return learner
