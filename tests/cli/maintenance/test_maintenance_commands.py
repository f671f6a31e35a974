"""``apprentice maintenance`` against the running service."""

import json
from functools import partial

import anyio.to_thread
import pytest
from click.testing import Result
from typer.testing import CliRunner

from cli.maintenance.maintenance_commands import app
from tests.fixtures.past import add_session, days, is_archived, spoil_session
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio


async def run(api_url: str, secret: str, *words: str) -> Result:
    """One command as somebody types it."""
    arguments = [*words, "--api-url", api_url, "--token", secret]
    return await anyio.to_thread.run_sync(partial(CliRunner().invoke, app, arguments))


async def test_a_preview_a_run_and_the_history(stack: Stack, api_url: str) -> None:
    old = add_session(stack.database, days(200))
    bad = add_session(stack.database, days(200))
    spoil_session(stack.database, bad)
    preview = await run(api_url, stack.admin_secret, "run", "--dry-run", "--json")
    assert preview.exit_code == 0
    seen = json.loads(preview.output)
    assert (seen["dry_run"], seen["state"], seen["sweeps"][0]["done"]) == (True, "completed", 1)
    assert not is_archived(stack.database, "learn_sessions", old)

    done = await run(api_url, stack.admin_secret, "run")
    assert done.exit_code == 0
    assert "archive sessions" in done.output
    assert f"archive_sessions left {bad}: ValidationError" in done.output
    assert "are as they were written" in done.output
    assert is_archived(stack.database, "learn_sessions", old)

    listed = await run(api_url, stack.admin_secret, "list")
    assert seen["run_id"] in listed.output
    assert "preview" in listed.output


async def test_whoever_is_no_admin_is_told_so(stack: Stack, api_url: str) -> None:
    refused = await run(api_url, stack.learner().secret, "run")
    assert refused.exit_code == 4
    assert "FORBIDDEN" in refused.output
