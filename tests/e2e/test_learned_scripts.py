"""Scripts of learned abilities: run on a copy of a folder, asked first, and nothing of an ability but them (X-35)."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from typer.testing import CliRunner, Result

from cli.main import app
from cli.platform.output import ExitCode
from contracts.workflow_ids import skill_invocation_id
from host.folder_archive import unpack_folder
from stores.platform.journal.journal import read_stream
from stores.skills.invocation_rows import AUDIT
from tests.e2e.test_ability_trial import LIMITS, handed_in
from tests.e2e.test_lessons_on_files import taught
from tests.fixtures.learner import Learner
from tests.fixtures.served import served
from tests.fixtures.stack import EVERYDAY_SCOPES, Stack

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]

SHOWN = (
    "sort -t, -k2,2nr stock.csv > top.csv",
    "cat > count.sh <<'END'\nwc -l < top.csv > \"$1\"\nEND",
    "bash count.sh count.txt",
)


@pytest.fixture
async def ability(stack: Stack, tmp_path: Path) -> dict[str, Any]:
    """An ability of alice's with one script, which counts the lines of ``top.csv``."""
    alice, _ = await taught(stack, tmp_path / "desk", SHOWN)
    assert await alice.prove() == "ready_for_review"
    await alice.propose_act("approve")
    (entry,) = (await alice.ok("GET", "/api/abilities/availability"))["abilities"]
    return entry


def caller(stack: Stack, user: str = "alice") -> Learner:
    return stack.learner(user, (*EVERYDAY_SCOPES, "call"))


async def ended(who: Learner, invocation_id: str) -> dict[str, Any]:
    with anyio.fail_after(60):
        while (view := await who.ok("GET", f"/api/skills/invocations/{invocation_id}"))["status"] in (
            "queued",
            "running",
        ):
            await anyio.sleep(0.05)
    return view


@pytest.mark.acceptance("X-35")
async def test_a_script_is_asked_first_and_run_on_a_copy_of_a_folder(
    stack: Stack, tmp_path: Path, ability: dict[str, Any]
) -> None:
    alice, path = caller(stack), f"/api/skills/{ability['ability_id']}/invocations"
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "top.csv").write_text("a,1\nb,2\n")
    ref = await handed_in(alice, folder)
    given = {"script": "count.sh", "arguments": ["it's $(touch x).txt"], "folder": ref}

    asked = await alice.ok("POST", path, {"input": given})
    assert (asked["status"], asked["lane"]) == ("awaiting_confirmation", "learned_script")
    (item,) = (await alice.ok("GET", "/api/inbox"))["items"]
    assert item["arguments"]["script"] == "count.sh"
    assert 'wc -l < top.csv > "$1"' in item["text"]
    confirm = f"/api/skills/invocations/{asked['invocation_id']}/confirm"
    await alice.ok("POST", confirm, {})
    view = await ended(alice, asked["invocation_id"])
    assert view["status"] == "success", view
    assert view["outputs"]["changed"] == [{"path": "it's $(touch x).txt", "change": "added"}]

    archive = await alice.call("GET", f"/api/skills/invocations/{asked['invocation_id']}/folder")
    out = tmp_path / "out"
    out.mkdir()
    unpack_folder(archive.content, out, LIMITS)
    assert sorted(one.name for one in out.iterdir()) == ["it's $(touch x).txt", "top.csv"]
    assert (out / "it's $(touch x).txt").read_text().strip() == "2"
    assert [one.name for one in folder.iterdir()] == ["top.csv"]
    with stack.database.read() as connection:
        audited = [one.document for one in read_stream(connection, AUDIT)]
    assert [(one["when"], one["lane"]) for one in audited] == [
        (when, "learned_script") for when in ("admitted", "confirmation", "before", "after")
    ]
    description = await stack.client.get_workflow_handle(
        skill_invocation_id(asked["invocation_id"])
    ).describe()
    assert description.workflow_type == "SkillInvocationWorkflow"


