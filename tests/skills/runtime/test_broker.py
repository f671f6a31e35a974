"""What a handler may reach is what its manifest permits, whichever way it goes (AM-17…AM-24, X-6, X-7)."""

import asyncio
from typing import Any

import pytest

from contracts.learning.observation import ToolEffect
from contracts.skills.manifest import BrokerService, SkillPermissions
from skills.runtime.runner import BrokerRefused
from tests.skills.runtime.conftest import Recorder, Trial

pytestmark = pytest.mark.anyio

EVERYTHING = SkillPermissions(
    local_binaries=("printf", "/usr/bin/env"),
    hosts=("api.example.org",),
    services=(BrokerService.MEMORY,),
    network=True,
    telegram=True,
    openclaw_action=True,
)
CALLS = {
    "context.exec(['printf', 'x'])": "local_binaries",
    "context.gateway.post({'a': 1})": "openclaw_action",
    "context.gateway.send_message('x')": "telegram",
    "context.gateway.sendMessage('x')": "telegram",
    "context.memory.search(text='x')": "services",
    "context.http.request(method='POST', url='https://api.example.org/x')": "network",
}
NEVER = (
    "context.ledger.debit(amount=1)",
    "context._channel.call('gateway', 'delete', {})",
    "context.call_log._channel.call('call_log', 'read', {})",
    "context.operator_secrets.read()",
    "context.http.request(url='https://other.example.org/x')",
    "context.http.request(url='https://api.example.org@other.example.org/x')",
    "context.http.request(url='file:///etc/passwd')",
    "context.http.request(url='https://api.example.org/x', auth_profile='other')",
    "context._channel.call('gateway', 'send_message', {'message': 'x', 'recipient': 'other'})",
)


def awaiting(call: str) -> str:
    """A handler that makes one call and hands its answer on."""
    return f"async def handle(params, context):\n    return {{'success': True, 'result': await {call}}}\n"


def services() -> dict[str, Recorder]:
    """All the services there are."""
    return {
        name: Recorder() for name in ("gateway", "memory", "http", "call_log", "ledger", "operator_secrets")
    }


@pytest.mark.acceptance("AM-17", "AM-20", "AM-21")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.produces("*", "PERMISSION_DENIED")
async def test_a_call_is_made_where_it_is_permitted_and_only_there(trial: Trial, call: str) -> None:
    """Each permission on and off; off, nothing is reached."""
    given = services()
    permitted = await trial.run(awaiting(call), permissions=EVERYTHING, services=given)
    assert permitted.failure is None, permitted.failure
    assert permitted.acted

    reached = services()
    less = EVERYTHING.changed(**{CALLS[call]: () if CALLS[call] in ("local_binaries", "services") else False})
    refused = await trial.run(awaiting(call), permissions=less, services=reached)

    assert refused.failure is not None
    assert refused.failure.code == "PERMISSION_DENIED"
    assert (refused.acted, [one.asked for one in reached.values() if one.asked]) == (False, [])


@pytest.mark.acceptance("AM-17", "AM-21")
@pytest.mark.parametrize("call", NEVER)
@pytest.mark.acceptance("X-7")
async def test_what_no_permission_covers_is_refused(trial: Trial, call: str) -> None:
    """Other services, other hosts, another recipient."""
    reached = services()

    refused = await trial.run(awaiting(call), permissions=EVERYTHING, services=reached)

    assert refused.failure is not None
    assert refused.failure.code == "PERMISSION_DENIED"
    assert [one.asked for one in reached.values() if one.asked] == []


async def test_a_refusal_can_be_caught(trial: Trial) -> None:
    ran = await trial.run(
        "async def handle(params, context):\n"
        "    try:\n        await context.gateway.post({})\n"
        "    except context.PermissionDenied as error:\n"
        "        return {'success': False, 'message': error.code}\n"
    )

    assert ran.answer == {"success": False, "message": "PERMISSION_DENIED"}


