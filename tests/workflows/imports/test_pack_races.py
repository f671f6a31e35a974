"""Seeded crowds that install one pack and give it up: one install at a time, which is done whole or undone whole."""

from random import Random

import httpx
import pytest

from stores.platform.journal.chains import verify_chains
from tests.fixtures.crowds import CROWDED, FEW_ROUNDS, all_answered, each_crowd
from tests.fixtures.importing import Importer
from tests.fixtures.stack import Stack
from tests.workflows.imports.test_installing_a_pack import PACK, below, ended, put, skill, staged, steps

pytestmark = [*CROWDED, pytest.mark.thorough]


@each_crowd
async def test_of_a_crowd_that_installs_and_gives_up_a_pack_one_install_is_whole_or_undone(
    stack: Stack, crowd: int
) -> None:
    alice = Importer(stack.learner())
    await put(alice, "sort-rows", "plot-chart")
    for seed in range(FEW_ROUNDS):
        await staged(alice, skill("sort-rows", body=f"2. Round {seed}.\n"))
        await staged(alice, skill("plot-chart", body=f"2. Round {seed}.\n"))
        before = below(stack.settings.workspace)
        seen = await alice.learner.ok("GET", f"{PACK}/tables")
        body = {"accept_unproved": True, "unproved_digest": seen["unproved_digest"]}
        # The ids of installs follow from these keys, and crowds of other sizes have the same server.
        keys = [f"install-{crowd}-{seed}-{number}" for number in range(crowd)]

        async def install(key: str, body: dict[str, object] = body) -> httpx.Response:
            return await alice.learner.call("POST", f"{PACK}/tables/install", body, idempotency_key=key)

        answers = await all_answered(keys, install)
        refused = {one.json()["error"]["code"] for one in answers if not one.is_success}
        begun = {one.json()["install"]["pack_install_id"] for one in answers if one.is_success}
        assert refused <= {"CONFLICT"}
        assert len(begun) == 1
        running = next(one.json()["install"] for one in answers if one.is_success)

        cancel = f"{PACK}/installs/{running['pack_install_id']}/cancel"
        givers = [f"cancel-{seed}-{number}" for number in range(Random(seed).choice((0, crowd)))]

        async def give_up(key: str, cancel: str = cancel) -> httpx.Response:
            return await alice.learner.call("POST", cancel, {"reason": "not now"}, idempotency_key=key)

        given_up = await all_answered(givers, give_up)
        assert {one.json()["error"]["code"] for one in given_up if not one.is_success} <= {"CONFLICT"}
        done = await ended(stack, alice, running)
        states = {state for _, state in steps(done)}
        if done["state"] == "installed":
            assert states == {"installed"}
            assert below(stack.settings.workspace) != before
        else:
            assert (done["state"], done["error_code"]) == ("rolled_back", "CANCELLED")
            assert "installed" not in states
            assert below(stack.settings.workspace) == before
        versions = [
            (await alice.learner.ok("GET", f"/api/abilities/imported.{name}/versions"))["versions"]
            for name in ("sort-rows", "plot-chart")
            if any(path.startswith(f"skills/{name}/") for path in below(stack.settings.workspace))
        ]
        assert len({len(found) for found in versions}) <= 1
    assert verify_chains(stack.database).intact
