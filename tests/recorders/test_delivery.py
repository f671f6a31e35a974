from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from contracts.backoff import Backoff
from contracts.learning.observation import ObservedActionEvent
from recorders.delivery import Delivery, DeliveryState, IngestTarget
from recorders.spool import Spool

NewEvent = Callable[..., ObservedActionEvent]
AT_ONCE = Backoff(first=0.001, cap=0.01, jitter=0.9)
PATIENCE_S = 20.0


@pytest.fixture
def spool(tmp_path: Path, session_id: str) -> Iterator[Spool]:
    spool = Spool(tmp_path / "spool", session_id)
    yield spool
    spool.close()


@pytest.fixture
def deliver(ingest_server, spool: Spool, session_id: str) -> Iterator[Callable[[], Delivery]]:
    """Starts delivering the spool to the server."""
    started: list[Delivery] = []

    def start() -> Delivery:
        delivery = Delivery(spool, IngestTarget(ingest_server.url, "tok"), session_id, backoff=AT_ONCE)
        delivery.start()
        started.append(delivery)
        return delivery

    yield start
    for delivery in started:
        delivery.close(0)


def test_events_arrive_in_order_and_in_batches(ingest_server, spool, deliver, new_event: NewEvent) -> None:
    spool.append([new_event(f"make {number}") for number in range(250)])
    report = deliver().flush(PATIENCE_S)
    assert ingest_server.labels() == [f"make {number}" for number in range(250)]
    assert max(ingest_server.batch_sizes) <= 100
    assert (report.accepted, report.pending, report.state) == (250, 0, DeliveryState.FLOWING)
    assert ingest_server.tokens == {"Bearer tok"}


def test_events_appended_later_are_delivered_too(ingest_server, spool, deliver, new_event: NewEvent) -> None:
    delivery = deliver()
    for number in range(20):
        spool.append([new_event(f"make {number}")])
        delivery.notify()
    assert delivery.flush(PATIENCE_S).complete
    assert ingest_server.labels() == [f"make {number}" for number in range(20)]


@pytest.mark.parametrize("status", [429, 500, 502, 503, 507, 408])
def test_a_passing_trouble_is_tried_again(
    ingest_server, spool, deliver, new_event: NewEvent, status: int
) -> None:
    ingest_server.refuse(status, times=3)
    spool.append([new_event("make a")])
    report = deliver().flush(PATIENCE_S)
    assert ingest_server.labels() == ["make a"]
    assert report.retries == 3
    assert report.reason is None


def test_a_server_that_goes_away_and_comes_back_gets_everything_once(
    ingest_server, restart_ingest_server, spool, deliver, new_event: NewEvent
) -> None:
    delivery = deliver()
    spool.append([new_event("make 0")])
    delivery.notify()
    assert delivery.flush(PATIENCE_S).complete
    ingest_server.stop()

    for number in range(1, 150):
        spool.append([new_event(f"make {number}")])
    delivery.notify()
    while delivery.report().retries < 3:
        delivery.flush(0.05)
    assert delivery.report().reason is not None

    revived = restart_ingest_server(ingest_server)
    revived.refuse(503, times=2)
    report = delivery.flush(PATIENCE_S)
    assert report.complete
    assert revived.labels() == [f"make {number}" for number in range(150)]
    assert report.duplicate == 0


def test_an_answer_that_was_lost_makes_no_duplicate(
    ingest_server, spool, deliver, new_event: NewEvent
) -> None:
    event = new_event("make a")
    ingest_server.accepted[event.event_id] = event.model_dump(mode="json")
    spool.append([event])
    report = deliver().flush(PATIENCE_S)
    assert (report.duplicate, report.accepted, report.pending) == (1, 0, 0)
    assert ingest_server.labels() == ["make a"]


