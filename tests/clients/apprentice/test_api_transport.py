"""Calling the API over a real socket: retries that are safe, and errors as types."""

import pytest
from pydantic import BaseModel, ConfigDict

from clients.apprentice.transport import (
    ApiAnswerUnreadable,
    ApiRefusal,
    ApiTransport,
    ApiUnreachable,
    RetryPolicy,
    path_part,
)


class Thing(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str


class Client(ApiTransport):
    """A transport that writes down how long it would have slept."""

    def __init__(self, url: str, token: str | None = "secret", attempts: int = 4) -> None:
        self.pauses: list[float] = []
        super().__init__(url, token, retry=RetryPolicy(attempts=attempts, sleep=self.pauses.append))

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def test_a_write_keeps_its_idempotency_key_over_a_lost_answer_and_a_503(wire, laid_out) -> None:
    wire.answers(
        laid_out.hang_up,
        laid_out.error("TEMPORAL_UNAVAILABLE", 503, headers={"Retry-After": "7"}),
        laid_out.json({"name": "done"}),
    )
    with Client(wire.url) as client:
        answer = client.write("POST", "/x", Thing, Thing(name="n"))

    assert answer.name == "done"
    keys = [one.headers["Idempotency-Key"] for one in wire.asked]
    assert len(keys) == 3
    assert len(set(keys)) == 1
    assert [one.body for one in wire.asked] == ['{"name":"n"}'] * 3
    assert client.pauses[1] == 7.0


def test_a_write_that_must_not_be_repeated_is_sent_once(wire, laid_out) -> None:
    wire.answers(laid_out.hang_up)
    with Client(wire.url) as client, pytest.raises(ApiUnreachable):
        client.write("POST", "/x", Thing, retried=False)
    assert len(wire.asked) == 1


def test_two_writes_have_two_idempotency_keys_and_a_read_has_none(wire, laid_out) -> None:
    wire.answers(*(laid_out.json({"name": "a"}) for _ in range(3)))
    with Client(wire.url) as client:
        client.write("POST", "/x", Thing)
        client.write("DELETE", "/x", Thing)
        client.get("/x", Thing)
    first, second, read = wire.asked
    assert first.headers["Idempotency-Key"] != second.headers["Idempotency-Key"]
    assert "Idempotency-Key" not in read.headers


def test_a_retry_after_is_obeyed_only_up_to_the_cap(wire, laid_out) -> None:
    wire.answers(
        laid_out.error("TOO_MANY_REQUESTS", 429, headers={"Retry-After": "3600"}),
        laid_out.json({"name": "a"}),
    )
    with Client(wire.url) as client:
        client.get("/x", Thing)
    assert client.pauses == [10.0]


def test_a_service_that_stays_unready_is_given_up_with_its_own_error(wire, laid_out) -> None:
    wire.answers(*(laid_out.error("TEMPORAL_UNAVAILABLE", 503) for _ in range(3)))
    with Client(wire.url, attempts=3) as client, pytest.raises(ApiRefusal) as refusal:
        client.get("/x", Thing)
    assert refusal.value.code == "TEMPORAL_UNAVAILABLE"
    assert refusal.value.retryable
    assert len(wire.asked) == 3


def test_what_only_a_person_can_change_is_told_at_once(wire, laid_out) -> None:
    wire.answers(laid_out.error("ADAPTER_UNAVAILABLE", 503))
    with Client(wire.url) as client, pytest.raises(ApiRefusal) as refusal:
        client.write("POST", "/x", Thing)
    assert (refusal.value.code, client.pauses) == ("ADAPTER_UNAVAILABLE", [])


def test_a_refusal_is_not_retried_and_carries_what_the_envelope_says(wire, laid_out) -> None:
    wire.answers(
        laid_out.error("INVALID_LEARN_STATE_TRANSITION", 400, current_state="idle", allowed=["armed"])
    )
    with Client(wire.url) as client, pytest.raises(ApiRefusal) as refusal:
        client.write("POST", "/x", Thing)
    error = refusal.value
    assert (error.status, error.code, error.retryable) == (400, "INVALID_LEARN_STATE_TRANSITION", False)
    assert error.correlation_id == "c-1"
    assert error.extra == {"current_state": "idle", "allowed": ["armed"]}
    assert len(wire.asked) == 1


def test_when_nobody_listens_the_message_says_how_to_start_the_service(closed_url) -> None:
    with (
        Client(closed_url, attempts=2) as client,
        pytest.raises(ApiUnreachable, match="apprentice up") as error,
    ):
        client.get("/x", Thing)
    assert closed_url in str(error.value)
    assert len(client.pauses) == 1


def test_an_error_that_is_no_envelope_is_named_as_such(wire, laid_out) -> None:
    wire.answers(laid_out.json({"detail": "Bad gateway"}, 502))
    with Client(wire.url) as client, pytest.raises(ApiAnswerUnreadable, match="HTTP 502"):
        client.get("/x", Thing)


def test_an_answer_out_of_contract_names_the_field(wire, laid_out) -> None:
    wire.answers(laid_out.json({"name": 5}))
    with Client(wire.url) as client, pytest.raises(ApiAnswerUnreadable, match="Thing, name"):
        client.get("/x", Thing)


def test_an_answer_that_says_more_than_this_client_knows_is_read(wire, laid_out) -> None:
    wire.answers(laid_out.json({"name": "a", "added_later": 1}))
    with Client(wire.url) as client:
        assert client.get("/x", Thing) == Thing(name="a")
        assert client.last_body == '{"name": "a", "added_later": 1}'


def test_the_token_travels_as_a_bearer_token_and_only_if_there_is_one(wire, laid_out) -> None:
    wire.answers(laid_out.json({"name": "a"}), laid_out.json({"name": "a"}))
    with Client(wire.url, token="t-1") as client:
        client.get("/x", Thing)
    with Client(wire.url, token=None) as client:
        client.get("/x", Thing)
    with_token, without = wire.asked
    assert with_token.headers["Authorization"] == "Bearer t-1"
    assert "Authorization" not in without.headers


def test_every_request_has_a_correlation_id_of_its_own(wire, laid_out) -> None:
    wire.answers(laid_out.json({"name": "a"}), laid_out.json({"name": "a"}))
    with Client(wire.url) as client:
        client.get("/x", Thing)
        client.get("/x", Thing)
    first, second = (one.headers["X-Correlation-Id"] for one in wire.asked)
    assert first != second


def test_an_id_cannot_climb_out_of_its_place_in_the_path() -> None:
    assert path_part("../admin?x#y") == "..%2Fadmin%3Fx%23y"