@pytest.mark.acceptance("X-35")
async def test_a_script_is_run_and_its_folder_fetched_at_the_command_line(
    stack: Stack, tmp_path: Path, ability: dict[str, Any]
) -> None:
    alice = caller(stack)
    folder, out, later = tmp_path / "other", tmp_path / "out", tmp_path / "later"
    folder.mkdir()
    (folder / "top.csv").write_text("a,1\nb,2\n")
    run = ("run", ability["ability_id"], "--script", "count.sh", "--folder", str(folder))
    async with served(stack) as url:

        async def typed(*arguments: str) -> Result:
            environment = {"APPRENTICE_API_URL": url, "APPRENTICE_TOKEN": alice.secret}
            type_it = partial(CliRunner().invoke, app, ["skills", *arguments], env=environment)
            return await anyio.to_thread.run_sync(type_it)

        done = await typed(*run, "--out", str(out), "--confirmed", "--", "lines.txt")
        assert done.exit_code == 0, done.output
        assert (out / "lines.txt").read_text().strip() == "2"
        used = await typed(*run, "--out", str(out), "--", "lines.txt")
        assert (used.exit_code, "is not empty" in used.stderr) == (ExitCode.USAGE, True)

        waits = json.loads((await typed(*run, "--json", "--", "lines.txt")).stdout)
        assert waits["status"] == "awaiting_confirmation"
        await typed("confirm", waits["invocation_id"])
        await ended(alice, waits["invocation_id"])
        await typed("result", waits["invocation_id"], "--out", str(later))
        assert (later / "lines.txt").read_text().strip() == "2"
        alone = await typed("run", "calendar", "--out", str(tmp_path / "new"))
        assert (alone.exit_code, "--script" in alone.stderr) == (ExitCode.USAGE, True)


@pytest.mark.acceptance("X-35")
async def test_what_is_no_script_of_an_ability_in_use_is_refused_before_anybody_is_asked(
    stack: Stack, ability: dict[str, Any]
) -> None:
    alice, path = caller(stack), f"/api/skills/{ability['ability_id']}/invocations"
    asked = {"input": {"script": "count.sh"}}
    assert (await alice.refused("POST", path, {"input": {"script": "../SKILL.md"}}))[1][
        "code"
    ] == "INVALID_INPUT"
    other = {"input": {"script": "count.sh", "folder": "trial-folder/" + "0" * 64}}
    assert (await alice.refused("POST", path, other))[1]["code"] == "NOT_FOUND"
    assert (await stack.learner().refused("POST", path, asked))[1]["code"] == "FORBIDDEN"

    waiting = await alice.ok("POST", path, asked)
    reason = {"reason": "It counts the wrong lines."}
    await alice.ok("POST", f"/api/abilities/{ability['ability_id']}/quarantine", reason)
    assert (await alice.refused("POST", path, asked))[1]["code"] == "SKILL_QUARANTINED"
    assert (await caller(stack, "bob").refused("POST", path, asked))[1]["code"] == "SKILL_NOT_FOUND"
    # Who was asked before is not taken at the word of then.
    await alice.ok("POST", f"/api/skills/invocations/{waiting['invocation_id']}/confirm", {})
    view = await ended(alice, waiting["invocation_id"])
    assert (view["status"], view["error"]["code"]) == ("failure", "SKILL_QUARANTINED")


@pytest.mark.acceptance("X-35")
async def test_an_ability_without_a_script_of_a_persons_is_not_run(stack: Stack) -> None:
    alice = caller(stack)
    await alice.teach()
    await alice.propose_act("approve")
    (entry,) = (await alice.ok("GET", "/api/abilities/availability"))["abilities"]
    path = f"/api/skills/{entry['ability_id']}/invocations"
    status, error = await alice.refused("POST", path, {"input": {"script": "top.sh"}})
    assert (status, error["code"], error["precondition"]) == (409, "PRECONDITION_UNMET", "scripts")


_CRASHES = r"""cat > count.sh <<'END'
if [ -e crash ]; then kill -ABRT $$; fi
if [ -e pipe ]; then mkfifo "$1"; exit "$(cat pipe)"; fi
wc -l < top.csv > "$1"
END"""

CRASHES = (SHOWN[0], _CRASHES, SHOWN[2])


