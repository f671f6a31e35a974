"""Sessions of mined candidates: created under the same settings as any other session."""

from datetime import timedelta
from pathlib import Path

import pytest

from contracts.learning.aggregate import LearnSettings
from tests.e2e.test_skill_mining import allow, candidates, mine, show
from tests.fixtures.model_server import ModelServer, rewording
from tests.fixtures.model_stack import KEY, MODEL, with_model

pytestmark = pytest.mark.anyio


async def test_a_mined_session_carries_every_configured_setting(
    tmp_path: Path, temporal_address: str, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WRITER_KEY", KEY)
    model_server.replies(rewording())
    configured = {
        "arm_timeout": timedelta(minutes=11),
        "capture_timeout": timedelta(minutes=12),
        "question_deadline": timedelta(minutes=13),
        "model_timeout": timedelta(seconds=14),
    }
    async with with_model(tmp_path, temporal_address, model_server.url, **configured) as stack:
        learner = stack.learner()
        await allow(learner, mode="build_then_review")
        shown = [await show(learner) for _ in range(3)]
        await mine(learner)
        (found,) = await candidates(learner)
        mined = stack.services.sessions.owned(found["candidate"]["learn_session_id"], learner.user)
        assert mined.settings == LearnSettings(
            arm_timeout_seconds=11 * 60,
            capture_timeout_seconds=12 * 60,
            question_deadline_seconds=13 * 60,
            drafting_model=MODEL,
            drafting_timeout_seconds=14,
        )
        assert mined.settings == stack.services.sessions.owned(shown[0], learner.user).settings
