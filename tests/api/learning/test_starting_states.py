"""Starting states over HTTP: sent by a recorder, listed, removed, and without any secret."""

import os
from collections.abc import AsyncIterator
from dataclasses import replace

import anyio
import httpx
import pytest
from uuid_utils import uuid7

from api.app import create_app
from api.learning import starting_states
from contracts.learning.starting_state import StartingState
from domain.learning.redaction.kept_files import NAMED_LIKE_A_SECRET, SEEMS_SECRET
from domain.learning.starting_state import NO_TIME, CleanState
from tests.fixtures.canaries import canary, files_with
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack
from tests.fixtures.starting import sent, state_of

pytestmark = pytest.mark.anyio

FILES = {"data": None, "data/a.csv": b"a,b\n1,2\n", "notes.txt": b"hello\n"}


async def put(
    learner: Learner, clean: CleanState, body: bytes | AsyncIterator[bytes] | None = None
) -> httpx.Response:
    """Sends a state as a recorder does."""
    path = f"/api/learn/sessions/{learner.session_id}/starting-states/{clean.state.state_id}"
    headers = {"authorization": f"Bearer {learner.secret}", "content-type": "application/gzip"}
    return await learner.http.put(path, content=sent(clean) if body is None else body, headers=headers)


async def listed(learner: Learner) -> list[StartingState]:
    answer = await learner.ok("GET", f"/api/learn/sessions/{learner.session_id}/starting-states")
    assert answer["total"] == len(answer["starting_states"])
    return [StartingState.model_validate(state) for state in answer["starting_states"]]


@pytest.fixture
async def ann(shared: Stack) -> Learner:
    """Somebody whose armed session observes her terminal."""
    learner = shared.learner(f"ann-{uuid7()}")
    await learner.create()
    return learner


async def test_a_state_is_kept_before_the_first_event_and_listed_without_contents(
    shared: Stack, ann: Learner
) -> None:
    clean = state_of(ann.session_id, FILES)
    response = await put(ann, clean)
    assert response.status_code == 200
    assert response.json() == {
        "schema_version": 1,
        "state_id": clean.state.state_id,
        "entries": 3,
        "kept_files": 2,
        "kept_bytes": 14,
        "left_out": 0,
    }
    assert (await put(ann, clean)).json() == response.json()
    assert await listed(ann) == [clean.state]
    assert [shared.services.starting_states.content(d) for d in clean.contents] == [*clean.contents.values()]
    assert await ann.state() == "armed"


async def test_a_state_is_removed_by_its_owner_alone(shared: Stack, ann: Learner) -> None:
    clean = state_of(ann.session_id, FILES)
    await put(ann, clean)
    path = f"/api/learn/sessions/{ann.session_id}/starting-states/{clean.state.state_id}"
    bob = shared.learner(f"bob-{uuid7()}")
    bob.session_id = ann.session_id
    assert (await bob.refused("DELETE", path))[0] == 404
    assert (await bob.refused("GET", path.rpartition("/")[0]))[0] == 404
    assert (await put(bob, state_of(ann.session_id, FILES))).status_code == 404
    watching = shared.learner(ann.user, ("observe",))
    assert (await watching.refused("DELETE", path))[0] == 403
    await ann.ok("DELETE", path)
    assert await listed(ann) == []
    assert (await ann.refused("DELETE", path))[1]["code"] == "NOT_FOUND"


async def test_a_session_that_does_not_observe_any_more_takes_none_and_deletion_takes_all(
    shared: Stack, ann: Learner
) -> None:
    clean = state_of(ann.session_id, FILES)
    await put(ann, clean)
    await ann.act("start")
    await ann.observe()
    await ann.act("pause")
    response = await put(ann, state_of(ann.session_id, FILES))
    assert (response.status_code, response.json()["error"]["current_state"]) == (400, "paused")
    await ann.act("resume")
    assert (await put(ann, state_of(ann.session_id, {"again": b"x"}))).status_code == 200
    await ann.act("stop")
    assert (await put(ann, state_of(ann.session_id, FILES))).status_code == 400
    assert len(await listed(ann)) == 2
    await ann.ok("DELETE", f"/api/learn/sessions/{ann.session_id}")
    assert await listed(ann) == []
    assert shared.services.starting_states.of_session(ann.session_id) == ()