async def test_a_services_refusal_reaches_the_handler_and_ends_the_run_uncaught(trial: Trial) -> None:
    async def refuses(method: str, arguments: dict[str, Any]) -> None:
        raise BrokerRefused(
            "INSUFFICIENT_BALANCE", "too little", retryable=False, retry_after_ms=5, details={"a": 1}
        )

    ran = await trial.run(
        awaiting("context.memory.x()"), permissions=EVERYTHING, services={"memory": refuses}
    )

    assert ran.failure is not None
    told = ran.failure
    assert (told.code, told.message, told.retryable) == ("INSUFFICIENT_BALANCE", "too little", False)
    assert (told.retry_after_ms, told.details) == (5, {"a": 1})


async def test_a_service_that_breaks_or_answers_too_much_is_an_error_and_no_hang(trial: Trial) -> None:
    async def breaks(method: str, arguments: dict[str, Any]) -> Any:
        if method == "much":
            return "x" * 1_048_576
        raise RuntimeError("secret inside")

    for method, code in (("breaks", "UNAVAILABLE"), ("much", "OUTPUT_TOO_LARGE")):
        ran = await trial.run(
            awaiting(f"context.memory.{method}()"), permissions=EVERYTHING, services={"memory": breaks}
        )
        assert ran.failure is not None
        assert ran.failure.code == code
        assert "secret" not in ran.failure.message


async def test_calls_at_once_are_answered_each_with_its_own(trial: Trial) -> None:
    """X-7: the answers come in another order than the calls."""
    turns: dict[int, asyncio.Event] = {n: asyncio.Event() for n in range(5)}
    turns[4].set()

    async def last_first(method: str, arguments: dict[str, Any]) -> Any:
        n = arguments["n"]
        await turns[n].wait()
        if n:
            turns[n - 1].set()
        return n * 10

    ran = await trial.run(
        "import asyncio\nasync def handle(params, context):\n"
        "    return {'success': True, 'result': await asyncio.gather(*(context.memory.x(n=n) for n in range(5)))}\n",
        permissions=EVERYTHING,
        services={"memory": last_first},
    )

    assert ran.answer is not None, ran.failure
    assert ran.answer["result"] == [0, 10, 20, 30, 40]


@pytest.mark.acceptance("AM-19", "AM-43")
async def test_log_entries_keep_their_order_ahead_of_what_follows_awaited_or_not(trial: Trial) -> None:
    order: list[str] = []

    async def log(method: str, arguments: dict[str, Any]) -> None:
        order.append(arguments["entry"]["n"])

    async def gateway(method: str, arguments: dict[str, Any]) -> None:
        order.append("sent")

    ran = await trial.run(
        "async def handle(params, context):\n"
        "    for n in range(20):\n        context.callLog.write({'n': str(n)})\n"
        "    await context.gateway.send_message('x')\n"
        "    context.call_log.write({'n': 'after'})\n"
        "    return {'success': True}\n",
        permissions=EVERYTHING,
        services={"call_log": log, "gateway": gateway},
    )

    assert ran.failure is None
    assert order == [*map(str, range(20)), "sent", "after"]


@pytest.mark.acceptance("AM-43")
async def test_what_could_not_be_logged_is_not_sent(trial: Trial) -> None:
    """Also where the handler does not look at the answer of its log."""

    async def read_only(method: str, arguments: dict[str, Any]) -> None:
        raise BrokerRefused("DELIVERY_FAILED", "the log cannot be written")

    gateway = Recorder()
    ran = await trial.run(
        "async def handle(params, context):\n"
        "    context.call_log.write({'n': 1})\n"
        "    return {'success': True, 'result': await context.gateway.send_message('x')}\n",
        permissions=EVERYTHING,
        services={"call_log": read_only, "gateway": gateway},
    )

    assert ran.failure is not None
    assert ran.failure.message == "the log cannot be written"
    assert (gateway.asked, ran.acted) == ([], False)


