"""Every transition of a skill import, legal and illegal, and the warnings of its detail."""

from datetime import UTC, datetime, timedelta

import pytest

from contracts.imports.import_record import (
    RETRIES,
    TERMINAL,
    ImportedSkillRecord,
    RetryKind,
    SkillImportSource,
)
from contracts.imports.import_record import SkillImportState as S
from contracts.imports.import_rules import (
    DONE,
    allowed_commands,
    is_legal,
    move_of,
    objection,
    overridden,
    sets_aside,
)
from contracts.imports.import_work import ImportCommand, ImportOrder, SkillImport
from contracts.imports.scanning import OverrideAsked, ScanHold
from contracts.platform.commands import CommitKey
from contracts.platform.identity import Scope
from domain.imports.import_advice import warnings_of

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
IMPORT_ID = "0199aa10-7c00-7000-8000-000000000001"

# Lines 3486-3497, told again.
GRAPH = """
upload_pending -> uploaded
uploaded -> scanning
scanning -> scan_complete scan_failed expired
scan_complete -> staging discarded
staging -> ready_for_review stage_failed discarded
ready_for_review -> install_queued approved rejected discarded
install_queued -> installed_private install_failed
scan_failed -> scanning
stage_failed -> staging
install_failed -> install_queued
"""
LEGAL = {
    (S(before), S(after))
    for before, ways in (line.split(" -> ") for line in GRAPH.strip().splitlines())
    for after in ways.split()
}

COMMANDS = (
    *((one, None) for one in ImportCommand if one not in (ImportCommand.SCAN, ImportCommand.RETRY)),
    *((ImportCommand.RETRY, kind) for kind in RetryKind),
)


def standing(state: S, **fields: object) -> SkillImport:
    record = ImportedSkillRecord(
        import_id=IMPORT_ID,
        source=SkillImportSource.MANUAL_UPLOAD,
        skill_name="tidy-tables",
        source_ref="temp-artifact-1",
        stage_state=state,
        created_at=NOW,
        updated_at=NOW,
    )
    base = SkillImport(
        record=record,
        owner_user_id="alice",
        upload_ref="temp-artifact-1",
        upload_expires_at=NOW + timedelta(hours=24),
        compatible=True,
        correlation_id="test",
    )
    return base.changed(**fields)


def order(command: ImportCommand, kind: RetryKind | None = None) -> ImportOrder:
    key = CommitKey(owner_user_id="alice", key="k", request_digest="0" * 64)
    return ImportOrder(
        import_id=IMPORT_ID, command=command, commit_key=key, correlation_id="test", retry_kind=kind
    )


@pytest.mark.parametrize("before", list(S))
@pytest.mark.parametrize("after", list(S))
def test_a_transition_is_legal_where_the_graph_has_it_and_nowhere_else(before: S, after: S) -> None:
    assert is_legal(before, after) is ((before, after) in LEGAL)


@pytest.mark.parametrize("state", list(S))
@pytest.mark.parametrize(("command", "kind"), COMMANDS)
def test_a_command_is_taken_exactly_where_its_way_is_legal(
    state: S, command: ImportCommand, kind: RetryKind | None
) -> None:
    asked = order(command, kind)
    refusal = objection(standing(state), asked, NOW)
    taken_in = move_of(asked).taken_in
    if sets_aside(state, command):
        assert refusal is None
    elif state not in taken_in:
        assert refusal is not None
        assert refusal.code == "INVALID_SKILL_IMPORT_TRANSITION"
        assert refusal.extra["current_state"] == state.value
        assert refusal.extra["allowed"] == list(allowed_commands(state))
    else:
        assert (state, move_of(asked).to) in LEGAL
        assert refusal is None or refusal.code == "UNPROVED_NOT_ACCEPTED"


def test_a_failed_step_is_left_by_the_retry_of_its_kind_alone() -> None:
    for kind, (failed, again) in RETRIES.items():
        assert allowed_commands(failed) == (f"retry {kind.value}", "discard")
        assert sets_aside(failed, ImportCommand.DISCARD), "which leaves it in its state"
        assert move_of(order(ImportCommand.RETRY, kind)).to is again


def test_every_end_of_work_is_legal() -> None:
    for kind, ends in DONE.items():
        assert all(is_legal(RETRIES[kind][1], end) for end in ends)


@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_an_import_that_is_over_takes_nothing(state: S) -> None:
    assert allowed_commands(state) == ()


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"compatible": False}, "SKILL_IMPORT_INCOMPATIBLE"),
        ({"upload_expires_at": NOW}, "SKILL_IMPORT_UPLOAD_EXPIRED"),
    ],
)
def test_a_bundle_that_is_unfit_or_gone_is_not_staged(fields: dict[str, object], code: str) -> None:
    refusal = objection(standing(S.SCAN_COMPLETE, **fields), order(ImportCommand.STAGE), NOW)
    assert refusal is not None
    assert refusal.code == code


