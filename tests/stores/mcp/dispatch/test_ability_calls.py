"""Calls of abilities that go out of use: none begins, and those that run or wait are found; on both databases."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from sqlalchemy import update

from contracts.abilities.availability import IMPORTED_FAMILY
from contracts.abilities.availability import AbilityLifecycleAction as Action
from contracts.abilities.capability_health import CapabilityHealthRecord, CapabilityOutcome, OutcomeKind
from contracts.abilities.capability_manifest import HealthStatus
from contracts.mcp.dispatch import AskFirstDecision, DispatchStatus
from contracts.mcp.dispatch_work import CallEnd, DispatchStanding, EndCause, EndOrder, InspectOrder
from contracts.mcp.tools import ToolFailure, ToolFailureKind
from domain.abilities.life import entry_after
from domain.mcp.call_outcomes import MOST_ATTEMPTS
from stores.abilities.ability_rows import entry_of, standing_of
from stores.abilities.capability_health import CapabilityHealthStore
from stores.mcp.dispatch.reads import AbilityCalls
from stores.mcp.receipts import ReceiptReads
from stores.platform.canonical import canonical_json
from stores.platform.database import Database
from stores.platform.tables import abilities, capabilities
from tests.fixtures.installed import install, manifest
from tests.stores.mcp.call_desk import CallDesk, now

WHY_QUARANTINED = "the ability's capability was quarantined"


@pytest.fixture
def desk(store: Database) -> CallDesk:
    return CallDesk(store)


def asked_for(desk: CallDesk, ability_id: str, tool: str = "append_line") -> DispatchStanding:
    plain = desk.record(desk.asked(tool)).order
    own = {"dispatch_id": str(uuid4()), "ability_id": ability_id, "created_at": now()}
    return desk.opening.judge(plain.changed(**own), now())


def fails_critically(store: Database, capability_id: str) -> None:
    outcome = CapabilityOutcome(
        outcome_id=str(uuid4()),
        capability_id=capability_id,
        kind=OutcomeKind.USE,
        success=False,
        critical=True,
        failure_fingerprint="deleted a file it must not",
        reported_by="alice",
        happened_at=datetime.now(UTC),
    )
    CapabilityHealthStore(store).record_outcome(outcome, "test")


def binds_to(store: Database, ability_id: str, *names: str) -> None:
    bound = manifest(ability_id).changed(permissions=tuple(f"tool:{name}" for name in names))
    with store.write() as connection:
        connection.execute(
            update(capabilities)
            .where(capabilities.c.ability_id == ability_id)
            .values(manifest=canonical_json(bound))
        )


def has_no_readable_manifest(store: Database, ability_id: str) -> None:
    with store.write() as connection:
        connection.execute(
            update(capabilities)
            .where(capabilities.c.ability_id == ability_id)
            .values(manifest='{"of": "later"}')
        )


def taken_out(store: Database, ability_id: str, action: Action) -> None:
    with store.write() as connection:
        entry = entry_of(connection, ability_id)
        assert entry is not None
        after = entry_after(entry, action, now=now(), capability_health=HealthStatus.HEALTHY)
        connection.execute(
            update(abilities)
            .where(abilities.c.ability_id == ability_id)
            .values(body=canonical_json(after), lane=after.install_lane.value)
        )


def health_of(store: Database, capability_id: str) -> CapabilityHealthRecord:
    with store.write() as connection:
        standing = standing_of(connection, capability_id=capability_id)
    assert standing is not None
    return standing.record


def test_calls_of_abilities_that_a_person_or_their_health_took_out_of_use_are_found_and_no_others(
    store: Database, desk: CallDesk
) -> None:
    well, ill, away = (install(store, slug) for slug in ("well", "ill", "away"))
    running, waiting = asked_for(desk, ill, "read_line"), asked_for(desk, ill)
    put_away, others = asked_for(desk, away), [desk.asked(), asked_for(desk, well)]
    ended = asked_for(desk, ill)
    desk.decide(ended, AskFirstDecision.DENY)
    calls = AbilityCalls(store)
    assert calls.of_withdrawn() == ()
    fails_critically(store, ill)
    taken_out(store, away, Action.ARCHIVE)
    found = {one.ability_id: (one.because, set(one.dispatch_ids)) for one in calls.of_withdrawn()}
    assert found == {
        ill: (WHY_QUARANTINED, {running.dispatch_id, waiting.dispatch_id}),
        away: ("the ability was archived", {put_away.dispatch_id}),
    }
    asked = [one.dispatch_id for one in (*others, waiting, ended)]
    still = calls.still_open([*asked, str(uuid4())])
    assert [one.dispatch_id for one in still] == asked[:-1]


def test_the_calls_that_a_command_stops_are_those_that_were_asked_for_before_it(
    store: Database, desk: CallDesk
) -> None:
    ability_id = install(store)
    before = asked_for(desk, ability_id)
    command = now()
    asked_for(desk, ability_id)
    calls = AbilityCalls(store)
    assert calls.open_of(ability_id, command) == (before.dispatch_id,)
    assert calls.open_of(ability_id, command - timedelta(hours=1)) == ()
    assert calls.open_of("learned.other", command) == ()


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (ToolFailureKind.THROTTLED, "MCP_RATE_LIMITED"),
        (ToolFailureKind.NOT_SENT, "MCP_SERVER_UNREACHABLE"),
        (ToolFailureKind.REFUSED_BY_SERVER, "MCP_TOOL_REFUSED"),
    ],
)
def test_a_server_that_wants_patience_or_is_not_there_says_nothing_of_the_ability(
    store: Database, desk: CallDesk, kind: ToolFailureKind, code: str
) -> None:
    ability_id = install(store)
    before = health_of(store, ability_id)
    call = asked_for(desk, ability_id, "read_line")
    order = desk.order(call).changed(attempt=MOST_ATTEMPTS)
    desk.attempts.failed(order, ToolFailure(kind=kind, message="as told"), now(), signed_in=False)
    assert desk.record(call).error_code == code
    assert (health_of(store, ability_id) == before) is (kind is not ToolFailureKind.REFUSED_BY_SERVER)


def test_no_call_begins_for_an_ability_whose_capability_is_quarantined_and_it_is_told_what_to_do(
    store: Database, desk: CallDesk
) -> None:
    ability_id = install(store)
    assert asked_for(desk, ability_id, "read_line").status is DispatchStatus.RUNNING
    fails_critically(store, ability_id)
    refused = asked_for(desk, ability_id, "read_line")
    record = desk.record(refused)
    assert (record.status, record.error_code) == (DispatchStatus.BLOCKED, "MCP_POLICY_BLOCKED")
    assert "nothing was sent. Its capability is quarantined (it failed critically)" in str(
        record.error_message
    )
    assert "apprentice capabilities reprobe" in str(record.next_action)
    receipts = ReceiptReads(store).newest("alice", 50).receipts
    (told,) = [one for one in receipts if one.dispatch_id == refused.dispatch_id]
    assert (told.receipt_kind, told.status) == ("dispatch", "blocked")


def test_a_call_that_was_let_pass_or_is_approved_later_is_judged_again_before_it_is_sent(
    store: Database, desk: CallDesk
) -> None:
    ability_id = install(store)
    passed, waiting = asked_for(desk, ability_id, "read_line"), asked_for(desk, ability_id)
    fails_critically(store, ability_id)
    desk.decide(waiting, AskFirstDecision.APPROVE_ONCE)
    for call in (passed, waiting):
        end = desk.attempts.plan(desk.order(call), now())
        assert isinstance(end, CallEnd)
        assert (end.standing.status, end.standing.attempts) == (DispatchStatus.BLOCKED, 0)


@pytest.mark.parametrize("given_up", [True, False])
def test_a_call_that_is_given_up_says_nothing_about_how_its_ability_is_doing(
    store: Database, desk: CallDesk, given_up: bool
) -> None:
    ability_id = install(store)
    call = asked_for(desk, ability_id, "read_line")
    desk.sent(call)
    stop = EndOrder(
        dispatch_id=call.dispatch_id, cause=EndCause.CANCELLED, by="ada", reason="the ability was archived"
    )
    order = InspectOrder(
        dispatch_id=call.dispatch_id, attempt=1, cancelled=stop if given_up else None, at=now()
    )
    assert desk.inspection.inspect(order).standing.status is DispatchStatus.OUTCOME_UNKNOWN
    assert len(health_of(store, ability_id).failures) == (0 if given_up else 1)
    receipts = ReceiptReads(store).newest("alice", 50).receipts
    (told,) = [one for one in receipts if one.dispatch_id == call.dispatch_id]
    assert told.actor == ("ada" if given_up else None)
    assert told.summary.endswith("; given up: the ability was archived") is given_up
    message = str(desk.record(call).error_message)
    assert message.startswith("ada gave the call up (the ability was archived), after it had been sent") is (
        given_up
    )


def test_a_call_for_an_ability_passes_only_where_its_allowed_tools_name_it(
    store: Database, desk: CallDesk
) -> None:
    ability_id = install(store, "notes")
    assert asked_for(desk, ability_id, "read_line").status is DispatchStatus.RUNNING
    binds_to(store, ability_id, "Bash(git:*)", f"mcp__{desk.server_id}__append_line")
    blocked = asked_for(desk, ability_id, "read_line")
    assert blocked.status is DispatchStatus.BLOCKED
    record = desk.record(blocked)
    assert record.error_code == "ABILITY_TOOL_NOT_ALLOWED"
    assert f"mcp__{desk.server_id}__append_line" in (record.error_message or "")
    assert "allowed-tools" in (record.next_action or "")
    assert asked_for(desk, ability_id, "append_line").status is DispatchStatus.PENDING_APPROVAL


def test_a_call_that_waits_is_blocked_when_the_ability_is_bound_to_other_tools_meanwhile(
    store: Database, desk: CallDesk
) -> None:
    ability_id = install(store, "notes")
    waiting = asked_for(desk, ability_id, "append_line")
    assert waiting.status is DispatchStatus.PENDING_APPROVAL
    binds_to(store, ability_id, "read_line")
    assert desk.opening.reconsider(waiting.dispatch_id, now()).status is DispatchStatus.BLOCKED
    assert desk.record(waiting).error_code == "ABILITY_TOOL_NOT_ALLOWED"


def test_an_imported_ability_whose_manifest_cannot_be_read_calls_nothing(
    store: Database, desk: CallDesk
) -> None:
    imported = install(store, "notes", family=IMPORTED_FAMILY)
    taught = install(store, "report")
    assert asked_for(desk, imported, "read_line").status is DispatchStatus.RUNNING
    for ability_id in (imported, taught):
        has_no_readable_manifest(store, ability_id)
    blocked = asked_for(desk, imported, "read_line")
    assert (blocked.status, desk.record(blocked).error_code) == (
        DispatchStatus.BLOCKED,
        "ABILITY_TOOL_NOT_ALLOWED",
    )
    assert "cannot be read" in (desk.record(blocked).error_message or "")
    assert "Import the skill anew" in (desk.record(blocked).next_action or "")
    assert asked_for(desk, taught, "read_line").status is DispatchStatus.RUNNING
