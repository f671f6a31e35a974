"""Former routes lead on with 308 for six months after the deployment, and then are gone."""

from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from pathlib import Path

import pytest
from fastapi.routing import iter_route_contexts
from hypothesis import given
from hypothesis import strategies as st
from uuid_utils import uuid7

from api.platform import deprecated
from api.platform.deprecated import last_day
from tests.fixtures.learner import Learner
from tests.fixtures.stack import Stack, connect, running_stack, stack_settings

pytestmark = pytest.mark.anyio


def as_(learner: Learner) -> dict[str, str]:
    """The header that says who asks."""
    return {"authorization": f"Bearer {learner.secret}"}


async def sent_on(shared: Stack, method: str, path: str, **request: object) -> str:
    """Where a former route leads, which has to be by 308 alone."""
    response = await shared.http.request(method, path, **request)  # type: ignore[arg-type]
    assert response.status_code == 308, response.text
    return response.headers["location"]


@pytest.mark.acceptance("R11.2-47")
@pytest.mark.acceptance("R11.2-48")
@pytest.mark.parametrize("path", ["/api/capabilities/teach/start", "/api/learn/session/start"])
async def test_a_client_that_begins_a_session_the_old_way_gets_one(shared: Stack, path: str) -> None:
    learner = shared.learner(f"user-{uuid7()}")
    assert await sent_on(shared, "POST", path) == "/api/learn/sessions"
    response = await shared.http.post(
        path,
        json={"entry_mode": "demonstrating_skill", "observation_mode": "outside_agent"},
        headers=as_(learner),
        follow_redirects=True,
    )
    assert response.status_code == 201
    assert response.json()["session"]["state"] == "armed"


async def test_the_open_session_is_found_for_paths_that_never_named_one(shared: Stack) -> None:
    learner = shared.learner(f"user-{uuid7()}")
    nothing = await shared.http.post("/api/capabilities/teach/cancel", headers=as_(learner))
    assert (nothing.status_code, nothing.json()["error"]["code"]) == (404, "LEARN_SESSION_NOT_FOUND")

    await learner.create()
    base = f"/api/learn/sessions/{learner.session_id}"
    assert (
        await sent_on(shared, "POST", "/api/capabilities/teach/finish", headers=as_(learner))
        == f"{base}/stop"
    )
    cancelled = await shared.http.post(
        "/api/capabilities/teach/cancel", headers=as_(learner), follow_redirects=True
    )
    assert cancelled.json()["session"]["state"] == "cancelled"


@pytest.mark.parametrize("action", ["pause", "resume", "stop", "cancel"])
async def test_commands_without_an_id_lead_to_the_open_session(shared: Stack, action: str) -> None:
    learner = shared.learner(f"user-{uuid7()}")
    former = f"/api/learn/session/{action}"
    assert (await shared.http.post(former, headers=as_(learner))).status_code == 404
    await learner.create()
    led = await sent_on(shared, "POST", former, headers=as_(learner))
    assert led == f"/api/learn/sessions/{learner.session_id}/{action}"


async def test_a_client_that_cancels_the_old_way_has_its_session_cancelled(shared: Stack) -> None:
    learner = shared.learner(f"user-{uuid7()}")
    await learner.create()
    ended = await shared.http.post("/api/learn/session/cancel", headers=as_(learner), follow_redirects=True)
    assert ended.json()["session"]["state"] == "cancelled"


async def test_whose_session_it_is_has_to_be_known(shared: Stack) -> None:
    response = await shared.http.post("/api/capabilities/teach/cancel")
    assert response.status_code == 401


