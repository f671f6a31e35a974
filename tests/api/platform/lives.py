"""Setup and later changes for the requests that the idempotency tests repeat."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from uuid_utils import uuid7

from api.platform.openapi import examples
from contracts.learning.starting_state import ARCHIVE_TYPE
from host.folder_archive import ArchiveLimits, pack_folder
from stores.platform.database import Database
from tests.api.mcp.mcp_world import TOOL_NAME, add_tool_server, discovered
from tests.api.skills.memory_world import add_memories
from tests.fixtures.importing import good_bundle, zipped
from tests.fixtures.learner import Learner, UploadForm
from tests.fixtures.mined import add_mined
from tests.fixtures.pdf_documents import written
from tests.fixtures.stack import Stack
from tests.fixtures.starting import sent, state_of

EXAMPLES = examples().requests

Ask = Callable[..., Awaitable[dict[str, Any]]]
"""Sends a request under a key of its own, remembers it, and gives the answer."""


async def documents_read(alice: Learner, ask: Ask) -> None:
    """A document that is handed in, every operation on it, and that it is forgotten."""
    head = {"authorization": f"Bearer {alice.secret}", "content-type": "application/pdf"}
    content = written(["Hello", "mail me at ada@example.org"])
    kept = await alice.http.post("/api/adapters/acrobat/sources", content=content, headers=head)
    source = {"source_ref_kind": "temp_artifact_ref", "source_ref": kept.json()["temp_artifact_ref"]}
    for operation in ("extract_text", "extract_tables", "ocr", "redaction_prep"):
        await ask(f"acrobat_{operation}", source)
    await ask("acrobat_forget", digest=kept.json()["digest"])


async def skills_run(alice: Learner, ask: Ask) -> None:
    """A wallet, rules, and invocations: one tried out, one refused by a person, one given up."""
    wallet = "0x" + "77" * 20
    await ask("wallet_create", {"wallet_address": wallet, "currency": "USDC"})
    await ask("wallet_fund", {"amount": "5"}, wallet_address=wallet)
    await ask("agent_create", {"name": "Nora", "wallet_address": wallet})
    rule = {
        "rule_id": "money",
        "decision": "ask",
        "reason": "Money is asked about.",
        "skills": ["debit-wallet"],
    }
    await ask("skill_policy_put", {"rules": [rule]})
    look = {"input": {"wallet_address": wallet}, "dry_run": True}
    await ask("skill_invoke", look, name="fetch-wallet-balance")
    given = {**EXAMPLES["skill_invoke"]["input"], "wallet_address": wallet}
    path = "/api/skills/debit-wallet/invocations"
    waiting = [(await alice.ok("POST", path, {"input": given}))["invocation_id"] for _ in range(2)]
    await ask("skill_invocation_confirm", {"approve": False}, invocation_id=waiting[0])
    await ask("skill_invocation_cancel", {}, invocation_id=waiting[1])
    await alice.ok("PUT", "/api/skills/policy", {"rules": []})
    approval = {"content": {"content_id": str(uuid7()), "script": "Hello."}, "platforms": ["twitter"]}
    given_out = await alice.ok("POST", "/api/skills/approval-tokens", approval)
    await ask("skill_approval_create", approval)
    await ask("skill_approval_revoke", jti=given_out["jti"])
    await ask("skill_reload", {})
    await ask("skill_tool_register", EXAMPLES["skill_tool_register"])
    await ask("skill_register", EXAMPLES["skill_register"])
    await ask("skill_approve", {}, name="debit-wallet")


async def imported(alice: Learner, ask: Ask) -> None:
    """Bundles of skills: uploads, one of which is deleted, and every command on imports of others."""
    kept = await ask("skill_import_create", UploadForm("tidy-tables.zip", good_bundle()))
    await ask("skill_import_upload_delete", temp_artifact_ref=kept["temp_artifact"]["temp_artifact_ref"])
    for command, body in (("approve", {}), ("reject", {"reason": "no"}), ("discard", {})):
        about = {"import_id": await _staged(ask)}
        await ask(f"skill_import_{command}", {**about, **body})
    broken = await ask("skill_import_create", UploadForm("notes.zip", zipped({"notes.txt": "hello"})))
    failed = await ask("skill_import_scan", _of(broken))
    about = {"import_id": failed["import_record"]["import_id"]}
    await ask("skill_import_retry", {**about, "retry_kind": "scan"})
    pack = await ask("skill_pack_put", {**EXAMPLES["skill_pack_put"], "skills": ["calendar"]})
    pack_id = pack["pack"]["pack_id"]
    opened = (await ask("skill_pack_install", {}, pack_id=pack_id))["install"]
    with anyio.fail_after(30):
        path = f"/api/skills/packs/installs/{opened['pack_install_id']}"
        while (await alice.ok("GET", path))["install"]["state"] == "running":
            await anyio.sleep(0.02)
    await ask("skill_pack_delete", pack_id=pack_id)


async def _staged(ask: Ask) -> str:
    kept = await ask("skill_import_create", UploadForm("tidy-tables.zip", good_bundle()))
    scanned = await ask("skill_import_scan", _of(kept))
    import_id: str = scanned["import_record"]["import_id"]
    await ask("skill_import_stage", {"import_id": import_id})
    return import_id


def _of(kept: dict[str, Any]) -> dict[str, str]:
    return {"source": "manual_upload", "temp_artifact_ref": kept["temp_artifact"]["temp_artifact_ref"]}


async def remembered(alice: Learner, ask: Ask, database: Database) -> None:
    """What skills remember: one is erased, a check-in is cancelled, a question answered."""
    known = add_memories(database, "alice")
    await ask("inbox_answer", EXAMPLES["inbox_answer"], inbox_item_id=known["inbox_item_id"])
    await ask("memory_check_in_cancel", {}, check_in_id=known["check_in_id"])
    await ask("memory_goal_move", {"state": "active"}, goal_id=known["goal_id"])
    await ask("memory_erase", None, memory_id=known["memory_id"])


async def began(alice: Learner, ask: Ask) -> None:
    """A starting state that a recorder sends, and that it is removed."""
    clean = state_of(alice.session_id, {"notes.txt": b"hello\n"})
    path = f"/api/learn/sessions/{alice.session_id}/starting-states/{clean.state.state_id}"
    head = {"authorization": f"Bearer {alice.secret}", "content-type": "application/gzip"}
    await alice.http.put(path, content=sent(clean), headers=head)
    await ask("learn_starting_state_remove", state_id=clean.state.state_id)


async def tried(alice: Learner, ask: Ask, ability_id: str) -> None:
    """A trial of an ability on a folder that is handed in, and that it is removed."""
    head = {"authorization": f"Bearer {alice.secret}", "content-type": ARCHIVE_TYPE}
    with TemporaryDirectory() as folder:
        content = pack_folder(Path(folder), ArchiveLimits(10, 1000))
    kept = await alice.http.post("/api/abilities/trials/folders", content=content, headers=head)
    run = await ask("ability_trial_start", {"folder_ref": kept.json()["folder_ref"]}, ability_id=ability_id)
    await ask("ability_trial_remove", trial_id=run["trial_id"])


async def registered(stack: Stack, alice: Learner, ask: Ask) -> None:
    """A tool server that is registered, looked at, changed and deleted."""
    made = await ask("mcp_server_register", {**EXAMPLES["mcp_server_register"], "enabled": False})
    server_id = made["server"]["registry"]["server_id"]
    seen = discovered(stack, server_id, alice.user)
    ids = {"server_id": server_id, "tool_name": TOOL_NAME}
    await ask("mcp_tool_review", {"definition_hash": seen}, **ids)
    await ask("mcp_server_patch", EXAMPLES["mcp_server_patch"], server_id=server_id)
    await ask("mcp_server_delete", server_id=server_id)


async def called(stack: Stack, alice: Learner, ask: Ask) -> None:
    """Calls of a tool: one that is given up, one that is denied, one that is approved once nobody can be called."""
    world = await add_tool_server(stack, alice)
    body = {**EXAMPLES["mcp_dispatch_create"], "server_id": world["server_id"]}
    first, second, third = [(await ask("mcp_dispatch_create", body))["dispatch_id"] for _ in range(3)]
    await ask("mcp_dispatch_cancel", EXAMPLES["mcp_dispatch_cancel"], mcp_dispatch_id=first)
    await ask("mcp_ask_first_deny", EXAMPLES["mcp_ask_first_deny"], mcp_dispatch_id=second)
    await alice.ok("PATCH", f"/api/mcp/servers/{world['server_id']}", {"enabled": False})
    tried = {**EXAMPLES["mcp_server_smoke_test"], "server_id": world["server_id"]}
    await ask("mcp_server_smoke_test", tried, server_id=world["server_id"])
    await ask("mcp_ask_first_approve", EXAMPLES["mcp_ask_first_approve"], mcp_dispatch_id=third)
    with anyio.fail_after(30):
        while (await alice.ok("GET", f"/api/mcp/dispatches/{third}"))["status"] == "running":
            await anyio.sleep(0.02)


async def mined(stack: Stack, alice: Learner, ask: Ask) -> None:
    """A task shown three times and found; what is found of it accepted, and something else dismissed."""
    await ask("mining_settings_replace", EXAMPLES["mining_settings_replace"])
    for _ in range(3):
        await alice.demonstrate("Pack the holiday photos")
        await alice.act("cancel")
    run = await ask("mining_scan", {})
    with anyio.fail_after(30):
        while run["state"] == "running":
            await anyio.sleep(0.05)
            run = await alice.ok("GET", f"/api/learn/mining/runs/{run['run_id']}")
    found = (await alice.ok("GET", "/api/learn/mining/candidates?state=open"))["candidates"]
    accepted = await ask("mining_candidate_accept", {"reason": "Every summer"}, candidate_id=_id_of(found[0]))
    alice.session_id = accepted["candidate"]["learn_session_id"]
    await alice.act("cancel")
    other = str(uuid7())
    add_mined(stack.database, "alice", other, str(uuid7()))
    await ask("mining_candidate_dismiss", {"reason": "not now"}, candidate_id=other)


def _id_of(view: dict[str, Any]) -> str:
    return str(view["candidate"]["candidate_id"])
