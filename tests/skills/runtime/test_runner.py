"""A handler runs in its sandbox and its answer comes back (AM-01, AM-22, AM-23, AM-26…AM-28)."""

import pytest

from tests.skills.runtime.conftest import Trial

pytestmark = pytest.mark.anyio


async def test_a_handlers_answer_comes_back(trial: Trial) -> None:
    ran = await trial.run(
        "async def handle(params, context):\n"
        "    return {'success': True, 'message': 'hello ' + params['name'], 'result': {'id': context.call.id}}\n",
        {"name": "you"},
    )

    assert ran.failure is None, ran.log
    assert ran.answer == {"success": True, "message": "hello you", "result": {"id": "call-1"}}
    assert ran.acted is False
    assert ran.isolation.seccomp
