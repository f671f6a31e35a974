"""One catalog and one lookup for skills and learned abilities, through the API on the real stack."""

import pytest

from tests.e2e.ability_owner import GOAL, owner_of_one
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


@pytest.mark.acceptance("AI-15")
async def test_a_learned_ability_is_found_beside_the_skills_and_is_no_folder_to_approve(stack: Stack) -> None:
    owner = await owner_of_one(stack)
    admin = stack.learner("root", ("admin",))
    folders = {path.name for path in (stack.settings.workspace / "skills").iterdir()}
    await admin.ok("POST", "/api/skills/reload", {})
    catalog = await admin.ok("GET", "/api/skills?page_size=100")
    assert not folders & {one["name"] for one in catalog["skills"]}, "it was approved as an ability"

    found = await owner.learner.ok("POST", "/api/skills/find", {"description": GOAL})
    first = found["skills"][0]
    assert (first["skill"], first["kind"]) == (owner.ability_id, "ability")
    other = await owner.learner.ok(
        "POST", "/api/skills/find", {"description": "fetch the balance of the wallet"}
    )
    assert next((one["skill"], one["kind"]) for one in other["skills"]) == ("fetch-wallet-balance", "skill")
    await owner.does("deactivate")
    gone = await owner.learner.ok("POST", "/api/skills/find", {"description": GOAL})
    assert owner.ability_id not in {one["skill"] for one in gone["skills"]}
