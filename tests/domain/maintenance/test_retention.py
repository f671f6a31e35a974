from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.learning.checkpoints import CheckpointStatus, CheckpointVerificationReceipt
from contracts.learning.proposal import ProposalState
from contracts.learning.session import LearnSession, LearnSessionState
from domain.maintenance.retention import (
    CHECKPOINT_RECEIPTS_KEPT,
    compact_checkpoint_receipts,
    idempotency_key_expired,
    ids_in_use,
    observation_purge_due,
    proposal_archive_due,
    session_archive_due,
)

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
INSTANT = timedelta(microseconds=1)

TERMS: list[tuple[Callable[..., bool], timedelta]] = [
    (session_archive_due, timedelta(days=30)),
    (observation_purge_due, timedelta(days=7)),
    (partial(proposal_archive_due, ProposalState.REJECTED), timedelta(days=14)),
    (partial(proposal_archive_due, ProposalState.CANCELLED), timedelta(days=14)),
    (idempotency_key_expired, timedelta(hours=24)),
]


@pytest.mark.parametrize(("due", "term"), TERMS)
def test_a_term_is_over_at_its_last_instant_and_not_before(due: Callable[..., bool], term: timedelta) -> None:
    assert not due(AT, AT)
    assert not due(AT, AT + term - INSTANT)
    assert due(AT, AT + term)
    assert due(AT, AT + term + INSTANT)


@pytest.mark.parametrize("due", [due for due, _ in TERMS[:-1]])
def test_a_clock_that_does_not_run_is_never_due(due: Callable[..., bool]) -> None:
    assert not due(None, AT + timedelta(days=1000))


SPANS = st.timedeltas(timedelta(0), timedelta(days=400))


@pytest.mark.parametrize(("due", "term"), TERMS)
@given(waited=SPANS, longer=SPANS)
def test_what_is_due_stays_due(
    due: Callable[..., bool], term: timedelta, waited: timedelta, longer: timedelta
) -> None:
    assert due(AT, AT + waited) == (waited >= term)
    assert due(AT, AT + waited + longer) >= due(AT, AT + waited)


def test_an_observation_flagged_retain_is_never_purged() -> None:
    assert not observation_purge_due(AT, AT + timedelta(days=1000), retain=True)


def test_what_an_open_session_refers_to_is_never_removed() -> None:
    late = AT + timedelta(days=1000)

    assert not session_archive_due(AT, late, referenced=True)
    assert not observation_purge_due(AT, late, referenced=True)
    assert not proposal_archive_due(ProposalState.REJECTED, AT, late, referenced=True)


@pytest.mark.parametrize(
    "state", sorted(set(ProposalState) - {ProposalState.REJECTED, ProposalState.CANCELLED})
)
def test_other_proposals_are_not_archived(state: ProposalState) -> None:
    assert not proposal_archive_due(state, AT, AT + timedelta(days=1000))


def uuid_of(number: int) -> str:
    return str(UUID(int=number))


def session(number: int, state: LearnSessionState, **fields: object) -> LearnSession:
    plain: dict[str, object] = {
        "learn_session_id": uuid_of(number),
        "owner_user_id": "ada",
        "entry_mode": "demonstrating_skill",
        "state": state,
        "created_at": AT,
        "updated_at": AT,
    }
    return LearnSession.model_validate({**plain, **fields})


def test_ids_in_use_are_those_of_sessions_not_at_rest() -> None:
    cloned = session(
        1,
        LearnSessionState.DRAFTING_PROPOSAL,
        clone_of=uuid_of(2),
        proposal_id=uuid_of(3),
        active_trace_ids=(uuid_of(4),),
        active_observation_batch_ids=(uuid_of(5),),
        interpretation_id=uuid_of(6),
        validation_run_id=uuid_of(7),
        ability_id="ability-1",
    )
    resting = [
        session(10 + n, state, proposal_id=uuid_of(20 + n))
        for n, state in enumerate(
            [
                LearnSessionState.REJECTED,
                LearnSessionState.CANCELLED,
                LearnSessionState.APPROVED,
                LearnSessionState.INSTALLED_PRIVATE,
            ]
        )
    ]

    assert ids_in_use([cloned, *resting]) == {*(uuid_of(n) for n in range(1, 8)), "ability-1"}


def receipt(number: int, status: CheckpointStatus, minute: int) -> CheckpointVerificationReceipt:
    return CheckpointVerificationReceipt(
        receipt_id=uuid_of(number),
        checkpoint_id="cp-01",
        ability_id="ability-1",
        status=status,
        evidence="seen",
        created_at=AT + timedelta(minutes=minute),
    )


RECEIPTS = st.lists(st.tuples(st.sampled_from(CheckpointStatus), st.integers(0, 50)), max_size=40).map(
    lambda made: [receipt(n, status, minute) for n, (status, minute) in enumerate(made)]
)


@given(RECEIPTS, st.integers(0, 20))
def test_compaction_keeps_the_newest_and_loses_no_count(
    receipts: list[CheckpointVerificationReceipt], keep: int
) -> None:
    before = {CheckpointStatus.FAILED: 2}

    done = compact_checkpoint_receipts(receipts, before, keep)
    again = compact_checkpoint_receipts(reversed(done.kept), done.counts, keep)

    assert len(done.kept) == min(keep, len(receipts))
    oldest_kept = min((one.created_at for one in done.kept), default=None)
    assert oldest_kept is None or all(one.created_at <= oldest_kept for one in done.dropped)
    assert Counter(done.counts) + Counter(one.status for one in done.kept) == Counter(before) + Counter(
        one.status for one in receipts
    )
    assert (again.kept, again.dropped, again.counts) == (done.kept, (), done.counts)


def test_a_hundred_receipts_of_an_ability_stay_whole() -> None:
    done = compact_checkpoint_receipts(receipt(n, CheckpointStatus.REACHED, n) for n in range(130))

    assert len(done.kept) == CHECKPOINT_RECEIPTS_KEPT == 100
    assert done.kept[0].receipt_id == uuid_of(129)
    assert done.counts == {CheckpointStatus.REACHED: 30}
