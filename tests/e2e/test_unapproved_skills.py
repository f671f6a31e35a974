"""A folder that nobody approved is tried out by an admin: confined, for no agent, and refused to all others (O-3)."""

from pathlib import Path

import pytest

from skills.rehearsal.sandbox import probe_host
from tests.e2e.skill_calling import ASKER, opened
from tests.fixtures.skill_folders import approve_skill, write_skill

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not probe_host().process_tree, reason="this host has no namespaces for a sandbox"),
]

CALLS_A_SERVICE = """
async def handle(params, context):
    await context.calendar.lookup(range="2030-05-06")
    return {'success': True}
"""
PATH = "/api/skills/trial/invocations"
TRY = {"input": {}, "confirmed": True, "unapproved": True}


@pytest.mark.acceptance("O-3")
async def test_an_admin_tries_out_a_folder_and_it_stays_unapproved(
    tmp_path: Path, temporal_address: str
) -> None:
    async with opened(tmp_path, temporal_address) as stack:
        admin = stack.learner("root", (*ASKER, "admin"))
        write_skill(stack.settings.workspace / "skills", "trial")
        done = await admin.ok("POST", PATH, TRY, prefer="wait=30")
        assert (done["status"], done["lane"]) == ("success", "unapproved")
        assert done["attempts"][0]["isolation"]["namespaces"]
        status, error = await admin.refused("POST", PATH, {"input": {}})
        assert (status, error["code"]) == (404, "SKILL_NOT_FOUND")
        named = [tool["function"]["name"] for tool in (await admin.ok("GET", "/api/skills/openai-tools"))]
        assert "trial" not in named


@pytest.mark.acceptance("O-3")
async def test_nobody_else_has_it_read(tmp_path: Path, temporal_address: str) -> None:
    async with opened(tmp_path, temporal_address) as stack:
        write_skill(stack.settings.workspace / "skills", "trial")
        status, error = await stack.learner("alice", ASKER).refused("POST", PATH, TRY)
        assert (status, error["code"], error["required_scope"]) == (403, "FORBIDDEN", "admin")


@pytest.mark.acceptance("O-3")
async def test_it_has_none_of_the_permissions_that_it_asks_for_until_it_is_approved(
    tmp_path: Path, temporal_address: str
) -> None:
    async with opened(tmp_path, temporal_address) as stack:
        admin = stack.learner("root", (*ASKER, "admin"))
        folder = stack.settings.workspace / "skills"
        write_skill(folder, "trial", CALLS_A_SERVICE, permissions={"services": ["calendar"]})
        tried = await admin.ok("POST", PATH, TRY, prefer="wait=30")
        assert tried["error"]["code"] == "PERMISSION_DENIED"
        await approve_skill(admin, "trial")
        run = await admin.ok("POST", PATH, {"input": {}, "confirmed": True}, prefer="wait=30")
        assert run["lane"] == "skill"
        assert (run["error"] or {}).get("code") != "PERMISSION_DENIED"


async def test_what_cannot_be_tried_out_is_refused_with_its_reason(
    tmp_path: Path, temporal_address: str
) -> None:
    async with opened(tmp_path, temporal_address) as stack:
        admin = stack.learner("root", (*ASKER, "admin"))
        status, error = await admin.refused("POST", PATH, TRY)
        assert (status, error["code"]) == (404, "SKILL_NOT_FOUND")
        (write_skill(stack.settings.workspace / "skills", "trial") / "manifest.json").write_text("{")
        status, error = await admin.refused("POST", PATH, TRY)
        assert error["code"] == "SKILL_MALFORMED"
        write_skill(stack.settings.workspace / "skills", "calendar")
        status, error = await admin.refused("POST", "/api/skills/calendar/invocations", TRY)
        assert (status, error["code"], error["taken_by"]) == (409, "CONFLICT", "bundled")
