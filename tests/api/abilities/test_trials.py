"""What the routes of trials refuse."""

import pytest

from contracts.learning.starting_state import ARCHIVE_TYPE
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

UNKNOWN = {"folder_ref": "trial-folder/" + "0" * 64}


async def handed_in(learner: Learner, content: bytes, media_type: str = ARCHIVE_TYPE) -> tuple[int, str]:
    head = {"authorization": f"Bearer {learner.secret}", "content-type": media_type}
    answer = await learner.http.post("/api/abilities/trials/folders", content=content, headers=head)
    return answer.status_code, answer.json()["error"]["code"]


async def test_what_is_no_folder_is_not_taken(shared: Stack) -> None:
    alice = shared.learner("trial-alice")
    assert await handed_in(alice, b"no archive") == (422, "VALIDATION_FAILED")
    assert await handed_in(alice, b"x" * (4 * 1024 * 1024 + 1), "text/plain") == (413, "PAYLOAD_TOO_LARGE")


async def test_a_trial_needs_the_scope_to_install_and_an_ability_that_one_may_see(shared: Stack) -> None:
    reader = shared.learner("trial-reader", ("read", "call"))
    status, error = await reader.refused("POST", "/api/abilities/learned.none/trials", UNKNOWN)
    assert (status, error["required_scope"]) == (403, "install")
    alice = shared.learner("trial-alice")
    status, error = await alice.refused("POST", "/api/abilities/learned.none/trials", UNKNOWN)
    assert (status, error["code"]) == (404, "ABILITY_NOT_FOUND")
    status, error = await alice.refused("POST", "/api/abilities/learned.none/trials", {"folder_ref": "/etc"})
    assert (status, error["code"]) == (422, "VALIDATION_FAILED")