async def test_a_mined_proposal_leads_to_the_proposal_and_its_session(shared: Stack) -> None:
    learner = shared.learner(f"user-{uuid7()}")
    await learner.demonstrate()
    await learner.propose()
    old = f"/api/skills/mining/proposals/{learner.proposal_id}"
    new = f"/api/learn/proposals/{learner.proposal_id}"
    for former, now in [
        ("test", f"{new}/validate"),
        ("install-experimental", f"{new}/install"),
        ("feedback", f"{new}/revise"),
        ("questions", f"/api/learn/sessions/{learner.session_id}/answer-questions"),
        ("answers", f"/api/learn/sessions/{learner.session_id}/answer-questions"),
    ]:
        assert await sent_on(shared, "POST", f"{old}/{former}", headers=as_(learner)) == now
    for former, now in [
        ("test", f"{new}/validate"),
        ("install-private", f"{new}/install"),
        ("questions", f"/api/learn/sessions/{learner.session_id}/answer-questions"),
        ("answers", f"/api/learn/sessions/{learner.session_id}/answer-questions"),
    ]:
        assert await sent_on(shared, "POST", f"{new}/{former}", headers=as_(learner)) == now

    stranger = shared.learner(f"user-{uuid7()}")
    refused = await shared.http.post(f"{old}/answers", headers=as_(stranger))
    assert (refused.status_code, refused.json()["error"]["code"]) == (404, "PROPOSAL_NOT_FOUND")


async def test_the_former_settings_of_mining_are_still_read_written_and_followed_by_a_run(
    shared: Stack,
) -> None:
    learner = shared.learner(f"user-{uuid7()}")
    old = "/api/skills/mining"
    wanted = {"mode": "ask_before_build", "observe_outside_agent": True}
    send = partial(shared.http.request, headers=as_(learner), follow_redirects=True)
    written = await send("POST", f"{old}/settings", json=wanted)
    read = await send("GET", f"{old}/settings")
    assert written.json() == read.json()
    assert read.json()["settings"]["observe_outside_agent"] is True
    assert (await send("POST", f"{old}/scan")).status_code == 202


async def test_paths_of_one_session_become_plural_and_keep_their_query(shared: Stack) -> None:
    session_id = str(uuid7())
    assert (
        await sent_on(shared, "GET", f"/api/learn/session/{session_id}/events?page=2")
        == f"/api/learn/sessions/{session_id}/events?page=2"
    )
    assert await sent_on(shared, "GET", "/api/skills/mining/proposals") == "/api/learn/proposals"


@pytest.mark.parametrize("body", [b"", b"[]", b'{"ability_id": 3}', b'{"ability_id": "../x"}', b"{"])
async def test_sharing_the_old_way_has_to_name_an_ability(shared: Stack, body: bytes) -> None:
    learner = shared.learner(f"user-{uuid7()}")
    response = await shared.http.post("/api/capabilities/promote", content=body, headers=as_(learner))
    assert (response.status_code, response.json()["error"]["code"]) == (422, "VALIDATION_FAILED")


async def test_sharing_the_old_way_leads_to_the_ability(shared: Stack) -> None:
    learner = shared.learner(f"user-{uuid7()}")
    for name in ("ability_id", "capability_id"):
        path = await sent_on(
            shared, "POST", "/api/capabilities/promote", json={name: "learned.report"}, headers=as_(learner)
        )
        assert path == "/api/abilities/learned.report/promote-shared"


async def test_six_months_after_the_deployment_they_are_gone(tmp_path: Path, temporal_address: str) -> None:
    client = await connect(temporal_address)
    today = datetime.now(UTC).date()
    for deployed_on, status in [(today, 308), (today - timedelta(days=185), 410)]:
        settings = stack_settings(tmp_path / deployed_on.isoformat(), deployed_on=deployed_on)
        async with running_stack(settings, client) as stack:
            response = await stack.http.post("/api/learn/session/start")
        assert response.status_code == status
        if status == 308:
            assert parsedate_to_datetime(response.headers["sunset"]).date() == last_day(deployed_on)
        else:
            assert response.json()["error"]["code"] == "ROUTE_GONE"


@given(deployed_on=st.dates(max_value=date(9000, 1, 1)))
def test_six_months_are_never_shorter_than_the_shortest_and_never_longer_than_the_longest(
    deployed_on: date,
) -> None:
    assert timedelta(days=181) <= last_day(deployed_on) - deployed_on <= timedelta(days=184)


@pytest.mark.acceptance("legacy_post_redirects_never_use_301")
async def test_no_route_answers_301(shared: Stack) -> None:
    posts = [r.path for r in iter_route_contexts(deprecated.router.routes) if "POST" in r.methods]
    assert len(posts) >= 7
    learner = shared.learner(f"user-{uuid7()}")
    for path in posts:
        filled = path.format(proposal_id=uuid7(), session_id=uuid7(), action="test")
        response = await shared.http.post(filled, headers=as_(learner))
        assert response.status_code != 301, filled
