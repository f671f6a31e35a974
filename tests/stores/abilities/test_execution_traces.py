"""Every use of a capability leaves an execution trace, unless its learning policy keeps none (DOC3 §1.1F)."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import update

from contracts.learning.checkpoints import VerifyCheckpointRequest
from stores.learning.checkpoints import CheckpointStore
from stores.platform.database import Database
from stores.platform.journal.journal import TRACES, JournalFilter, read_entries
from stores.platform.tables import capabilities
from tests.fixtures.installed import install

NOW = datetime.now(UTC)


def traces(store: Database) -> list[dict[str, Any]]:
    with store.read() as connection:
        return [one.document for one in read_entries(connection, JournalFilter(streams=(TRACES,)))]


def report(store: Database, ability_id: str, status: str, **more: str) -> None:
    request = VerifyCheckpointRequest.model_validate(
        {"checkpoint_id": "cp-01", "ability_id": ability_id, "dispatch_id": str(uuid4()), "status": status}
        | {"evidence": "looked at it", **more}
    )
    CheckpointStore(store).verify(request, "alice", None, "test")


@pytest.mark.parametrize(("status", "success"), [("reached", True), ("failed", False), ("skipped", False)])
def test_a_reported_use_leaves_a_trace_that_says_how_it_went(
    store: Database, status: str, success: bool
) -> None:
    ability_id = install(store)
    report(store, ability_id, status)
    (trace,) = traces(store)
    assert (trace["capability_id"], trace["app_id"], trace["goal"]) == (ability_id, "terminal", "Report")
    assert (trace["success"], trace["verification_results"][0]["passed"]) == (success, success)
    assert ("failure_fingerprint" in trace) is not success
    assert trace["surfaces_attempted"] == ["native_openclaw_tool"]


@pytest.mark.acceptance("9.8-50")
def test_a_step_that_fell_back_to_the_user_interface_is_on_record_as_that(store: Database) -> None:
    ability_id = install(store)
    report(store, ability_id, "reached")
    report(store, ability_id, "reached", control_surface="raw_ui")
    usual, fallback = traces(store)
    assert (usual["surfaces_attempted"], usual["fallback_used"]) == (["native_openclaw_tool"], False)
    assert (fallback["surfaces_attempted"], fallback["fallback_used"]) == (["raw_ui"], True)
    assert [step["surface"] for step in fallback["steps"]] == ["raw_ui"]
    assert fallback["success"] is True


def test_a_capability_whose_policy_captures_no_trace_leaves_none(store: Database) -> None:
    ability_id = install(store)
    with store.write() as connection:
        body = connection.scalar(capabilities.select().with_only_columns(capabilities.c.manifest))
        manifest = json.loads(str(body))
        manifest["learning_policy"]["auto_capture_trace"] = False
        connection.execute(update(capabilities).values(manifest=json.dumps(manifest)))
    report(store, ability_id, "reached")
    assert traces(store) == []