@pytest.mark.acceptance("AM-19")
async def test_an_entry_that_is_no_json_is_an_error(trial: Trial) -> None:
    ran = await trial.run(
        awaiting("context.call_log.write({'a': object()})"), services={"call_log": Recorder()}
    )

    assert ran.failure is not None
    assert ran.failure.code == "HANDLER_FAILED"


async def test_a_run_that_only_read_did_not_act(trial: Trial) -> None:
    """X-14: what the retry rules ask."""
    read = await trial.run(
        awaiting("context.memory.search(text='x')"),
        permissions=EVERYTHING,
        services=services(),
        reads=frozenset({"memory.search"}),
    )
    of_reader = await trial.run(
        awaiting("context.memory.add(text='x')"),
        permissions=EVERYTHING,
        services=services(),
        capabilities=("read",),
        effect=ToolEffect.READ,
    )
    wrote = await trial.run(awaiting("context.memory.add()"), permissions=EVERYTHING, services=services())

    assert (read.acted, of_reader.acted, wrote.acted) == (False, False, True)


@pytest.mark.acceptance("OC-06")
@pytest.mark.parametrize(("never_left", "acted"), [(True, False), (False, True)])
@pytest.mark.parametrize("caught", [True, False])
async def test_a_call_of_which_nothing_left_is_no_effect(
    trial: Trial, never_left: bool, acted: bool, caught: bool
) -> None:
    """X-14: a call that found nobody at the other end may be made again."""

    async def unreachable(method: str, arguments: dict[str, Any]) -> Any:
        raise BrokerRefused("VOICE_UNREACHABLE", "nobody answers", never_left=never_left)

    handler = awaiting("context.memory.add(text='x')")
    if caught:
        handler = (
            "async def handle(params, context):\n"
            "    try:\n        await context.memory.add(text='x')\n"
            "    except context.CallRefused as error:\n"
            "        return {'success': False, 'error': {'code': error.code, 'message': str(error)}}\n"
        )
    ran = await trial.run(handler, permissions=EVERYTHING, services={"memory": unreachable})

    assert ran.acted is acted
    if caught:
        error = {"code": "VOICE_UNREACHABLE", "message": "nobody answers"}
        assert ran.answer == {"success": False, "error": error}
    else:
        assert ran.failure is not None
        assert (ran.failure.code, ran.failure.message) == ("VOICE_UNREACHABLE", "nobody answers")


async def test_a_check_may_only_read(trial: Trial) -> None:
    """O-7: asked before a person is."""
    handler = (
        "async def check(params, context):\n"
        "    await context.memory.search()\n"
        "    if params:\n        await context.memory.add()\n"
        "    return {'success': True}\n"
    )
    given = services()
    reads = frozenset({"memory.search"})
    passes = await trial.run(handler, permissions=EVERYTHING, services=given, reads=reads, entry="check")
    acts = await trial.run(
        handler, {"act": True}, permissions=EVERYTHING, services=given, reads=reads, entry="check"
    )

    assert passes.answer == {"success": True}
    assert acts.failure is not None
    assert acts.failure.code == "PERMISSION_DENIED"
    assert [method for method, _ in given["memory"].asked] == ["search", "search"]


async def test_more_calls_than_one_run_may_make_end_it(trial: Trial) -> None:
    ran = await trial.run(
        "async def handle(params, context):\n"
        "    for n in range(1_001):\n        await context.call_log.write({'n': n})\n"
        "    return {'success': True}\n",
        services={"call_log": Recorder()},
        timeout_ms=60_000,
    )

    assert ran.failure is not None
    assert "more than 1000 calls" in ran.failure.message


@pytest.mark.acceptance("AM-18")
@pytest.mark.parametrize("argument", ["; touch x", "$(id)", "`id`", "a\nb", "* ~ $HOME", "--help", "'\"\\"])
async def test_an_argument_arrives_as_it_is(trial: Trial, argument: str) -> None:
    """No shell."""
    ran = await trial.run(
        awaiting("context.exec(['printf', '%s|', params['a'], 'b'])"), {"a": argument}, permissions=EVERYTHING
    )

    assert ran.answer is not None, ran.failure
    assert ran.answer["result"] == f"{argument}|b|"


