"""A token's secret is in the answer that made it and nowhere else."""

import sqlite3
from pathlib import Path

import pytest
from temporalio.client import Client

from stores.platform.tokens import FILE_NAME
from tests.api.world import ALL_SCOPES
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

# Secrets of well-known shapes, put together here so that nothing in the sources looks like one.
GITHUB = "ghp_" + "A1b2C3d4E5" * 3 + "f6G7h8"
PASSWORD = "correct-" + "horse-battery-42"
AWS = "AKIA" + "J7Q2M4X9L3B8T6W1"


@pytest.fixture(scope="module")
async def told(shared: Stack) -> list[str]:
    """Lives a whole life in which secrets are typed where people type them; the secrets."""
    admin = Learner(shared.http, shared.admin_secret, "admin")
    secrets = [shared.admin_secret]
    for name in ("first", "second"):
        body = {"name": name, "user_id": "alice", "scopes": list(ALL_SCOPES)}
        made = await admin.ok("POST", "/api/tokens", body)
        secrets.append(made["secret"])
    alice = Learner(shared.http, secrets[-1], "alice")
    said = f"export GITHUB_TOKEN={GITHUB} --password={PASSWORD} {AWS} {alice.secret}"
    await alice.create(ask_before_build=True, allow_private_install=True)
    await alice.act("start", {"reason": said})
    await alice.act("mark-goal", {"goal_description": f"Summarise the sales figures {said}"})
    await alice.act("mark-step", {"step_label": f"Prepare {said}"})
    shown = [
        (f"export GITHUB_TOKEN={GITHUB}", ()),
        (f"curl -u me:{PASSWORD} -H 'Authorization: Bearer {alice.secret}' localhost > a.txt", ("a.txt",)),
        (f"AWS_ACCESS_KEY_ID={AWS} sort a.txt > b.txt", ("b.txt",)),
    ]
    await alice.observe(shown)
    await alice.act("stop", {"reason": said})
    await alice.propose()
    detail = await alice.ok("GET", f"/api/learn/proposals/{alice.proposal_id}/detail")
    answers = [
        {"question_id": q["question_id"], "answer_text": f"Always {said}"} for q in detail["questions"]
    ]
    await alice.act("answer-questions", {"answers": answers})
    edits = {"goal_summary": f"A report {said}", "use_conditions": [f"When {said}"]}
    await alice.propose_act("revise", {"revision_instructions": said, "edited_fields": edits})
    await alice.prove(selected_tests=["lint"], run_label=f"GITHUB_TOKEN={GITHUB} --password={PASSWORD}")
    await alice.act("cancel", {"reason": said})
    await alice.ok("DELETE", f"/api/tokens/{(await admin.ok('GET', '/api/tokens'))['tokens'][0]['token_id']}")
    return [*secrets, GITHUB, PASSWORD, AWS]


def holding(folder: Path, secret: str) -> list[str]:
    return [
        str(p.relative_to(folder))
        for p in folder.rglob("*")
        if p.is_file() and secret.encode() in p.read_bytes()
    ]


async def test_no_secret_is_on_the_disk_but_the_admins_in_its_file(shared: Stack, told: list[str]) -> None:
    admin, *others = told
    with sqlite3.connect(shared.settings.data_dir / "apprentice.db") as connection:
        connection.execute("PRAGMA wal_checkpoint(FULL)")
    assert holding(shared.settings.data_dir, admin) == [FILE_NAME]
    assert (shared.settings.data_dir / FILE_NAME).stat().st_mode & 0o777 == 0o600
    for secret in others:
        assert holding(shared.settings.data_dir, secret) == []


async def test_no_secret_is_in_temporals_histories(shared: Stack, told: list[str]) -> None:
    histories = [text async for text in all_histories(shared.client, shared.settings.task_queue)]
    assert len(histories) >= 2
    for text in histories:
        assert [secret for secret in told if secret in text] == []


async def all_histories(client: Client, task_queue: str):
    async for found in client.list_workflows(f'TaskQueue = "{task_queue}"'):
        history = await client.get_workflow_handle(found.id, run_id=found.run_id).fetch_history()
        yield "".join(str(event) for event in history.events)


async def test_no_secret_is_read_back(shared: Stack, told: list[str]) -> None:
    admin = Learner(shared.http, told[0], "admin")
    alice = Learner(shared.http, told[1], "alice")
    for caller, path in (
        (admin, "/api/tokens"),
        (alice, "/api/tokens"),
        (alice, "/api/me"),
        (alice, "/api/learn/receipts?page_size=100"),
        (alice, "/api/learn/history"),
        (alice, "/api/learn/proposals"),
        (alice, "/metrics"),
    ):
        text = (await caller.call("GET", path)).text
        assert [secret for secret in told if secret in text] == [], path
    (session,) = (await alice.ok("GET", "/api/learn/sessions"))["sessions"]
    for part in ("observations", "events", "detail"):
        text = (await alice.call("GET", f"/api/learn/sessions/{session['learn_session_id']}/{part}")).text
        assert [secret for secret in told if secret in text] == [], part
