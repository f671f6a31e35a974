"""The same contract over each runner: handlers in JavaScript, declared programs, requests (AI-08, AI-21, AM-31)."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from contracts.skills.manifest import (
    CommandMapping,
    HttpMapping,
    RuntimeContext,
    SkillBackend,
    SkillPermissions,
    ToolRecord,
)
from skills.runtime.folder_digest import read_folder
from skills.runtime.mappings import arguments_of, request_of
from skills.runtime.runner import BrokerRefused, RanSkill, Service, SkillRun, run_skill
from tests.skills.runtime.conftest import OPERATOR, Recorder, Trial, manifest

pytestmark = pytest.mark.anyio

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")

SEND_MESSAGE = """
module.exports = async function(params, context) {
  const entry = { type: 'skill.send_message', message: params.message };
  context.callLog.write(entry);
  let delivered = false;
  try {
    await context.gateway.sendMessage('From a call: ' + params.message);
    delivered = true;
    context.callLog.write({ type: 'delivered' });
  } catch (e) {
    context.callLog.write({ type: 'delivery_failed', error: String(e) });
  }
  return {
    success: true,
    message: `Noted. ${context.operator.name || 'The operator'} will get back to you.`,
    result: { logged: true, delivered, call: context.call.id, from: context.call.callerId },
  };
};
"""
ALL_MEMORY = "const a = []; for (;;) a.push(new Array(1 << 20).fill(a.length))"
LOOK_UP = """
module.exports = async (params, context) => {
  try {
    const output = await context.exec(['printf', '%s', params.range || 'today']);
    return { success: true, message: output.trim(), result: { events: output.trim() } };
  } catch (e) {
    return { success: false, error: String(e), message: 'I had trouble accessing the calendar.' };
  }
};
"""


@pytest.mark.acceptance("AM-31")
@needs_node
async def test_a_javascript_handler_runs_as_the_document_writes_it(trial: Trial) -> None:
    """Log first, then sent, nothing awaited that need not be."""
    log, gateway = Recorder(), Recorder()
    ran = await trial.run(
        SEND_MESSAGE,
        {"message": "call me"},
        backend=SkillBackend.NODE,
        permissions=SkillPermissions(telegram=True),
        services={"call_log": log, "gateway": gateway},
    )

    assert ran.failure is None, (ran.failure, ran.log)
    assert ran.answer == {
        "success": True,
        "message": "Noted. Olga will get back to you.",
        "result": {"logged": True, "delivered": True, "call": "call-1", "from": "15550100"},
    }
    assert [arguments["entry"]["type"] for _, arguments in log.asked] == ["skill.send_message", "delivered"]
    assert gateway.asked == [("send_message", {"message": "From a call: call me"})]
    assert ran.acted


@pytest.mark.acceptance("AM-17")
@needs_node
async def test_a_javascript_handler_sees_refusals_and_may_answer_them(trial: Trial) -> None:
    """Without the permission nothing is reached."""
    log = Recorder()
    ran = await trial.run(
        SEND_MESSAGE,
        {"message": "x"},
        backend=SkillBackend.NODE,
        services={"call_log": log, "gateway": Recorder()},
    )

    assert ran.answer is not None, ran.failure
    assert ran.answer["result"]["delivered"] is False
    assert "PermissionDenied" in log.asked[-1][1]["entry"]["error"]


@pytest.mark.acceptance("AM-18")
@needs_node
async def test_a_javascript_handler_starts_a_declared_program(trial: Trial) -> None:
    ran = await trial.run(
        LOOK_UP,
        {"range": "$(id); rm -rf /"},
        backend=SkillBackend.NODE,
        permissions=SkillPermissions(local_binaries=("printf",)),
    )

    assert ran.answer is not None, ran.failure
    assert ran.answer["message"] == "$(id); rm -rf /"


@needs_node
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("throw null", "HANDLER_FAILED"),
        ("process.exit(1)", "HANDLER_FAILED"),
        ("return 3", "OUTPUT_INVALID"),
        ("return {success: 'true'}", "OUTPUT_INVALID"),
        ("return {success: true, result: 1n}", "OUTPUT_INVALID"),
        ("return {success: true, result: 'x'.repeat(3 << 20)}", "OUTPUT_TOO_LARGE"),
        ("throw context.error('WALLET_ERROR', 'broken')", "WALLET_ERROR"),
        ("await context.gateway.post({})", "PERMISSION_DENIED"),
        ("require('child_process').execFileSync('/bin/ls')", "HANDLER_FAILED"),
        ("require('fs').readFileSync('/etc/shadow')", "HANDLER_FAILED"),
        ("await new Promise((r, e) => require('net').connect(1, '127.0.0.1').on('error', e))", "HANDLER_FAILED"),
        ("await new Promise(() => {})", "TIMEOUT"),
        pytest.param("for (;;) ;", "TIMEOUT", marks=pytest.mark.thorough),
        pytest.param(ALL_MEMORY, "HANDLER_FAILED", marks=pytest.mark.thorough),
    ],
)  # fmt: skip
async def test_whatever_a_javascript_handler_does_has_a_code(trial: Trial, body: str, code: str) -> None:
    """AM-24…AM-28, for the other language."""
    ran = await trial.run(
        f"module.exports = async (params, context) => {{ {body}; }};\n",
        backend=SkillBackend.NODE,
        timeout_ms=700 if code == "TIMEOUT" else 20_000,
    )

    assert ran.failure is not None, ran.answer
    assert ran.failure.code == code, (ran.failure, ran.log)


async def run_tool(
    tool: ToolRecord,
    folder: Path,
    params: dict[str, Any],
    permissions: SkillPermissions,
    services: dict[str, Service] | None = None,
    timeout_ms: int = 10_000,
) -> RanSkill:
    """Runs a tool without a handler."""
    folder.mkdir(exist_ok=True)
    asked = manifest(tools=(tool,), permissions=permissions)
    digest = read_folder(folder).digest
    run = SkillRun(
        asked, tool, folder, digest, params, "invocation", "key-1", None, OPERATOR, timeout_ms=timeout_ms
    )
    return await run_skill(run, services or {}, lambda: None)


def command(program: str, *argv: str, answer: str = "text") -> ToolRecord:
    """A tool that is a program."""
    mapping = CommandMapping.model_validate({"argv": argv, "answer": answer})
    return ToolRecord(tool_id="trial", backend=SkillBackend.OS_COMMAND, entrypoint=program, command=mapping)


@pytest.mark.acceptance("AI-21", "AM-18")
@pytest.mark.usefixtures("isolating_host")
@pytest.mark.parametrize(
    ("tool", "params", "outcome"),
    [
        (command("printf", "%s", "{text}"), {"text": "; id"}, {"output": "; id"}),
        (command("printf", "%s", "{n}", answer="json"), {"n": {"a": [1]}}, {"a": [1]}),
        (command("printf", "%s", "{text}", answer="json"), {"text": "no JSON"}, "OUTPUT_INVALID"),
        (command("false", "x"), {}, "HANDLER_FAILED"),
        (command("no-such-program", "x"), {}, "UNAVAILABLE"),
        (command("id", "-u"), {}, "PERMISSION_DENIED"),
        (command("sleep", "600"), {}, "TIMEOUT"),
        (command("head", "-c", "262145", "/dev/zero"), {}, "OUTPUT_TOO_LARGE"),
    ],
)
async def test_a_declared_program_is_a_tool(
    tmp_path: Path, tool: ToolRecord, params: dict[str, Any], outcome: object
) -> None:
    declared = SkillPermissions(local_binaries=("printf", "false", "no-such-program", "sleep", "head"))
    ran = await run_tool(tool, tmp_path / "trial", params, declared, timeout_ms=1_500)

    if isinstance(outcome, str):
        assert ran.failure is not None, ran.answer
        assert ran.failure.code == outcome
    else:
        assert ran.answer == {"success": True, "result": outcome}, ran.failure


async def test_a_program_without_its_permission_is_not_run(tmp_path: Path) -> None:
    ran = await run_tool(command("printf", "x"), tmp_path / "trial", {}, SkillPermissions())

    assert ran.failure is not None
    assert ran.failure.code == "PERMISSION_DENIED"


def request(**fields: Any) -> ToolRecord:
    """A tool that is a request."""
    known: dict[str, Any] = {
        "tool_id": "trial",
        "backend": SkillBackend.HTTP,
        "entrypoint": "https://api.example.org/of/{name}",
        "http": HttpMapping(query=("limit",), idempotency_header="Idempotency-Key"),
    }
    return ToolRecord(**(known | fields))


PERMITTED = SkillPermissions(hosts=("api.example.org",))


async def answers(status: int, body: Any = None) -> Any:
    """What the far side answers."""
    return {"status": status, "body": body}


@pytest.mark.acceptance("AI-08", "AI-27")
async def test_a_request_goes_to_the_declared_host_alone(tmp_path: Path) -> None:
    """Mapping by configuration, with the profile of the tool."""
    far = Recorder(lambda method, arguments: answers(200, {"ok": True}))
    tool = request(auth_profile="profile-1", runtime_context=RuntimeContext.THIRD_PARTY)
    params = {"name": "a/b", "limit": 3, "text": "x"}

    ran = await run_tool(tool, tmp_path / "trial", params, PERMITTED, {"http": far})

    assert ran.answer == {"success": True, "result": {"ok": True}}, ran.failure
    assert far.asked == [
        (
            "request",
            {
                "method": "POST",
                "url": "https://api.example.org/of/a%2Fb?limit=3",
                "headers": {"Idempotency-Key": "key-1"},
                "body": {"name": "a/b", "text": "x"},
                "auth_profile": "profile-1",
            },
        )
    ]
    assert ran.acted

    refused = await run_tool(
        tool, tmp_path / "trial", params, SkillPermissions(hosts=("other.org",)), {"http": far}
    )
    assert refused.failure is not None
    assert (refused.failure.code, len(far.asked)) == ("PERMISSION_DENIED", 1)


@pytest.mark.parametrize(
    ("status", "code"),
    [(404, "HANDLER_FAILED"), (429, "RATE_LIMITED"), (500, "UNAVAILABLE"), (301, "HANDLER_FAILED")],
)
async def test_an_answer_that_is_an_error_is_a_failure(tmp_path: Path, status: int, code: str) -> None:
    far = Recorder(lambda method, arguments: answers(status))

    ran = await run_tool(request(), tmp_path / "trial", {"name": "x"}, PERMITTED, {"http": far})

    assert ran.failure is not None
    assert ran.failure.code == code


async def test_a_far_side_that_cannot_be_reached_is_told_by_its_own_code(tmp_path: Path) -> None:
    async def closed(method: str, arguments: dict[str, Any]) -> Any:
        raise BrokerRefused("NETWORK_ERROR", "nobody answers", retryable=True)

    ran = await run_tool(request(), tmp_path / "trial", {"name": "x"}, PERMITTED, {"http": closed})

    assert ran.failure is not None
    assert (ran.failure.code, ran.failure.retryable) == ("NETWORK_ERROR", True)


@pytest.mark.acceptance("AI-08")
@pytest.mark.parametrize(
    ("argv", "params", "arguments"),
    [
        (("add", "{title}"), {"title": "a b; c"}, ["add", "a b; c"]),
        (("add", "--calendar", "{calendar}", "x"), {"calendar": "home"}, ["add", "--calendar", "home", "x"]),
        (("add", "--calendar", "{calendar}", "x"), {}, ["add", "x"]),
        (("add", "{calendar}", "x"), {}, ["add", "x"]),
        (("--n={n}", "--all={all}"), {"n": 3, "all": True}, ["--n=3", "--all=true"]),
        (("-v", "{a}", "{b}"), {"a": "{b}", "b": None}, ["-v", "{b}"]),
        (("-v", "-n", "{a}"), {}, ["-v"]),
    ],
)
def test_a_field_stays_one_argument(
    argv: tuple[str, ...], params: dict[str, Any], arguments: list[str]
) -> None:
    """No parameters of its own, and no splitting."""
    assert arguments_of(CommandMapping(argv=argv), params) == arguments


def test_an_address_without_its_field_is_refused() -> None:
    with pytest.raises(Exception, match="the address needs the field name"):
        request_of(HttpMapping(), "https://api.example.org/{name}", {}, "key")
