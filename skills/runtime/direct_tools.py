"""Tools without a handler: a declared program, or a request to a declared host (AI-21)."""

import json
from typing import Any

from contracts.skills.manifest import CommandMapping, HttpMapping
from domain.platform.strict_json import as_object
from skills.runtime.broker import HTTP, Broker
from skills.runtime.mappings import arguments_of, request_of
from skills.runtime.programs import Programs, ended_how
from skills.runtime.skill_run import SkillRun, failed

_SERVER_ERROR, _TOO_MANY = 500, 429


async def run_command(run: SkillRun, mapping: CommandMapping, programs: Programs) -> dict[str, Any]:
    """Runs the tool's program with the input as its arguments; its output is the result.

    Raises:
        RunFailed: it ended with another status than 0, or wrote no JSON where it should.
        BrokerRefused: it is not permitted, not there, or wrote too much.
    """
    ran = await programs.run([run.tool.entrypoint, *arguments_of(mapping, run.params)])
    if ran.status != 0:
        raise failed("HANDLER_FAILED", f"the program {ended_how(ran.status)}")
    if mapping.answer == "text":
        return {"success": True, "result": {"output": ran.output}}
    try:
        result = json.loads(ran.output)
    except (ValueError, RecursionError) as error:
        raise failed("OUTPUT_INVALID", "the program wrote what is no JSON") from error
    return {"success": True, "result": result}


async def send_request(run: SkillRun, mapping: HttpMapping, broker: Broker) -> dict[str, Any]:
    """Sends the input to the tool's address; the body of the answer is the result.

    Raises:
        RunFailed: the answer is an error, by its status.
        BrokerRefused: the host is not permitted, or does not answer.
    """
    request = request_of(mapping, run.tool.entrypoint, run.params, run.idempotency_key)
    answer = as_object(await broker.call(HTTP, "request", request)) or {}
    status = answer.get("status")
    if not isinstance(status, int):
        raise failed("OUTPUT_INVALID", "the request had no answer with a status")
    if status == _TOO_MANY:
        raise failed("RATE_LIMITED", "the other side asks to wait")
    if status >= _SERVER_ERROR:
        raise failed("UNAVAILABLE", f"the other side answered with status {status}")
    if not 200 <= status < 300:
        raise failed("HANDLER_FAILED", f"the other side refused with status {status}")
    return {"success": True, "result": answer.get("body")}
