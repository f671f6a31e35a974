"""A worker is killed while it renews a token: the sign-in is kept, or says that somebody has to sign in again.

An authorization server that rotates its refresh tokens takes the spent one, which is all that is kept when the
worker dies between the answer and its transaction, for a theft. Nobody can know then what the answer was; what
must not happen is that the sign-in looks whole and is not.
"""

import threading

import httpx
import pytest

from tests.faults.deployment import Deployment
from tests.fixtures.authorization_server import AuthorizationServer, Form
from tests.fixtures.signing_in import Person

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("moment", "rotates", "state"),
    [
        ("before_token", True, "healthy"),
        ("after_token", False, "healthy"),
        ("after_token", True, "challenge_required"),
    ],
)
async def test_killed_while_the_authorization_server_answers(
    deployment: Deployment,
    http: httpx.AsyncClient,
    authorization_server: AuthorizationServer,
    moment: str,
    rotates: bool,
    state: str,
) -> None:
    alice = Person(None, deployment.learner(http, ("read", "install")))
    alice = await alice.registers(authorization_server.url)
    authorization_server.ways.rotates = rotates
    await alice.signs_in()
    killed = threading.Event()

    def kill(form: Form) -> bool:
        if killed.is_set():
            return False
        killed.set()
        deployment.kill_workers()
        return True

    setattr(authorization_server.ways, moment, kill)
    async with deployment.replacing_workers():
        status = await alice.refreshes(force=True)
    assert killed.is_set()
    assert status["auth_state"] == state
    assert status["last_auth_error_code"] == (None if state == "healthy" else "invalid_grant")
    if state != "healthy":
        assert "auth start" in status["next_action"]
        setattr(authorization_server.ways, moment, None)
        assert (await alice.signs_in())["auth_state"] == "healthy"
