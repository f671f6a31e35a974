"""The learning calls: which session is the active one, and events over a connection that breaks."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from clients.apprentice.api import ApprenticeApi
from clients.apprentice.sse import Reconnect
from clients.apprentice.transport import ApiRefusal, ApiUnreachable, RetryPolicy
from contracts.learning.session import LearningEntryMode, LearnSession, LearnSessionState
from contracts.learning.state_machine import SessionCommand


def session(number: int, state: LearnSessionState) -> dict[str, object]:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return LearnSession(
        learn_session_id=str(UUID(int=number)),
        owner_user_id="ada",
        entry_mode=LearningEntryMode.DEMONSTRATING_SKILL,
        state=state,
        created_at=now,
        updated_at=now,
    ).model_dump(mode="json")


def page_of(*sessions: dict[str, object], total: int, page: int = 1) -> dict[str, object]:
    return {
        "sessions": list(sessions),
        "total": total,
        "page": page,
        "page_size": len(sessions) or 1,
        "schema_version": 1,
    }


def connect(url: str) -> ApprenticeApi:
    return ApprenticeApi(
        url,
        "token",
        retry=RetryPolicy(attempts=2, sleep=lambda _: None),
        reconnect=Reconnect(attempts=3, sleep=lambda _: None),
    )


def test_a_session_under_way_is_the_latest_even_on_a_later_page(wire, laid_out) -> None:
    wire.answers(
        laid_out.json(page_of(session(1, LearnSessionState.APPROVED), total=2)),
        laid_out.json(page_of(session(2, LearnSessionState.CAPTURING), total=2, page=2)),
    )
    with connect(wire.url) as api:
        found = api.learn.latest_session()
    assert found is not None
    assert found.state is LearnSessionState.CAPTURING


@pytest.mark.parametrize(
    ("command", "number"), [(None, 1), (SessionCommand.REVISE, 2), (SessionCommand.REJECT, None)]
)
def test_where_none_is_under_way_the_newest_that_takes_the_command_is_meant_and_else_none(
    wire, laid_out, command, number
) -> None:
    quarantined = {**session(2, LearnSessionState.QUARANTINED), "allowed_actions": ["revise", "cancel"]}
    wire.answers(laid_out.json(page_of(session(1, LearnSessionState.APPROVED), quarantined, total=2)))
    with connect(wire.url) as api:
        found = api.learn.latest_session(command)
    assert (found and found.learn_session_id) == (number and str(UUID(int=number)))


def test_without_any_session_the_search_ends(wire, laid_out) -> None:
    wire.answers(laid_out.json(page_of(total=0)))
    with connect(wire.url) as api:
        assert api.learn.latest_session() is None


def test_events_go_on_after_a_broken_connection_until_the_session_is_at_rest(wire, laid_out) -> None:
    wire.answers(
        laid_out.events(("4", "learn.capture.started"), ("5", "learn.capture.stopped"), cut=True),
        laid_out.json(session(1, LearnSessionState.STOPPED)),
        laid_out.events(("6", "learn.session.cancelled")),
        laid_out.json(session(1, LearnSessionState.CANCELLED)),
    )
    with connect(wire.url) as api:
        seen = [event.id for event in api.learn.events("s")]

    assert seen == ["4", "5", "6"]
    streams = [one for one in wire.asked if one.path.endswith("/events")]
    assert "Last-Event-ID" not in streams[0].headers
    assert streams[1].headers["Last-Event-ID"] == "5"


def test_a_stream_that_is_refused_is_a_refusal(wire, laid_out) -> None:
    wire.answers(laid_out.error("LEARN_SESSION_NOT_FOUND", 404))
    with connect(wire.url) as api, pytest.raises(ApiRefusal, match="LEARN_SESSION_NOT_FOUND"):
        list(api.learn.events("nobody"))


def test_a_stream_is_opened_again_when_the_service_is_not_ready_yet(wire, laid_out) -> None:
    wire.answers(
        laid_out.error("TEMPORAL_UNAVAILABLE", 503),
        laid_out.events(("1", "learn.session.armed")),
    )
    left = iter([False, True])
    with connect(wire.url) as api:
        assert [event.id for event in api.learn.events("s", is_over=lambda: next(left))] == ["1"]


def test_a_stream_that_cannot_be_reached_says_how_to_start_the_service(closed_url) -> None:
    with connect(closed_url) as api, pytest.raises(ApiUnreachable, match="apprentice up"):
        list(api.learn.events("s", is_over=lambda: False))
