"""A handler runs in its sandbox, and whatever it does, what came of it is told (AM-22…AM-31, AI-21)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from contracts.skills.manifest import RuntimeContext, SkillBackend, ToolRecord
from skills.runtime.folder_digest import read_folder
from skills.runtime.runner import SkillRun, run_skill
from tests.skills.runtime.conftest import CALL, OPERATOR, Recorder, Trial, manifest

pytestmark = pytest.mark.anyio


def answering(expression: str) -> str:
    """A handler that answers what an expression comes to."""
    return f"async def handle(params, context):\n    return {expression}\n"


@pytest.mark.acceptance("AM-26")
async def test_a_handlers_answer_comes_back(trial: Trial) -> None:
    """X-36: answer and isolation."""
    ran = await trial.run(
        answering("{'success': True, 'message': 'hello ' + params['name'], 'result': [1]}"), {"name": "you"}
    )

    assert ran.failure is None, ran.log
    assert ran.answer == {"success": True, "message": "hello you", "result": [1]}
    assert (ran.acted, ran.isolation.seccomp) == (False, True)


@pytest.mark.acceptance("AM-22", "AM-23")
async def test_the_call_and_the_operator_are_given_to_be_read(trial: Trial) -> None:
    """O-22."""
    ran = await trial.run(
        "async def handle(params, context):\n"
        "    try:\n"
        "        context.call.id = 'other'\n"
        "    except AttributeError as error:\n"
        "        refused = str(error)\n"
        "    call, operator = context.call, context.operator\n"
        "    return {'success': True, 'result': [refused, call.id, call.caller_id, call.callerId, call.transcript,\n"
        "        operator.name, operator.telegram_id, context.idempotency_key]}\n"
    )

    assert ran.answer is not None, ran.failure
    assert ran.answer["result"] == [
        "id is read-only", "call-1", "15550100", "15550100", "hello", "Olga", "42", "key-1",
    ]  # fmt: skip


@pytest.mark.acceptance("AM-01")
async def test_a_handler_may_be_a_plain_function_and_bring_modules_and_data(trial: Trial) -> None:
    """A folder holds all that it needs."""
    trial.write("WORD = 'from beside'\n", "words.py")
    trial.write("text\n", "data.txt")
    ran = await trial.run(
        "from pathlib import Path\nimport words\n"
        "def handle(params, context):\n"
        "    text = Path(__file__).with_name('data.txt').read_text()\n"
        "    return {'success': True, 'message': words.WORD + ' ' + text}\n"
    )

    assert ran.answer == {"success": True, "message": "from beside text\n"}


@pytest.mark.acceptance("AM-26", "AM-28")
@pytest.mark.produces("*", "OUTPUT_INVALID", "OUTPUT_TOO_LARGE")
@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("None", "OUTPUT_INVALID"),
        ("[]", "OUTPUT_INVALID"),
        ("{'message': 'no success'}", "OUTPUT_INVALID"),
        ("{'success': 'true'}", "OUTPUT_INVALID"),
        ("{'success': 1}", "OUTPUT_INVALID"),
        ("{'success': True, 'message': 3}", "OUTPUT_INVALID"),
        ("{'success': True, 'other': 3}", "OUTPUT_INVALID"),
        ("{'success': True, 'result': {1, 2}}", "OUTPUT_INVALID"),
        ("{'success': True, 'result': float('nan')}", "OUTPUT_INVALID"),
        ("{'success': True, 'result': '\\ud800'}", "OUTPUT_INVALID"),
        ("{'success': True, 'result': 'x' * 1_048_576}", "OUTPUT_TOO_LARGE"),
        ("{'success': True, 'result': 'x' * 3_145_728}", "OUTPUT_TOO_LARGE"),
        ("1 / 0", "HANDLER_FAILED"),
        ("(_ for _ in ()).throw(None)", "HANDLER_FAILED"),
        ("exit(1)", "HANDLER_FAILED"),
        ("__import__('os')._exit(1)", "HANDLER_FAILED"),
        ("__import__('os').abort()", "HANDLER_FAILED"),
        ("__import__('os').closerange(3, 100)", "HANDLER_FAILED"),
        ("__import__('os').write(5, b'no message\\n')", "OUTPUT_INVALID"),
        ("__import__('os').write(5, b'[' * 500_000 + b'\\n')", "OUTPUT_INVALID"),
        ("__import__('os').write(5, b'{\"call\": 1}\\n')", "OUTPUT_INVALID"),
        ("(lambda f: f(f))(lambda f: f(f))", "HANDLER_FAILED"),
    ],
)
async def test_a_wrong_answer_is_a_failure_with_a_code(trial: Trial, expression: str, code: str) -> None:
    """Never a hang, never a crash, and the next call is as good as ever."""
    ran = await trial.run(answering(expression))

    assert ran.failure is not None
    assert (ran.failure.code, ran.answer) == (code, None)
    again = await trial.run(answering("{'success': True}"))
    assert again.answer == {"success": True}


@pytest.mark.acceptance("AM-27")
async def test_what_a_handler_raises_is_in_the_log_and_not_in_the_words(trial: Trial) -> None:
    ran = await trial.run("async def handle(params, context):\n    raise ValueError('number 4711')\n")

    assert ran.failure is not None
    assert ran.failure.message == "the handler raised ValueError"
    assert "number 4711" in ran.log
    assert "Traceback" in ran.log


async def test_a_handler_names_an_error_of_its_own(trial: Trial) -> None:
    ran = await trial.run(
        "async def handle(params, context):\n"
        "    raise context.error('CONCURRENCY_ERROR', 'somebody was faster', current_version=3)\n"
    )

    assert ran.failure is not None
    assert (ran.failure.code, ran.failure.message) == ("CONCURRENCY_ERROR", "somebody was faster")
    assert ran.failure.details == {"current_version": 3}


@pytest.mark.acceptance("AM-09")
@pytest.mark.produces("*", "HANDLER_FAILED")
async def test_a_broken_handler_fails_with_its_reason(trial: Trial) -> None:
    """Found at the run as well, where the check at load could not know."""
    assert (await trial.run("import no_such_module\n")).failure is not None
    ran = await trial.run("x = 1\n")

    assert ran.failure is not None
    assert ran.failure.message == "handler.py has no function handle(params, context)"
    assert ran.failure.code == "HANDLER_FAILED"


@pytest.mark.acceptance("AM-25")
@pytest.mark.produces("*", "TIMEOUT")
async def test_time_is_over_when_it_is_over(trial: Trial) -> None:
    """The loser is stopped."""
    ran = await trial.run("import time\ndef handle(params, context):\n    time.sleep(60)\n", timeout_ms=300)

    assert ran.failure is not None
    assert (ran.failure.code, ran.failure.message) == ("TIMEOUT", "it took longer than its 0.3 s")


async def test_a_folder_that_changed_since_its_approval_is_not_run(trial: Trial) -> None:
    """X-3."""
    trial.write(answering("{'success': True}"))
    tool = manifest().tools[0]
    digest = read_folder(trial.folder).digest
    trial.write(answering("{'success': False}"))
    run = SkillRun(manifest(), tool, trial.folder, digest, {}, "invocation", "key", None, OPERATOR)

    ran = await run_skill(run, {}, lambda: None)

    assert ran.failure is not None
    assert ran.failure.code == "SKILL_CHANGED"


@pytest.mark.produces("*", "ISOLATION_UNAVAILABLE")
async def test_a_skill_for_the_users_own_machine_does_not_run_here(trial: Trial) -> None:
    """O-24."""
    trial.write(answering("{'success': True}"))
    tool = ToolRecord(
        tool_id="trial",
        backend=SkillBackend.PYTHON,
        entrypoint="handler.py",
        runtime_context=RuntimeContext.LOCAL_CLIENT,
    )
    run = SkillRun(manifest(), tool, trial.folder, "0" * 64, {}, "invocation", "key", CALL, OPERATOR)

    ran = await run_skill(run, {}, lambda: None)

    assert ran.failure is not None
    assert ran.failure.code == "ISOLATION_UNAVAILABLE"


async def test_an_input_over_its_limit_is_refused(trial: Trial) -> None:
    """O-9: 256 KiB as JSON."""
    frame = len('{"text": ""}')
    fits = await trial.run(answering("{'success': True}"), {"text": "x" * (262_144 - frame)})
    over = await trial.run(answering("{'success': True}"), {"text": "x" * (262_145 - frame)})

    assert fits.failure is None
    assert over.failure is not None
    assert over.failure.code == "INVALID_INPUT"


async def test_what_a_handler_prints_is_kept_within_its_limit(trial: Trial) -> None:
    ran = await trial.run(
        "import sys\nasync def handle(params, context):\n"
        "    print('first')\n    print('x' * 1_000_000)\n    print('last', file=sys.stderr)\n"
        "    return {'success': True}\n"
    )

    assert ran.answer == {"success": True}
    assert ran.log.startswith("first")
    assert ran.log.endswith("last\n")
    assert len(ran.log) < 70_000


async def test_nothing_of_a_run_is_left(
    trial: Trial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    await trial.run("open('file', 'w').write('x')\n" + answering("{'success': True}"))

    assert list((tmp_path / "temporary").iterdir()) == []


async def test_a_run_that_is_cancelled_ends_and_says_so(trial: Trial) -> None:
    started = asyncio.Event()

    async def begun(method: str, arguments: dict[str, Any]) -> None:
        started.set()

    work = asyncio.create_task(
        trial.run(
            "import time\ndef handle(params, context):\n    context.call_log.write({})\n    time.sleep(60)\n",
            services={"call_log": begun},
        )
    )
    await started.wait()
    work.cancel()

    with pytest.raises(asyncio.CancelledError):
        await work


@pytest.mark.acceptance("AM-28")
async def test_twenty_runs_at_once_do_not_meet(trial: Trial) -> None:
    """Calls do not affect each other."""
    recorder = Recorder()
    handler = (
        "async def handle(params, context):\n"
        "    open('own', 'x').write(str(params['n']))\n"
        "    await context.call_log.write({'n': params['n']})\n"
        "    return {'success': True, 'result': open('own').read()}\n"
    )
    trial.write(handler)

    runs = [trial.run(handler, {"n": n}, services={"call_log": recorder}) for n in range(20)]
    ran = await asyncio.gather(*runs)

    assert [one.answer and one.answer["result"] for one in ran] == [str(n) for n in range(20)]
    assert len(recorder.asked) == 20
