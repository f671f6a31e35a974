"""What is signed is believed where it was sent to, and nowhere else."""

from pathlib import Path

import pytest
from pydantic import BaseModel
from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    ActivitySerializationContext,
    DataConverter,
    SerializationContext,
    WorkflowSerializationContext,
)

from gateways.platform.payload_signing import FOLDER, REFUSED, SIGNATURE, signing_data_converter
from stores.platform.secrets.key_places import KeyFile
from stores.platform.secrets.keys import SecretKeys

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


async def test_another_installation_is_not_believed(converter: DataConverter, tmp_path: Path) -> None:
    assert not await believed(converter, await signed(signing_data_converter(tmp_path / "other")))


async def test_two_processes_of_an_installation_believe_each_other(
    converter: DataConverter, tmp_path: Path
) -> None:
    assert await believed(converter, await signed(signing_data_converter(tmp_path)))


async def test_what_an_older_key_signed_is_still_believed(tmp_path: Path) -> None:
    payload = await signed(signing_data_converter(tmp_path))
    keys = SecretKeys(tmp_path / FOLDER, [KeyFile(tmp_path / FOLDER)])
    with keys.changing():
        keys.save(keys.ring().with_new_key())
    renewed = signing_data_converter(tmp_path)
    assert await believed(renewed, payload)
    assert (await signed(renewed)).metadata[SIGNATURE] != payload.metadata[SIGNATURE]