async def run_on(who: Learner, ability_id: str, folder: Path) -> dict[str, Any]:
    """One run of the script on a folder, confirmed as it is asked for."""
    given = {"script": "count.sh", "arguments": ["lines.txt"], "folder": await handed_in(who, folder)}
    asked = {"input": given, "confirmed": True}
    return await who.ok("POST", f"/api/skills/{ability_id}/invocations", asked, prefer="wait=60")


@pytest.mark.acceptance("X-35")
async def test_a_script_that_keeps_crashing_takes_its_ability_out_of_use_until_rechecks_go_well(
    stack: Stack, tmp_path: Path
) -> None:
    learner, _ = await taught(stack, tmp_path / "desk", CRASHES)
    assert await learner.prove() == "ready_for_review"
    await learner.propose_act("approve")
    (entry,) = (await learner.ok("GET", "/api/abilities/availability"))["abilities"]
    alice, ability_id = caller(stack), entry["ability_id"]
    empty, bad, refused = tmp_path / "empty", tmp_path / "bad", tmp_path / "refused"
    for folder in (empty, bad, refused):
        folder.mkdir()
    (refused / "pipe").write_text("3")
    (bad / "top.csv").write_text("a,1\n")
    (bad / "crash").write_text("")
    for _ in range(6):
        # The folder has no top.csv: that is nobody's fault but its own.
        assert (await run_on(alice, ability_id, empty))["error"]["code"] == "SCRIPT_FAILED"
    # Nor does it matter what a script leaves behind that says by its status that it did not work.
    failed = await run_on(alice, ability_id, refused)
    assert failed["error"]["code"] == "SCRIPT_FAILED", failed
    for _ in range(4):
        crashed = await run_on(alice, ability_id, bad)
        assert (crashed["status"], crashed["error"]["code"]) == ("failure", "HANDLER_FAILED"), crashed
    (bad / "crash").rename(bad / "pipe")
    (bad / "pipe").write_text("0")
    assert (await run_on(alice, ability_id, bad))["error"]["code"] == "OUTPUT_INVALID"
    (bad / "pipe").unlink()
    body = {"input": {"script": "count.sh", "arguments": ["lines.txt"]}}
    status, error = await alice.refused("POST", f"/api/skills/{ability_id}/invocations", body)
    assert (status, error["code"]) == (403, "SKILL_QUARANTINED")
    assert "failed 5 times within 7 days" in error["message"]

    asked = {"capability_id": ability_id, "canaries": 5}
    await stack.learner("alice", (*EVERYDAY_SCOPES, "admin")).ok("POST", "/api/capabilities/reprobe", asked)
    with anyio.fail_after(120):
        while await health_of(alice, ability_id) != "healthy":
            await anyio.sleep(0.05)
    assert (await run_on(alice, ability_id, bad))["status"] == "success"


async def health_of(who: Learner, capability_id: str) -> str:
    known = (await who.ok("GET", "/api/capabilities/health"))["capabilities"]
    return next(one["health_status"] for one in known if one["capability_id"] == capability_id)


@pytest.mark.acceptance("X-35")
async def test_a_run_of_a_script_is_an_observation_of_the_session_that_its_caller_names(
    stack: Stack, ability: dict[str, Any], tmp_path: Path
) -> None:
    """Names and outcome, never a value."""
    alice, folder = caller(stack), tmp_path / "other"
    folder.mkdir()
    (folder / "top.csv").write_text("canary,1\n")
    await alice.create(observation_mode="inside_agent")
    given = {"script": "count.sh", "arguments": ["canary.txt"], "folder": await handed_in(alice, folder)}
    asked = {"input": given, "confirmed": True, "context": {"learn_session_id": alice.session_id}}
    path = f"/api/skills/{ability['ability_id']}/invocations"
    done = await alice.ok("POST", path, asked, prefer="wait=60")
    assert done["status"] == "success", done
    observed = await alice.ok("GET", f"/api/learn/sessions/{alice.session_id}/observations")
    (seen,) = observed["observations"]
    assert (seen["adapter_kind"], seen["after_state_ref"]) == ("wrapper_receipt", "ok")
    assert seen["before_state_ref"] == "with arguments, folder, script"
    assert "canary" not in str(seen)
