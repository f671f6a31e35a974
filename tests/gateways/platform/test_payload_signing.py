"""What is signed is believed where it was sent to, and nowhere else."""

from pathlib import Path

import pytest
from pydantic import BaseModel
from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.converter import (
    ActivitySerializationContext,
    DataConverter,
    SerializationContext,
    WorkflowSerializationContext,
)
from temporalio.exceptions import ApplicationError

from gateways.platform.payload_signing import (
    ENCRYPTED,
    REFUSED,
    RING_KEPT_SECONDS,
    SIGNATURE,
    SUMMARY_OF,
    PayloadKeys,
    SignedPayloads,
    clear,
    payload_keys,
    rotate_payload_keys,
    signing_data_converter,
)
from workflows.platform.child_summary import ChildSummary

pytestmark = pytest.mark.anyio

HERE = WorkflowSerializationContext(namespace="default", workflow_id="mcp-dispatch/a")


class Decision(BaseModel):
    """A message."""

    decided_by: str = "alice"


@pytest.fixture
def converter(tmp_path: Path) -> DataConverter:
    """That of an installation."""
    return signing_data_converter(tmp_path)


def activity_of(workflow_id: str) -> ActivitySerializationContext:
    """An activity of a workflow."""
    return ActivitySerializationContext(
        namespace="default",
        activity_id="1",
        activity_type="call_tool",
        activity_task_queue="queue",
        workflow_id=workflow_id,
        workflow_type="McpDispatchWorkflow",
        is_local=False,
    )


async def signed(converter: DataConverter, context: SerializationContext = HERE) -> Payload:
    """A decision as it is sent."""
    [payload] = await converter.with_context(context).encode([Decision()])
    return payload


async def believed(converter: DataConverter, payload: Payload, context: SerializationContext = HERE) -> bool:
    """Whether a payload is read there as what was sent."""
    codec = converter.with_context(context).payload_codec
    assert codec is not None
    [read] = await codec.decode([payload])
    if read.metadata["encoding"] == REFUSED:
        assert not read.data
        return False
    assert SIGNATURE not in read.metadata
    assert read.data == payload.data
    return True


async def test_what_was_signed_is_read_as_it_was_sent_and_stays_readable(converter: DataConverter) -> None:
    payload = await signed(converter)
    assert payload.metadata["encoding"] == b"json/plain"
    assert payload.data == b'{"decided_by":"alice"}'
    assert await converter.with_context(HERE).decode([payload], [Decision]) == [Decision()]


async def test_what_was_not_signed_is_refused_and_no_converter_reads_it(converter: DataConverter) -> None:
    [plain] = DataConverter.default.payload_converter.to_payloads([{"decided_by": "mallory"}])
    assert not await believed(converter, plain)
    with pytest.raises(Exception, match="not signed for this workflow by this installation"):
        await converter.with_context(HERE).decode([plain], [Decision])


@pytest.mark.parametrize(
    "context",
    [
        WorkflowSerializationContext(namespace="default", workflow_id="mcp-dispatch/b"),
        WorkflowSerializationContext(namespace="other", workflow_id="mcp-dispatch/a"),
        activity_of("mcp-dispatch/a"),
    ],
    ids=["another workflow", "another namespace", "an activity"],
)
async def test_a_signed_payload_counts_nowhere_else(
    converter: DataConverter, context: SerializationContext
) -> None:
    assert not await believed(converter, await signed(converter), context)


async def test_a_payload_that_was_changed_is_refused(converter: DataConverter) -> None:
    payload = await signed(converter)
    payload.data = payload.data.replace(b"alice", b"mallo")
    assert not await believed(converter, payload)
    payload = await signed(converter)
    payload.metadata["encoding"] = b"binary/plain"
    assert not await believed(converter, payload)


async def test_an_activity_reads_what_its_workflow_sent(converter: DataConverter) -> None:
    context = activity_of("mcp-dispatch/a")
    assert await believed(converter, await signed(converter, context), context)


@pytest.mark.parametrize(
    ("workflow_id", "runs"),
    [
        ("nightly-maintenance-2026-11-23T03:00:00Z", True),
        ("nightly-maintenance-2026-11-23T03:00:00Z-x", False),
        ("skill-mining-2026-11-23T03:00:00Z", False),
        ("nightly-maintenance/manual", False),
    ],
)
async def test_what_a_schedule_signed_counts_in_its_workflows(
    converter: DataConverter, workflow_id: str, runs: bool
) -> None:
    context = WorkflowSerializationContext(namespace="default", workflow_id="nightly-maintenance")
    payload = await signed(converter, context)
    started = WorkflowSerializationContext(namespace="default", workflow_id=workflow_id)
    assert await believed(converter, payload, started) is runs


async def test_what_a_scheduled_run_leaves_counts_in_the_next_one(converter: DataConverter) -> None:
    runs = [
        WorkflowSerializationContext(
            namespace="default", workflow_id=f"mcp-health-2026-03-02T09:{minute}:00Z"
        )
        for minute in (30, 35)
    ]
    left = await signed(converter, runs[0])
    assert [await believed(converter, left, run) for run in runs] == [True, True]
    assert not await believed(converter, left)