@pytest.mark.acceptance("skill_import_upload_expiring_warning")
@pytest.mark.parametrize(
    ("left", "code"),
    [
        (timedelta(hours=3), None),
        (timedelta(hours=2), None),
        (timedelta(minutes=119), "upload_expiring_soon"),
        (timedelta(0), "upload_expired"),
    ],
)
def test_an_upload_near_its_end_is_warned_of(left: timedelta, code: str | None) -> None:
    found = warnings_of(standing(S.SCAN_COMPLETE, upload_expires_at=NOW + left), NOW)
    assert [one.partition(":")[0] for one in found] == ([code] if code else [])


def test_a_staged_bundle_needs_its_upload_no_more() -> None:
    assert warnings_of(standing(S.READY_FOR_REVIEW, upload_expires_at=NOW), NOW) == ()


def test_three_failed_retries_of_one_kind_reach_the_limit() -> None:
    for failed in range(5):
        found = warnings_of(standing(S.SCAN_FAILED, failed_retries={"scan": failed}), NOW)
        assert bool(found) is (failed >= 3)


def test_a_review_that_waits_for_long_is_said_to_be_stale_and_stays() -> None:
    found = warnings_of(standing(S.READY_FOR_REVIEW), NOW + timedelta(days=8))
    assert [one.partition(":")[0] for one in found] == ["review_stale"]


def held(needs: Scope, *, alone: bool = True) -> ScanHold:
    return ScanHold(needs=needs, codes=("SCAN_DOWNLOAD_AND_RUN",), only_obstacle=alone)


def asked(command: ImportCommand, scope: Scope | None) -> ImportOrder:
    wish = OverrideAsked(reason="read it", scope=scope, token_id=IMPORT_ID) if scope is not None else None
    return order(command).changed(override=wish)


_HELD = [
    # state, command, what it takes, by whom → the refusal
    (S.SCAN_COMPLETE, ImportCommand.STAGE, Scope.ADMIN, None, "SKILL_IMPORT_INCOMPATIBLE"),
    (S.SCAN_COMPLETE, ImportCommand.STAGE, Scope.ADMIN, Scope.APPROVE, "FORBIDDEN"),
    (S.SCAN_COMPLETE, ImportCommand.STAGE, Scope.ADMIN, Scope.ADMIN, None),
    (S.READY_FOR_REVIEW, ImportCommand.APPROVE, Scope.APPROVE, None, "SKILL_IMPORT_OVERRIDE_REQUIRED"),
    (S.READY_FOR_REVIEW, ImportCommand.APPROVE, Scope.APPROVE, Scope.APPROVE, None),
    (S.READY_FOR_REVIEW, ImportCommand.APPROVE, Scope.ADMIN, Scope.APPROVE, "FORBIDDEN"),
    (S.READY_FOR_REVIEW, ImportCommand.INSTALL, Scope.APPROVE, None, "SKILL_IMPORT_OVERRIDE_REQUIRED"),
    (S.READY_FOR_REVIEW, ImportCommand.INSTALL, Scope.ADMIN, Scope.APPROVE, "FORBIDDEN"),
    (S.READY_FOR_REVIEW, ImportCommand.REJECT, Scope.ADMIN, None, None),
    (S.READY_FOR_REVIEW, ImportCommand.DISCARD, Scope.ADMIN, None, None),
]


@pytest.mark.parametrize(("state", "command", "needs", "scope", "code"), _HELD)
def test_what_a_scan_found_is_gone_on_in_spite_of_with_a_reason_and_the_scope_it_takes(
    state: S, command: ImportCommand, needs: Scope, scope: Scope | None, code: str | None
) -> None:
    present = standing(state, compatible=needs is not Scope.ADMIN, held=held(needs))
    refusal = objection(present, asked(command, scope), NOW)
    assert (refusal.code if refusal is not None else None) == code


def test_an_override_is_recorded_once_and_counts_for_the_rest_of_the_way() -> None:
    present = standing(S.SCAN_COMPLETE, compatible=False, held=held(Scope.ADMIN))
    going_on = overridden(present, asked(ImportCommand.STAGE, Scope.ADMIN), NOW)
    assert going_on.override is not None
    assert (going_on.override.by_user_id, going_on.override.reason) == ("alice", "read it")
    reviewed = going_on.changed(record=going_on.record.changed(stage_state=S.READY_FOR_REVIEW))
    assert objection(reviewed, asked(ImportCommand.APPROVE, None), NOW) is None


def test_no_override_mends_another_error_of_the_report() -> None:
    present = standing(S.SCAN_COMPLETE, compatible=False, held=held(Scope.ADMIN, alone=False))
    refusal = objection(present, asked(ImportCommand.STAGE, Scope.ADMIN), NOW)
    assert refusal is not None
    assert refusal.code == "SKILL_IMPORT_INCOMPATIBLE"


def test_a_warning_holds_up_the_decision_and_not_the_staging() -> None:
    present = standing(S.SCAN_COMPLETE, held=held(Scope.APPROVE))
    wish = asked(ImportCommand.STAGE, Scope.APPROVE)
    assert objection(present, wish, NOW) is None
    assert overridden(present, wish, NOW).override is None
