"""``apprentice mining`` against the running service."""

import json
from functools import partial

import anyio.to_thread
import pytest
from click.testing import Result
from typer.testing import CliRunner

from cli.mining.mining_commands import app
from tests.e2e.test_skill_mining import candidates, show
from tests.fixtures.stack import Stack

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]


async def run(api_url: str, secret: str, *words: str) -> Result:
    """One command as somebody types it."""
    arguments = [*words, "--api-url", api_url, "--token", secret]
    return await anyio.to_thread.run_sync(partial(CliRunner().invoke, app, arguments))


async def test_settings_are_shown_and_changed_one_by_one(stack: Stack, api_url: str) -> None:
    learner = stack.learner()
    shown = await run(api_url, learner.secret, "settings")
    assert shown.exit_code == 0
    assert "build_then_review" in shown.output
    changed = await run(api_url, learner.secret, "settings", "--outside", "--min-traces", "4")
    assert "at least 4" in changed.output
    assert "used to suggest skills" in changed.output
    seen = json.loads((await run(api_url, learner.secret, "settings", "--mode", "off", "--json")).output)
    assert (seen["settings"]["mode"], seen["settings"]["min_successful_traces"]) == ("off", 4)
    assert seen["settings"]["observe_outside_agent"] is True
    off = await run(api_url, learner.secret, "run")
    assert "switched off" in off.output
    assert (await run(api_url, learner.secret, "settings", "--mode", "sometimes")).exit_code == 2


async def test_a_run_finds_a_candidate_that_can_be_accepted(stack: Stack, api_url: str) -> None:
    learner = stack.learner()
    assert "Nothing found" in (await run(api_url, learner.secret, "candidates")).output
    for _ in range(2):
        await show(learner)
    unseen = await run(api_url, learner.secret, "run")
    assert "2 left out: your settings leave out what you did outside the agent" in unseen.output
    assert "`apprentice mining settings --outside` lets it count" in unseen.output
    await run(api_url, learner.secret, "settings", "--outside", "--mode", "ask_before_build")
    early = await run(api_url, learner.secret, "run")
    assert (
        "not suggested: not done often enough yet; `apprentice mining settings --min-traces" in early.output
    )
    await show(learner)
    done = json.loads((await run(api_url, learner.secret, "run", "--json")).output)
    assert (done["state"], done["progress"]["candidates"]) == ("completed", 1)
    listed = await run(api_url, learner.secret, "candidates", "--state", "open")
    assert "Summarise the sales figures" in listed.output
    (found,) = await candidates(learner)
    accepted = await run(api_url, learner.secret, "accept", found["candidate"]["candidate_id"])
    assert accepted.exit_code == 0
    assert "apprentice learn status" in accepted.output
    refused = await run(
        api_url, learner.secret, "dismiss", found["candidate"]["candidate_id"], "--reason", "no"
    )
    assert refused.exit_code == 4
    assert "CONFLICT" in refused.output


async def test_a_candidate_is_dismissed(stack: Stack, api_url: str) -> None:
    learner = stack.learner()
    await run(api_url, learner.secret, "settings", "--outside", "--mode", "ask_before_build")
    for _ in range(3):
        await show(learner)
    await run(api_url, learner.secret, "run")
    (found,) = await candidates(learner)
    gone = await run(api_url, learner.secret, "dismiss", found["candidate"]["candidate_id"])
    assert "dismissed" in gone.output
