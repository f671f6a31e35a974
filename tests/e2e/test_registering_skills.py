"""Skills and tools that are registered at run time: described without code, and run only after an approval."""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.skill_calling import ASKER, opened

pytestmark = pytest.mark.anyio

EMPTY: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


def _tool(words: str, **changes: Any) -> dict[str, Any]:
    said = {
        "tool_id": "say.echo",
        "backend": "os_command",
        "entrypoint": "echo",
        "command": {"argv": [words]},
    }
    return {"tool": {**said, **changes}}


def _skill(name: str, tool: str = "say.echo", **changes: Any) -> dict[str, Any]:
    manifest: dict[str, Any] = {
        "description": f"Says what {name} says.",
        "version": "1.0.0",
        "capabilities": ["read"],
        "input_schema_id": f"{name}.input@1",
        "output_schema_id": f"{name}.output@1",
        "input_schema": EMPTY,
        "output_schema": {"type": "object"},
        "side_effect_tags": [],
        "safety_level": "low",
        "timeout_ms": 5000,
        "leaves_device": False,
        **{field: [] for field in ("life_areas", "preconditions", "effects", "observables", "third_parties")},
        **changes,
    }
    kept = {field: value for field, value in manifest.items() if value is not None}
    return {"name": name, "manifest": kept, "tools": [tool]}


@pytest.mark.acceptance("AI-18", "AI-19", "AI-28")
@pytest.mark.acceptance("X-4")
async def test_a_registered_skill_runs_once_approved_and_keeps_the_tool_that_was_approved(
    tmp_path: Path, temporal_address: str
) -> None:
    async with opened(tmp_path, temporal_address) as stack:
        admin = stack.learner("alice", (*ASKER, "admin"))

        async def refused(path: str, body: dict[str, Any]) -> tuple[int, str]:
            status, error = await admin.refused("POST", path, body)
            return status, error["code"]

        async def says(name: str) -> str:
            path = f"/api/skills/{name}/invocations"
            return str((await admin.ok("POST", path, {"input": {}}, prefer="wait=30"))["outputs"])

        async def approve(name: str, digest: str) -> None:
            asked = {"root": "managed", "digest": digest}
            assert (await admin.ok("POST", f"/api/skills/{name}/approve", asked))["approved"]

        assert (await admin.refused("POST", "/api/skills", _skill("say-one")))[1]["code"] == "SKILL_MALFORMED"
        assert not (tmp_path / "data" / "skills").exists()
        code = _tool("x", backend="python", entrypoint="handler.py", command=None)
        assert (await refused("/api/skills/tools", code))[1] == "SKILL_MALFORMED"
        gone = _tool("x", entrypoint="no-such-program-here")
        assert (await refused("/api/skills/tools", gone))[1] == "SKILL_MALFORMED"
        agent = stack.learner("alice", ASKER)
        assert (await agent.refused("POST", "/api/skills/tools", _tool("first")))[0] == 403
        assert (await admin.ok("POST", "/api/skills/tools", _tool("first")))["tool_version"] == 1
        unknown = _skill("say-one", input_schema=None)
        assert (await refused("/api/skills", unknown))[1] == "SKILL_MALFORMED"
        taken = _skill("calendar")
        assert await refused("/api/skills", taken) == (409, "CONFLICT")

        for name in ("say-one", "say-two"):
            made = (await admin.ok("POST", "/api/skills", _skill(name)))["skill"]
            assert (made["state"], made["permissions"]["local_binaries"]) == ("awaiting_approval", ["echo"])
            status, error = await admin.refused("POST", f"/api/skills/{name}/invocations", {"input": {}})
            assert status >= 400, error
            await approve(name, made["digest"])
            assert "first" in await says(name)
        found = await admin.ok("POST", "/api/skills/find", {"description": "say what say-one says"})
        assert "say-one" in {one["skill"] for one in found["skills"]}

        changed = await admin.ok("POST", "/api/skills/tools", _tool("second"))
        assert (changed["tool_version"], changed["used_by"]) == (2, ["say-one", "say-two"])
        assert "first" in await says("say-one")
        assert await refused("/api/skills", _skill("say-one")) == (409, "CONFLICT")
        newer = (await admin.ok("POST", "/api/skills", _skill("say-one", version="1.1.0")))["skill"]
        assert newer["state"] == "awaiting_approval"
        await approve("say-one", newer["digest"])
        assert "second" in await says("say-one")
        assert "first" in await says("say-two")