async def test_another_installation_is_not_believed(converter: DataConverter, tmp_path: Path) -> None:
    assert not await believed(converter, await signed(signing_data_converter(tmp_path / "other")))


async def test_two_processes_of_an_installation_believe_each_other(
    converter: DataConverter, tmp_path: Path
) -> None:
    assert await believed(converter, await signed(signing_data_converter(tmp_path)))


async def test_what_an_older_key_signed_is_still_believed(tmp_path: Path) -> None:
    payload = await signed(signing_data_converter(tmp_path))
    rotate_payload_keys(tmp_path)
    renewed = signing_data_converter(tmp_path)
    assert await believed(renewed, payload)
    assert (await signed(renewed)).metadata[SIGNATURE] != payload.metadata[SIGNATURE]


@pytest.fixture
def encrypting(tmp_path: Path) -> DataConverter:
    """That of an installation which encrypts."""
    return signing_data_converter(tmp_path, encrypt=True)


async def test_what_is_encrypted_shows_nothing_and_is_read_where_it_was_sent(
    encrypting: DataConverter,
) -> None:
    payload = await signed(encrypting)
    assert payload.metadata["encoding"] == ENCRYPTED
    assert b"alice" not in payload.SerializeToString()
    assert await encrypting.with_context(HERE).decode([payload], [Decision]) == [Decision()]
    assert (await signed(encrypting)).data != payload.data


async def test_an_encrypted_payload_that_was_moved_or_changed_is_refused(
    encrypting: DataConverter, tmp_path: Path
) -> None:
    payload = await signed(encrypting)
    assert not await believed(encrypting, payload, activity_of("mcp-dispatch/a"))
    payload.data = payload.data[:-1] + bytes([payload.data[-1] ^ 1])
    assert not await believed(encrypting, payload)
    assert clear(payload, payload_keys(tmp_path).find) is None
    assert clear(Payload(metadata={"encoding": ENCRYPTED}), payload_keys(tmp_path).find) is None


async def test_encryption_may_be_switched_on_and_off_while_workflows_run(
    converter: DataConverter, encrypting: DataConverter
) -> None:
    for writes, reads in ((converter, encrypting), (encrypting, converter)):
        payload = await signed(writes)
        assert await reads.with_context(HERE).decode([payload], [Decision]) == [Decision()]


async def test_the_text_of_a_failure_is_encrypted_too(encrypting: DataConverter) -> None:
    failure = Failure()
    there = encrypting.with_context(HERE)
    await there.encode_failure(ApplicationError("about alice", type="CONFLICT"), failure)
    assert b"alice" not in failure.SerializeToString()
    assert "about alice" in str(await there.decode_failure(failure))


async def test_a_new_key_encrypts_within_seconds_and_old_ones_decrypt(tmp_path: Path) -> None:
    now = [0.0]
    codec = SignedPayloads(PayloadKeys.of(payload_keys(tmp_path), lambda: now[0]), encrypt=True)
    [plain] = DataConverter.default.payload_converter.to_payloads(["x"])

    async def sent() -> Payload:
        return (await codec.with_context(HERE).encode([plain]))[0]

    before = await sent()
    ring = rotate_payload_keys(tmp_path)
    assert len(ring.keys) == 2
    now[0] += RING_KEPT_SECONDS + 1
    after = await sent()
    assert after.metadata[SIGNATURE].startswith(f"{ring.current}:".encode())
    assert await codec.with_context(HERE).decode([before, after]) == [plain, plain]
    assert clear(after, payload_keys(tmp_path).find) == plain


@pytest.mark.parametrize("encrypt", [False, True])
async def test_the_summary_of_a_child_is_signed_by_its_parent_for_the_child_alone(
    tmp_path: Path, encrypt: bool
) -> None:
    converter = signing_data_converter(tmp_path, encrypt=encrypt)
    child = WorkflowSerializationContext(namespace="default", workflow_id="validation-run/1")
    elsewhere = WorkflowSerializationContext(namespace="default", workflow_id="validation-run/2")
    payloads = await converter.with_context(HERE).encode([ChildSummary("Validate", child.workflow_id)])
    assert await converter.with_context(child).decode(payloads, [str]) == ["Validate"]
    for context in (HERE, elsewhere, activity_of(child.workflow_id)):
        with pytest.raises(Exception, match="not signed for this workflow by this installation"):
            await converter.with_context(context).decode(payloads, [str])
    payloads[0].metadata[SUMMARY_OF] = elsewhere.workflow_id.encode()
    with pytest.raises(Exception, match="not signed for this workflow by this installation"):
        await converter.with_context(elsewhere).decode(payloads, [str])
    del payloads[0].metadata[SUMMARY_OF]
    with pytest.raises(Exception, match="not signed for this workflow by this installation"):
        await converter.with_context(HERE).decode(payloads, [str])