@pytest.mark.acceptance("AM-18")
@pytest.mark.parametrize(
    ("argv", "code"),
    [
        ("'printf x'", "INVALID_INPUT"),
        ("[]", "INVALID_INPUT"),
        ("['printf', 1]", "INVALID_INPUT"),
        ("['printf', 'a\\0b']", "INVALID_INPUT"),
        ("['printf'] + ['x'] * 256", "INVALID_INPUT"),
        ("['printf', 'x' * 131072]", "INVALID_INPUT"),
        ("['cat', '/etc/passwd']", "PERMISSION_DENIED"),
        ("['../printf']", "PERMISSION_DENIED"),
        ("['/usr/bin/../bin/printf']", "PERMISSION_DENIED"),
        ("['./printf']", "PERMISSION_DENIED"),
        ("['/bin/sh', '-c', 'printf x']", "PERMISSION_DENIED"),
        ("['env']", "PERMISSION_DENIED"),
    ],
)
@pytest.mark.acceptance("X-6")
async def test_only_the_declared_program_is_started(trial: Trial, argv: str, code: str) -> None:
    """X-6: a list of texts; the declared name or its very path."""
    ran = await trial.run(
        "import os\nasync def handle(params, context):\n"
        "    os.symlink('/bin/sh', 'printf')\n    os.environ['PATH'] = '.'\n"
        f"    return {{'success': True, 'result': await context.exec({argv})}}\n",
        permissions=EVERYTHING,
    )

    assert ran.failure is not None
    assert (ran.failure.code, ran.acted and code == "PERMISSION_DENIED") == (code, False)


async def test_a_program_inherits_nothing_of_the_environment(
    trial: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "canary")

    ran = await trial.run(awaiting("context.exec(['/usr/bin/env'])"), permissions=EVERYTHING)

    assert ran.answer is not None, ran.failure
    names = {line.partition("=")[0] for line in ran.answer["result"].splitlines()}
    assert names == {"PATH", "HOME", "TMPDIR", "LANG", "PWD"}


async def test_a_program_that_fails_or_writes_too_much_is_an_error(trial: Trial) -> None:
    more = SkillPermissions(local_binaries=("false", "head", "no-such-program"))
    failed = await trial.run(awaiting("context.exec(['false'])"), permissions=more)
    much = await trial.run(awaiting("context.exec(['head', '-c', '262145', '/dev/zero'])"), permissions=more)
    fits = await trial.run(awaiting("context.exec(['head', '-c', '40000', '/dev/zero'])"), permissions=more)
    absent = await trial.run(awaiting("context.exec(['no-such-program'])"), permissions=more)

    assert [one.failure and one.failure.code for one in (failed, much, fits, absent)] == [
        "HANDLER_FAILED",
        "OUTPUT_TOO_LARGE",
        None,
        "UNAVAILABLE",
    ]


@pytest.mark.parametrize(
    ("said", "acted", "unsure"),
    [({}, True, False), ({"unsure": True}, True, True), ({"never_left": True}, False, False)],
)
async def test_a_service_says_of_its_refusal_whether_anything_happened(
    trial: Trial, said: dict[str, Any], acted: bool, unsure: bool
) -> None:
    """X-14: what surely never left is no act; what may have arrived is remembered, whatever the handler answers."""

    async def refuses(method: str, arguments: dict[str, Any]) -> None:
        raise BrokerRefused("UNAVAILABLE", "no", **said)

    ran = await trial.run(
        "async def handle(params, context):\n"
        "    try:\n        await context.gateway.post({})\n"
        "    except context.CallRefused:\n        return {'success': True}\n",
        permissions=EVERYTHING,
        services={"gateway": refuses},
    )

    assert (ran.acted, ran.unsure, ran.failure) == (acted, unsure, None)
