"""What ends badly is told to its user in the inbox where the documents say so, and nothing else is."""

from datetime import timedelta

import pytest

from contracts.inbox.items import SentItem, SentKind
from contracts.skills.errors import AWAITING_TIME, SKILL_ERRORS
from contracts.skills.invocation import InvocationStatus, SkillOutcome
from contracts.skills.invocation_work import AttemptOrder
from domain.skills.outcomes import error_of
from stores.inbox.inbox import Inbox
from stores.platform.database import Database, PageRequest
from stores.skills.attempts import AttemptResult, SkillAttempts
from tests.domain.skills.manifests import manifest
from tests.stores.skills.admitted import NOW, Gate

PROBE = manifest()


def told(store: Database) -> tuple[SentItem, ...]:
    return Inbox(store).page("alice", PageRequest(), (SentKind.ESCALATION,)).documents


def ends(
    store: Database, code: str, status: InvocationStatus = InvocationStatus.FAILURE, later: bool = False
) -> str:
    attempts = SkillAttempts(store, confirmation_expiry=timedelta(minutes=30))
    invocation_id = Gate(store).admit(PROBE).kept.record.invocation_id
    number = 1
    if later:
        waits = SkillOutcome(
            status=InvocationStatus.FAILURE, error=error_of(PROBE, AWAITING_TIME, "Not yet.")
        )
        order = AttemptOrder(invocation_id=invocation_id, attempt=1, at=NOW)
        attempts.begin(order)
        attempts.finish(order, AttemptResult(waits, acted=False, due_at=NOW + timedelta(hours=1)), NOW)
        number = 2
    error = error_of(PROBE, code, "It went wrong.", retryable=False)
    order = AttemptOrder(invocation_id=invocation_id, attempt=number, at=NOW)
    attempts.begin(order)
    attempts.finish(order, AttemptResult(SkillOutcome(status=status, error=error), acted=True), NOW)
    return invocation_id


@pytest.mark.acceptance("CH-13", "CH-50", "CH-54", "CH-56")
@pytest.mark.parametrize("code", ["RATE_LIMITED", "WALLET_ERROR", "INSUFFICIENT_BALANCE", "TX_FAILED"])
def test_what_a_person_has_to_look_at_is_told_with_the_run_and_what_to_do(store: Database, code: str) -> None:
    invocation_id = ends(store, code)
    (item,) = told(store)
    assert f"It went wrong. ({code})" in item.text
    assert SKILL_ERRORS[code].recovery in item.text
    assert item.invocation_id == invocation_id


def test_of_one_cause_one_item_an_hour_is_written(store: Database) -> None:
    for _ in range(3):
        ends(store, "INSUFFICIENT_BALANCE")
    ends(store, "TX_FAILED")
    assert len(told(store)) == 2


def test_what_the_caller_can_mend_is_told_to_nobody_else(store: Database) -> None:
    ends(store, "INVALID_INPUT")
    assert told(store) == ()


def test_what_may_have_happened_is_told_each_time(store: Database) -> None:
    for _ in range(2):
        ends(store, "OUTCOME_UNKNOWN", InvocationStatus.OUTCOME_UNKNOWN)
    assert len(told(store)) == 2


@pytest.mark.acceptance("CH-39")
def test_what_fails_at_its_later_time_is_told_as_nobody_looks(store: Database) -> None:
    ends(store, "INVALID_TOKEN", later=True)
    (item,) = told(store)
    assert "INVALID_TOKEN" in item.text