def test_retry_after_is_obeyed_rather_than_the_backoff(
    ingest_server, spool, deliver, new_event: NewEvent
) -> None:
    ingest_server.refuse(503, headers={"Retry-After": "200"})
    spool.append([new_event("make a")])
    delivery = deliver()
    ingest_server.wait_for_requests(1)
    report = delivery.flush(0.3)
    assert report.pending == 1
    assert len(ingest_server.bodies) == 1


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, "UNAUTHENTICATED"),
        (403, "FORBIDDEN"),
        (404, "LEARN_SESSION_NOT_FOUND"),
        (409, "CAPTURE_ALREADY_STOPPED"),
        (400, "INVALID_LEARN_STATE_TRANSITION"),
        (422, "VALIDATION_FAILED"),
    ],
)
def test_a_lasting_refusal_stops_delivery_and_keeps_the_events(
    ingest_server, spool, deliver, new_event: NewEvent, status: int, code: str
) -> None:
    ingest_server.refuse(status, times=99, code=code, retryable=False)
    spool.append([new_event("make a")])
    delivery = deliver()
    report = delivery.flush(PATIENCE_S)
    assert report.state is DeliveryState.STOPPED
    assert report.reason == f"{code}: no"
    assert report.pending == 1
    spool.append([new_event("make b")])
    delivery.notify()
    assert delivery.flush(PATIENCE_S).pending == 2
    assert len(ingest_server.bodies) == 1


def test_a_retryable_conflict_is_tried_again(ingest_server, spool, deliver, new_event: NewEvent) -> None:
    ingest_server.refuse(409, code="CONFLICT", retryable=True)
    spool.append([new_event("make a")])
    assert deliver().flush(PATIENCE_S).accepted == 1


def test_a_paused_session_holds_delivery_until_it_captures_again(
    ingest_server, spool, deliver, new_event: NewEvent
) -> None:
    paused = {
        "code": "INVALID_LEARN_STATE_TRANSITION",
        "retryable": False,
        "extra": {"current_state": "paused"},
    }
    ingest_server.refuse(400, headers={"Retry-After": "0"}, **paused)
    ingest_server.refuse(400, times=3, **paused)
    spool.append([new_event("make a")])
    report = deliver().flush(PATIENCE_S)
    assert (report.accepted, report.retries, report.state) == (1, 4, DeliveryState.FLOWING)


def test_a_session_that_is_over_does_not_hold_up_the_present_one(
    ingest_server, tmp_path: Path, session_id: str, new_event: NewEvent
) -> None:
    other = "0190163d-8694-739b-aea5-966c26f8ad99"
    past = Spool(tmp_path / "spool", other)
    past.append([new_event("make a", other)])
    past.close()
    ingest_server.refuse(409, code="CAPTURE_ALREADY_STOPPED", retryable=False)
    spool = Spool(tmp_path / "spool", session_id)
    spool.append([new_event("make b")])
    delivery = Delivery(spool, IngestTarget(ingest_server.url, "tok"), session_id, backoff=AT_ONCE)
    delivery.start()
    report = delivery.close(PATIENCE_S)
    spool.close()
    assert ingest_server.labels() == ["make b"]
    assert (report.state, report.pending, report.kept) == (DeliveryState.FLOWING, 0, 1)
    assert [path.name.split(".")[0] for path in (tmp_path / "spool").glob("*.jsonl")] == [other]


def test_a_foreign_answer_confirms_nothing(ingest_server, spool, deliver, new_event: NewEvent) -> None:
    ingest_server.refuse(200, times=2)
    spool.append([new_event("make a")])
    report = deliver().flush(PATIENCE_S)
    assert (report.retries, report.accepted) == (2, 1)


@pytest.mark.parametrize(("url", "token"), [("127.0.0.1:80", "t"), ("ftp://a", "t"), ("http://a", "t\n")])
def test_an_unusable_address_or_token_is_refused_at_once(url: str, token: str) -> None:
    with pytest.raises(ValueError, match=r"api_url|token"):
        IngestTarget(url, token)


def test_the_token_is_not_part_of_the_targets_description() -> None:
    assert "hunter2" not in repr(IngestTarget("http://127.0.0.1:1", "hunter2"))
