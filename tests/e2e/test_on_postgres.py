"""The same application on PostgreSQL, as a cluster runs it."""

from pathlib import Path

import pytest

from stores.platform.projection.projector import Projector
from tests.fixtures.stack import connect, running_stack, stack_settings

pytestmark = pytest.mark.anyio


async def test_an_ability_is_taught_installed_and_found_on_postgres(
    tmp_path: Path, temporal_address: str, migrated_postgres_url: str
) -> None:
    client = await connect(temporal_address)
    settings = stack_settings(tmp_path, database_url=migrated_postgres_url)
    async with running_stack(settings, client) as stack:
        alice, bob = stack.learner("alice"), stack.learner("bob")
        await alice.demonstrate(ask_before_build=True)
        await alice.propose()
        detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
        answers = [
            {"question_id": q["question_id"], "answer_text": q["suggestion"]} for q in detail["questions"]
        ]
        await alice.act("answer-questions", {"answers": answers})
        assert await alice.prove() == "ready_for_review"
        await alice.propose_act("approve")
        query = {"user_query": "summarise the sales figures"}
        assert (await bob.ok("POST", "/api/abilities/lookup", query))["matches"]

        await bob.create()
        status, error = await bob.refused("POST", "/api/learn/sessions", {"entry_mode": "coaching_agent"})
        assert (status, error["code"]) == (409, "LEARN_SESSION_ALREADY_ACTIVE")
        projector = Projector(stack.database, settings.memory_root, settings.workspace)
        projector.catch_up()
        report = projector.verify()
        assert report.intact, report.differences[:3]
