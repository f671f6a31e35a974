"""Messages to the operator: claimed by one sender, delivered once, never again by itself where that is not known."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from uuid_utils import uuid7

from contracts.errors import Refusal
from contracts.skills.messages import MessageState, OperatorMessage
from stores.platform.database import Database
from stores.skills.services.messages import OperatorMessages

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)


@pytest.fixture
def messages(store: Database) -> OperatorMessages:
    return OperatorMessages(store)


def written(messages: OperatorMessages, key: str = "k") -> OperatorMessage:
    return messages.write(
        OperatorMessage(
            message_id=str(uuid7()),
            owner_user_id="alice",
            invocation_id=str(uuid7()),
            key=key,
            text="hello",
            state=MessageState.PENDING,
            channel="outbox",
            created_at=NOW,
            updated_at=NOW,
        )
    )


@pytest.mark.acceptance("AM-43", "AM-46")
def test_a_message_is_written_once_and_one_of_many_senders_has_it(messages: OperatorMessages) -> None:
    first = written(messages)
    assert written(messages).message_id == first.message_id
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda _: messages.claim(first.message_id, "alice", "smtp", NOW), range(16)))
    (taken,) = [claim.message for claim in claims if claim.to_send]
    assert messages.delivered(taken, NOW).state is MessageState.DELIVERED
    assert not messages.claim(first.message_id, "alice", "smtp", NOW, although_unknown=True).to_send
    assert messages.undelivered("alice", NOW) == ()


@pytest.mark.acceptance("AM-46")
def test_what_was_refused_may_be_sent_again_and_what_is_not_known_only_on_a_persons_word(
    messages: OperatorMessages,
) -> None:
    message = messages.claim(written(messages).message_id, "alice", "smtp", NOW).message
    failed = messages.not_delivered(message, "refused", NOW, may_have_arrived=False)
    assert (failed.state, failed.error) == (MessageState.FAILED, "refused")
    again = messages.claim(message.message_id, "alice", "smtp", NOW)
    assert (again.to_send, again.message.attempts) == (True, 2)
    # The first sender's word comes too late to count.
    assert messages.delivered(message, NOW).state is MessageState.SENDING
    messages.not_delivered(again.message, "silence", NOW, may_have_arrived=True)
    assert [one.state for one in messages.undelivered("alice", NOW)] == [MessageState.UNKNOWN]
    assert not messages.claim(message.message_id, "alice", "smtp", NOW).to_send
    assert messages.claim(message.message_id, "alice", "smtp", NOW, although_unknown=True).to_send


@pytest.mark.acceptance("AM-43")
def test_what_was_being_sent_when_its_process_ended_may_have_arrived(messages: OperatorMessages) -> None:
    message = messages.claim(written(messages).message_id, "alice", "smtp", NOW).message
    assert messages.undelivered("alice", NOW)[0].state is MessageState.SENDING
    (lost,) = messages.undelivered("alice", NOW + timedelta(minutes=3))
    assert lost.state is MessageState.UNKNOWN
    assert not messages.claim(message.message_id, "alice", "smtp", NOW).to_send


def test_anothers_message_is_not_there(messages: OperatorMessages) -> None:
    message = written(messages)
    with pytest.raises(Refusal):
        messages.claim(message.message_id, "bob", "smtp", NOW)
    assert messages.undelivered("bob", NOW) == ()
