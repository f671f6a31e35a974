"""The API writes what agents report, the worker writes the files: neither is in an install's way."""

import pytest

from tests.fixtures.taught import Taught, taught

pytestmark = pytest.mark.anyio

__all__ = ["taught"]


@pytest.mark.parametrize("reports", [1, 3])
async def test_what_an_agent_has_just_reported_keeps_nobody_from_sharing_the_ability(
    taught: Taught, reports: int
) -> None:
    await taught.fails(reports)
    shared = await taught.alice.ok("POST", f"/api/abilities/{taught.ability_id}/promote-shared")
    assert shared["install_lane"] == "shared_promoted"