async def test_what_is_addressed_is_what_is_in_the_archive(ann: Learner) -> None:
    clean = state_of(ann.session_id, FILES)
    for other in (
        state_of(ann.session_id, FILES),
        state_of(str(uuid7()), FILES, state_id=clean.state.state_id),
    ):
        response = await put(ann, clean, sent(other))
        assert (response.status_code, response.json()["error"]["code"]) == (422, "VALIDATION_FAILED")
    assert (await put(ann, clean, b"{}")).status_code == 422
    assert await listed(ann) == []


async def test_an_archive_may_be_larger_than_any_other_body_and_come_slowly(ann: Learner) -> None:
    noise = {f"{number}.bin": os.urandom(600_000) for number in range(12)}
    clean = state_of(ann.session_id, noise)
    whole = sent(clean)

    async def dripping() -> AsyncIterator[bytes]:
        for start in range(0, len(whole), 10_000):
            yield whole[start : start + 10_000]
            await anyio.sleep(0)

    assert (await put(ann, clean, dripping())).status_code == 200
    assert (await listed(ann))[0].state_id == clean.state.state_id


async def test_a_refused_archive_is_still_read_so_that_the_answer_arrives(ann: Learner) -> None:
    clean = state_of(ann.session_id, FILES)
    given = 0

    async def hostile() -> AsyncIterator[bytes]:
        nonlocal given
        yield sent(clean)[:40] + b"\xff" * 100
        for _ in range(50):
            given += 1
            yield b"x" * 10_000

    assert (await put(ann, clean, hostile())).status_code == 422
    assert given == 50


async def test_only_two_archives_are_read_at_once(shared: Stack, ann: Learner) -> None:
    uploads = shared.services.uploads
    with uploads, uploads:
        response = await put(ann, state_of(ann.session_id, FILES))
        assert (response.status_code, response.json()["error"]["retryable"]) == (429, True)
    assert (await put(ann, state_of(ann.session_id, FILES))).status_code == 200


async def test_files_that_may_hold_secrets_are_left_out_of_what_a_careless_recorder_sends(
    shared: Stack, ann: Learner, caplog: pytest.LogCaptureFixture
) -> None:
    secrets = {name: canary(name) for name in ("named", "assigned", "folder", "path", "link")}
    files = {
        ".env": f"A={secrets['named']}\n".encode(),
        "deploy.sh": f"export API_TOKEN={secrets['assigned']}\n".encode(),
        "readme.md": b"how to deploy\n",
        f"token={secrets['path']}": b"x",
    }
    clean = state_of(ann.session_id, files, folder_name=f"token={secrets['folder']}")
    response = await put(ann, clean)
    assert (response.json()["kept_files"], response.json()["left_out"]) == (1, 2)
    (kept,) = await listed(ann)
    assert {entry.path: entry.left_out for entry in kept.entries} == {
        ".env": NAMED_LIKE_A_SECRET,
        "deploy.sh": SEEMS_SECRET,
        "readme.md": None,
    }
    assert kept.partial
    for name, secret in secrets.items():
        assert files_with(shared.settings.data_dir, secret) == [], name
        assert secret not in caplog.text


async def test_files_that_there_is_no_time_to_search_are_left_out(
    ann: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting_states, "SEARCH_S", -1.0)
    await put(ann, state_of(ann.session_id, FILES))
    (kept,) = await listed(ann)
    assert [entry.left_out for entry in kept.entries] == [None, NO_TIME, NO_TIME]


async def test_a_service_that_keeps_no_inputs_refuses_them(shared: Stack, ann: Learner) -> None:
    settings = shared.settings.model_copy(update={"record_inputs": False})
    app = create_app(settings)
    app.state.services = replace(shared.services, settings=settings)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as http:
        response = await put(
            Learner(http, ann.secret, ann.user, ann.session_id), state_of(ann.session_id, FILES)
        )
    assert (response.status_code, response.json()["error"]["code"]) == (403, "FORBIDDEN")
