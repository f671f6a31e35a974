"""Phone calls and identities: what the documents' tools answer, and what is never done twice (OC-01…OC-22)."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import skills
from tests.e2e.skill_calling import ASKER, opened, run
from tests.fixtures.agents import agent as agent_at
from tests.fixtures.outside import Asked, closed_port, outside_server
from tests.fixtures.served import served

pytestmark = pytest.mark.anyio

CALL = {"to": "+15550100", "device": "9000", "message": "The report is done."}
BUNDLED = Path(*skills.__path__) / "bundled"


def placed(asked: Asked) -> tuple[int, bytes]:
    return 200, b'{"callId": "call-9", "status": "initiated"}'


@pytest.mark.acceptance("OC-03", "OC-04", "OC-05", "OC-08", "OC-10", "OC-12", "OC-22")
@pytest.mark.acceptance("O-18", "X-2", "X-37")
async def test_a_call_is_placed_by_one_request_and_its_answer_handed_through(
    tmp_path: Path, temporal_address: str, caplog: pytest.LogCaptureFixture
) -> None:
    with outside_server() as app:
        app.answer = placed
        async with opened(tmp_path, temporal_address, voice_app_url=app.url) as stack:
            agent = stack.learner("alice", ("read", "call"))
            # Who may not approve confirms nothing.
            body = {"input": CALL, "confirmed": True}
            waiting = await agent.ok("POST", "/api/skills/place_call/invocations", body, prefer="wait=30")
            assert (waiting["requires_confirmation"], app.asked) == (True, [])
            alice = stack.learner("alice", ASKER)
            done = await run(alice, "place_call", CALL)
            assert (done["status"], done["outputs"]) == (
                "success",
                {"callId": "call-9", "status": "initiated"},
            )
            assert done["warnings"] == []
            (asked,) = app.asked
            assert (asked.method, asked.path) == ("POST", "/api/outbound-call")
            assert asked.json == {
                "to": "15550100",
                "message": "The report is done.",
                "mode": "announce",
                "device": "9000",
            }
            long = await run(
                alice, "place_call", {**CALL, "to": "9001", "message": "word " * 50, "mode": "conversation"}
            )
            assert long["warnings"] == ["The message has 50 words; under 50 are fit for the ear."]
            assert (app.asked[1].json["to"], app.asked[1].json["mode"]) == ("9001", "conversation")
            app.answer = lambda _: (200, b'{"status": "completed"}')
            status = await run(alice, "call_status", {"callId": "call-9"})
            assert status["outputs"] == {"callId": "call-9", "status": "completed", "ended": True}
            assert app.asked[2].path == "/api/outbound-call/call-9"
            app.answer = lambda _: (404, b"")
            assert (await run(alice, "call-status", {"callId": "call-9"}))["outputs"]["status"] == "unknown"
    lines = [record.getMessage() for record in caplog.records if record.levelname != "DEBUG"]
    assert not [line for line in lines if "15550100" in line]


FAILURES: dict[str, tuple[Callable[[Asked], tuple[int, bytes] | None], str, str]] = {
    "refused": (lambda _: (500, b"no"), "VOICE_REFUSED", "failure"),
    "no JSON": (lambda _: (200, b"<html>"), "VOICE_BAD_ANSWER", "outcome_unknown"),
    "no call id": (lambda _: (200, b'{"status": "initiated"}'), "VOICE_BAD_ANSWER", "outcome_unknown"),
    "silent": (lambda _: None, "VOICE_TIMEOUT", "outcome_unknown"),
}


@pytest.mark.acceptance("OC-06", "OC-07", "OC-09", "OC-13")
@pytest.mark.produces("place-call", "VOICE_REFUSED", "VOICE_BAD_ANSWER", "VOICE_TIMEOUT")
async def test_each_failure_of_a_call_is_told_apart_and_names_no_call(
    tmp_path: Path, temporal_address: str
) -> None:
    with outside_server() as app:
        async with opened(tmp_path, temporal_address, voice_app_url=app.url) as stack:
            alice = stack.learner("alice", ASKER)

            async def failed(kind: str) -> None:
                answer, code, status = FAILURES[kind]
                app.asked.clear()
                app.answer = answer
                done = await run(alice, "place_call", CALL)
                assert (done["status"], done["error"]["code"]) == (status, code), (kind, done)
                assert set(done["outputs"]) == {"error"}
                assert "primary channel" in done["error"]["recovery"]
                assert len(app.asked) == 1, kind
                assert not done["error"]["retryable"]

            for kind in FAILURES:
                await failed(kind)


@pytest.mark.acceptance("OC-06", "OC-09", "OC-22")
@pytest.mark.produces("place-call", "VOICE_NOT_CONFIGURED", "VOICE_UNREACHABLE")
@pytest.mark.acceptance("X-12")
async def test_without_a_voice_app_or_with_one_that_is_gone_no_call_is_placed(
    tmp_path: Path, temporal_address: str
) -> None:
    async with opened(tmp_path, temporal_address) as stack:
        agent = stack.learner("alice", ("read", "call"))
        done = await agent.ok("POST", "/api/skills/place_call/invocations", {"input": CALL}, prefer="wait=30")
        assert (done["status"], done["error"]["code"]) == ("failure", "VOICE_NOT_CONFIGURED"), done
        assert set(done["outputs"]) == {"error"}
    gone = f"http://127.0.0.1:{closed_port()}"
    async with opened(tmp_path, temporal_address, voice_app_url=gone) as stack:
        done = await run(stack.learner("alice", ASKER), "place_call", CALL)
        assert (done["status"], done["error"]["code"]) == ("failure", "VOICE_UNREACHABLE"), done
        assert len(done["attempts"]) == 2


@pytest.mark.acceptance("OC-02", "OC-08", "OC-16")
@pytest.mark.acceptance("X-15")
async def test_arguments_one_past_their_edge_are_refused_before_anything_is_asked(
    tmp_path: Path, temporal_address: str
) -> None:
    link = {"name": "Ada", "peerId": "+15550100"}
    wrong: list[tuple[str, dict[str, Any]]] = [
        *(("place_call", {k: v for k, v in CALL.items() if k != name}) for name in CALL),
        ("place_call", {**CALL, "message": "x" * 1001}),
        ("place_call", {**CALL, "mode": "shout"}),
        ("place_call", {**CALL, "to": "call-me"}),
        ("place_call", {**CALL, "to": ""}),
        *(("link_identity", {k: v for k, v in link.items() if k != name}) for name in link),
        *(
            ("link_identity", {**link, "name": name})
            for name in ("", "__proto__", "a.b", "x" * 81, "x" * 100_000)
        ),
        ("link_identity", {**link, "peerId": "nobody"}),
        ("link_identity", {**link, "channels": [""]}),
    ]
    async with opened(tmp_path, temporal_address, skill_calls_per_minute=100) as stack:
        agent = stack.learner("alice", ("read", "call"))
        for skill, given in wrong:
            status, error = await agent.refused("POST", f"/api/skills/{skill}/invocations", {"input": given})
            assert (status, error["code"]) == (400, "INVALID_INPUT"), (skill, given)
        assert not (stack.settings.data_dir / "openclaw.json").exists()


@pytest.mark.acceptance("OC-15", "OC-16", "OC-17")
@pytest.mark.produces("link-identity", "CONFIG_UNREADABLE")
@pytest.mark.produces("link-identity", "IDENTITY_CONFLICT")
async def test_a_caller_is_linked_and_nothing_else_of_the_configuration_changes(
    tmp_path: Path, temporal_address: str
) -> None:
    config = tmp_path / "openclaw.json"
    before = (
        '{\n  "agents":   {"list": [1.0, 2e3]},\n  "session": {"scope": "per-peer"},\n  "ünï": "\\u00e9"\n}\n'
    )
    config.write_text(before, encoding="utf-8")
    limits = {"skill_calls_at_once": 20, "skill_calls_per_minute": 500}
    async with opened(tmp_path, temporal_address, openclaw_config=config, **limits) as stack:
        alice = stack.learner("alice", ASKER)
        linked = await run(
            alice,
            "link_identity",
            {"name": "Ada", "peerId": "+15550100", "channels": ["telegram:1", "telegram:1"]},
        )
        assert linked["outputs"] == {"ok": True, "identity": "Ada"}, linked
        text = config.read_text(encoding="utf-8")
        added = '"identityLinks": {"Ada": ["+15550100", "telegram:1"]}, '
        assert text == before.replace('{"scope"', "{" + added + '"scope"')
        taken = await run(alice, "link_identity", {"name": "Bob", "peerId": "15550100"})
        assert (taken["status"], taken["error"]["code"]) == ("failure", "IDENTITY_CONFLICT"), taken
        assert config.read_text(encoding="utf-8") == text

        many = [{"name": f"Caller {n}", "peerId": f"1555{n:04}"} for n in range(50)]
        done = await asyncio.gather(*(run(alice, "link-identity", one) for one in many))
        assert {one["status"] for one in done} == {"success"}, done
        links = json.loads(config.read_text(encoding="utf-8"))["session"]["identityLinks"]
        assert links == {"Ada": ["+15550100", "telegram:1"]} | {one["name"]: [one["peerId"]] for one in many}

        gone = await run(alice, "unlink_identity", {"name": "Ada"})
        assert gone["outputs"] == {"ok": True, "identity": "Ada"}
        free = await run(alice, "link_identity", {"name": "Bob", "peerId": "15550100"})
        assert free["status"] == "success"
        for broken in ("{ // a comment\n}", '{"session": []}', "[]", "\x00"):
            config.write_text(broken, encoding="utf-8")
            refused = await run(alice, "link_identity", {"name": "Eve", "peerId": "999"})
            assert (refused["status"], refused["error"]["code"]) == ("failure", "CONFIG_UNREADABLE"), refused
            assert config.read_text(encoding="utf-8") == broken


@pytest.mark.everyday
@pytest.mark.acceptance("OC-01")
async def test_an_agent_finds_two_tools_and_their_document_while_a_voice_app_is_connected(
    tmp_path: Path, temporal_address: str
) -> None:
    text = (BUNDLED / "place-call" / "SKILL.md").read_text(encoding="utf-8")
    async with opened(tmp_path, temporal_address, voice_app_url="http://127.0.0.1:9/") as stack:
        document = stack.settings.workspace / "skills" / "place-call" / "SKILL.md"
        stack.projector.catch_up()
        assert document.read_text(encoding="utf-8") == text
        agent = stack.learner("alice", ("read", "call"))
        async with served(stack) as address, agent_at(address, agent.secret) as client:
            offered = {tool.name for tool in (await client.list_tools()).tools}
        listed = (await agent.ok("GET", "/api/skills?page_size=100"))["skills"]
        named = {one["function_name"] for one in listed if f"`{one['function_name']}`" in text}
        assert named == {"place_call", "link_identity"}
        assert named <= offered
        assert [one["state"] for one in listed if one["name"] == "place-call"] == ["ready"]
    async with opened(tmp_path, temporal_address) as stack:
        stack.projector.catch_up()
        assert not document.exists()


@pytest.mark.acceptance("OC-21")
def test_the_bundle_for_openclaw_holds_the_agents_document() -> None:
    folder = BUNDLED.parent / "openclaw"
    plugin = json.loads((folder / "openclaw.plugin.json").read_text(encoding="utf-8"))
    assert plugin["skills"] == ["./skills"]
    text = (folder / "skills" / "SKILL.md").read_text(encoding="utf-8")
    assert text == (BUNDLED / "place-call" / "SKILL.md").read_text(encoding="utf-8")


@pytest.mark.acceptance("OC-11", "OC-12", "OC-13", "OC-14", "OC-17", "OC-18", "OC-19", "OC-20")
def test_the_agents_document_names_every_parameter_and_every_rule() -> None:
    text = (BUNDLED / "place-call" / "SKILL.md").read_text(encoding="utf-8")
    for name in ("place-call", "link-identity"):
        manifest = json.loads((BUNDLED / name / "manifest.json").read_text(encoding="utf-8"))
        for parameter in manifest["input_schema"]["properties"]:
            assert f"`{parameter}`" in text, parameter
    sections = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert sections == ["Calling", "Enrolment", "Continuity"]
    for rule in (
        "Full result to the primary channel first, then a short call",
        "under 50 words",
        "`announce`",
        "`conversation`",
        "[CALLER CONTEXT: …]",
        "that is the `peerId`",
        "several people use one line",
        "by the name",
    ):
        assert rule in text, rule
