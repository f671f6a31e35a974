"""Messages to the operator: logged first, delivered once, and said exactly (AM-40…AM-47)."""

import json
import shutil
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from email import message_from_string
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.skill_calling import ASKER, run
from tests.e2e.skill_calling import opened as open_with
from tests.fixtures.outside import closed_port, mail_server, outside_server
from tests.fixtures.stack import Stack

pytestmark = pytest.mark.anyio

Opened = Callable[..., AbstractAsyncContextManager[Stack]]


@pytest.fixture
def opened(tmp_path: Path, temporal_address: str) -> Opened:
    """The application with the settings of a test."""
    return partial(open_with, tmp_path, temporal_address, operator_name="Olga")


def log_of(stack: Stack) -> list[dict[str, Any]]:
    files = sorted((stack.settings.data_dir / "call_logs").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.acceptance("AM-20", "AM-21", "AM-40", "AM-43", "AM-45", "AM-47")
async def test_a_message_is_logged_then_taken_by_the_gateway_and_said_to_be_noted(opened: Opened) -> None:
    with outside_server() as gateway:
        async with opened(openclaw_gateway_url=gateway.url, operator_telegram_id="4242") as stack:
            (stack.settings.data_dir / "token").write_text("s3cret-token\n", encoding="utf-8")
            at_delivery: list[list[dict[str, Any]]] = []
            gateway.answer = lambda _: (at_delivery.append(log_of(stack)), (200, b"{}"))[1]
            alice = stack.learner("alice", ASKER)
            waiting = await alice.ok(
                "POST",
                "/api/skills/send_message/invocations",
                {"input": {"message": "Call me back"}},
                prefer="wait=30",
            )
            assert waiting["requires_confirmation"], waiting
            assert waiting["confirmation_prompt"] == "Would you like me to leave that message?"
            assert (gateway.asked, log_of(stack)) == ([], [])

            given = {"message": "Call me back", "caller_name": "Ada", "callback_number": "+15550100"}
            done = await run(alice, "send_message", given, context={"call": {"id": "../../call-7"}})

            assert done["status"] == "success", done
            assert done["outputs"] == {"logged": True, "delivered": True}
            assert done["message"] == "Got it — I've noted your message, Ada. Olga will get back to you."
            assert len(gateway.asked) == 1
            assert "Call me back" in gateway.asked[0].body.decode()
            assert gateway.asked[0].json["user"] == "4242"
            pending = at_delivery[0]
            assert [entry["type"] for entry in pending] == ["skill.send_message"]
            assert {
                key: pending[0][key] for key in ("caller_name", "callback_number", "message", "urgency")
            } == {
                "caller_name": "Ada",
                "callback_number": "+15550100",
                "message": "Call me back",
                "urgency": "normal",
            }
            assert pending[0]["delivery_status"] == "pending"
            after = log_of(stack)
            assert [entry["type"] for entry in after[1:]] == ["skill.send_message.delivered"]
            assert after[1]["delivery_channel"] == "openclaw_gateway"
            assert not list(stack.settings.data_dir.parent.glob("call-7*"))


@pytest.mark.acceptance("AM-20")
async def test_the_gateways_token_is_read_from_its_file(opened: Opened, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("s3cret-token\n", encoding="utf-8")
    with outside_server() as gateway:
        async with opened(openclaw_gateway_url=gateway.url, openclaw_gateway_token_file=token) as stack:
            await run(stack.learner("alice", ASKER), "send-message", {"message": "hello"})
    assert gateway.asked[0].headers["authorization"] == "Bearer s3cret-token"


@pytest.mark.acceptance("AM-46", "AM-47")
@pytest.mark.produces("send-message", "DELIVERY_FAILED")
@pytest.mark.acceptance("X-11")
async def test_a_gateway_that_refuses_leaves_the_message_to_be_delivered_once_later(opened: Opened) -> None:
    with outside_server() as gateway:
        gateway.answer = lambda _: (503, b"")
        async with opened(openclaw_gateway_url=gateway.url) as stack:
            alice = stack.learner("alice", ASKER)
            noted = await run(alice, "send_message", {"message": "The tank leaks", "urgency": "urgent"})
            assert (noted["status"], noted["outputs"]) == ("partial", {"logged": True, "delivered": False})
            assert noted["message"] == "Got it — I've noted your message. Olga will get back to you."
            assert noted["warnings"] == ["DELIVERY_FAILED: the gateway answered 503"]
            failed = log_of(stack)[1]
            assert (failed["type"], failed["delivery_failed"], failed["id"]) == (
                "skill.send_message.delivery_failed",
                True,
                log_of(stack)[0]["id"],
            )
            listed = await run(alice, "undelivered-messages", {"action": "list"})
            (waiting,) = listed["outputs"]["messages"]
            assert waiting["state"] == "failed"
            assert "Priority: URGENT" in waiting["text"]
            other = await run(stack.learner("bob", ASKER), "undelivered-messages", {"action": "list"})
            assert other["outputs"]["messages"] == []

            gateway.answer = lambda _: (200, b"{}")
            again = {"action": "retry", "message_id": waiting["message_id"]}
            tried = [await run(alice, "undelivered-messages", again) for _ in range(2)]
            assert [one["outputs"]["delivered"] for one in tried] == [True, True]
            assert len(gateway.asked) == 2
            keys = {asked.headers["idempotency-key"] for asked in gateway.asked}
            assert len(keys) == 1
            assert (await run(alice, "undelivered-messages", {"action": "list"}))["outputs"]["messages"] == []


@pytest.mark.acceptance("AM-46")
async def test_a_gateway_that_never_answers_leaves_it_open_and_nothing_is_sent_again(opened: Opened) -> None:
    with outside_server() as gateway:
        gateway.answer = lambda _: None
        async with opened(openclaw_gateway_url=gateway.url) as stack:
            alice = stack.learner("alice", ASKER)
            done = await run(alice, "send_message", {"message": "hello"})
            assert done["status"] == "outcome_unknown", done
            assert not done["error"]["retryable"]
            (waiting,) = (await run(alice, "undelivered-messages", {"action": "list"}))["outputs"]["messages"]
            assert waiting["state"] == "unknown"
            retry = {"action": "retry", "message_id": waiting["message_id"]}
            tried = await run(alice, "undelivered-messages", retry)
            assert tried["status"] == "partial", tried
            assert len(gateway.asked) == 1
            gateway.answer = lambda _: (200, b"{}")
            sent = await run(alice, "undelivered-messages", {**retry, "although_unknown": True})
            assert sent["status"] == "success", sent
    assert len(gateway.asked) == 2


@pytest.mark.acceptance("AM-46", "AM-47")
async def test_without_a_channel_a_message_is_noted_in_the_local_outbox_and_not_said_to_be_sent(
    opened: Opened,
) -> None:
    async with opened() as stack:
        done = await run(stack.learner("alice", ASKER), "send_message", {"message": "hello"})
        assert (done["status"], done["outputs"]["delivered"]) == ("partial", False)
        assert "sent" not in done["message"]
        assert log_of(stack)[1]["channel"] == "outbox"


@pytest.mark.acceptance("AM-41", "AM-45")
async def test_a_mail_reaches_the_operator_and_nothing_of_it_becomes_a_header(opened: Opened) -> None:
    with mail_server() as mailbox:
        mail = {
            "smtp_host": "127.0.0.1",
            "smtp_port": mailbox.port,
            "smtp_security": "none",
            "smtp_recipient": "olga@example.org",
        }
        async with opened(**mail) as stack:
            alice = stack.learner("alice", ASKER)
            given = {
                "message": "Hi\r\nBcc: eve@example.org\r\n\r\nX",
                "caller_name": "A\r\nTo: eve@example.org",
            }
            done = await run(alice, "send_message", given)
            assert done["outputs"]["delivered"], done
            assert log_of(stack)[1]["delivery_channel"] == "smtp"
            assert "mail" not in done["message"]
            ((sender, recipients, text),) = mailbox.taken
            assert ("olga@example.org" in sender, recipients) == (True, ["olga@example.org"])
            headers = message_from_string(text)
            assert headers.get_all("to") == ["olga@example.org"]
            assert "bcc" not in headers
            assert "eve" not in text.partition("\n\n")[0].lower()
            mailbox.refuses = True
            refused = await run(alice, "send_message", {"message": "again"})
            assert (refused["status"], len(mailbox.taken)) == ("partial", 1)
            mailbox.refuses, mailbox.hangs_up = False, True
            lost = await run(alice, "send_message", {"message": "and again"})
            assert lost["status"] == "outcome_unknown", lost


@pytest.mark.acceptance("AM-45")
async def test_a_webhook_takes_a_message(opened: Opened) -> None:
    with outside_server() as hook:
        async with opened(
            message_webhook_url=f"{hook.url}/operator",
            openclaw_gateway_url=f"http://127.0.0.1:{closed_port()}",
            message_channel="webhook",
        ) as stack:
            done = await run(stack.learner("alice", ASKER), "send_message", {"message": "hello"})
            assert done["outputs"]["delivered"], done
            assert log_of(stack)[1]["delivery_channel"] == "webhook"
    assert hook.asked[0].path == "/operator"
    assert hook.asked[0].json["text"].endswith("hello")


@pytest.mark.acceptance("AM-41", "AM-42")
@pytest.mark.acceptance("X-10")
async def test_an_empty_or_too_long_message_asks_nobody_and_leaves_nothing(opened: Opened) -> None:
    with outside_server() as gateway:
        async with opened(openclaw_gateway_url=gateway.url) as stack:
            agent = stack.learner("alice", ("read", "call"))
            path = "/api/skills/send_message/invocations"
            for given, words in (
                ({"message": "\x1b "}, "Could you repeat that"),
                ({"message": "x" * 1001}, "shorter"),
                ({"message": "x", "caller_name": "y" * 101}, "shorter"),
                ({"message": "x", "callback_number": "1" * 21}, "shorter"),
            ):
                refused = await agent.ok("POST", path, {"input": given}, prefer="wait=30")
                assert (refused["status"], refused["error"]["code"]) == ("failure", "INVALID_INPUT"), refused
                assert words in refused["message"]
            status, error = await agent.refused("POST", path, {"input": {"message": "x", "urgency": "soon"}})
            assert (status, error["code"]) == (400, "INVALID_INPUT")
            status, error = await agent.refused("POST", path, {"input": {"message": "x", "recipient": "eve"}})
            assert (status, error["code"]) == (400, "INVALID_INPUT")
            assert (gateway.asked, log_of(stack)) == ([], [])
            alice = stack.learner("alice", ASKER)
            longest = await run(alice, "send_message", {"message": "x" * 1000, "caller_name": "y" * 100})
            assert longest["status"] == "success", longest


@pytest.mark.acceptance("AM-43")
async def test_where_the_log_cannot_be_written_nothing_is_sent(opened: Opened) -> None:
    with outside_server() as gateway:
        async with opened(openclaw_gateway_url=gateway.url) as stack:
            (stack.settings.data_dir / "call_logs").write_text("no folder", encoding="utf-8")
            done = await run(stack.learner("alice", ASKER), "send_message", {"message": "hello"})
            assert (done["status"], done["error"]["code"]) == ("failure", "UNAVAILABLE"), done
            assert "call log" in done["error"]["message"]
    assert gateway.asked == []


@pytest.mark.acceptance("AM-40")
async def test_the_catalog_shows_the_manifest_as_the_document_has_it(opened: Opened) -> None:
    async with opened() as stack:
        shown = await stack.learner("alice", ("read",)).ok("GET", "/api/skills/send-message")
    assert (shown["version"], shown["timeout_ms"], shown["function_name"]) == ("1.0.0", 5000, "send_message")
    assert shown["permissions"] == {
        "local_binaries": [],
        "hosts": [],
        "services": [],
        "network": False,
        "telegram": True,
        "openclaw_action": True,
    }
    schema = shown["input_schema"]
    assert schema["required"] == ["message"]
    assert set(schema["properties"]) == {"message", "caller_name", "callback_number", "urgency"}


@pytest.mark.acceptance("AM-46")
async def test_what_was_refused_goes_out_once_with_the_next_message_that_is_taken(opened: Opened) -> None:
    with outside_server() as gateway:
        async with opened(openclaw_gateway_url=gateway.url) as stack:
            alice = stack.learner("alice", ASKER)
            gateway.answer = lambda _: (500, b"")
            await run(alice, "send_message", {"message": "first"})
            gateway.answer = lambda _: (200, b"{}")
            await run(alice, "send_message", {"message": "second"})
            for _ in range(40):
                listed = await run(alice, "undelivered-messages", {"action": "list"})
                if not listed["outputs"]["messages"]:
                    break
            assert listed["outputs"]["messages"] == []
            await run(alice, "send_message", {"message": "third"})
    texts = [asked.json["messages"][1]["content"].rpartition("\n")[2] for asked in gateway.asked]
    assert texts == ["first", "second", "first", "third"]


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.acceptance("AM-31", "AM-46")
async def test_the_documents_own_handler_runs_unchanged_and_what_it_did_not_deliver_is_partial(
    opened: Opened,
) -> None:
    amber = Path(__file__).parents[1] / "domain" / "skills" / "amber" / "send-message.md"
    front = amber.read_text(encoding="utf-8").replace("name: send-message\n", "name: amber-message\n")
    with outside_server() as gateway:
        async with opened(openclaw_gateway_url=gateway.url) as stack:
            folder = stack.settings.workspace / "skills" / "amber-message"
            folder.mkdir(parents=True)
            (folder / "SKILL.md").write_text(
                front.replace('"send_message"', '"amber_message"'), encoding="utf-8"
            )
            shutil.copy(Path(__file__).with_name("amber_send_message_handler.js"), folder / "handler.js")
            root = stack.learner("root", ("admin",))
            await root.ok("POST", "/api/skills/reload", {})
            seen = await root.ok("POST", "/api/skills/amber-message/approve", {})
            await root.ok("POST", "/api/skills/amber-message/approve", {"digest": seen["skill"]["digest"]})
            sent = await run(root, "amber_message", {"message": "hello", "caller_name": "Ada"})
            assert (sent["status"], sent["outputs"]) == ("success", {"logged": True, "delivered": True}), sent
            gateway.answer = lambda _: (503, b"")
            kept = await run(root, "amber_message", {"message": "hello again"})
            assert (kept["status"], kept["outputs"]["delivered"]) == ("partial", False), kept
            assert kept["warnings"]
