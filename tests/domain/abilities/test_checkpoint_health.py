"""What receipts say of an ability, and how far a run has come (decisions "Checkpoints")."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.abilities.availability import CheckpointHealth as Health
from contracts.learning.checkpoints import CheckpointProgressStatus, CheckpointVerificationReceipt
from contracts.learning.checkpoints import CheckpointStatus as Status
from contracts.learning.interpretation import Checkpoint
from domain.abilities.availability import RECEIPTS_COUNTED, checkpoint_health
from domain.abilities.capability_health import progress

NOW = datetime(2026, 3, 1, tzinfo=UTC)
statuses = st.lists(st.sampled_from(Status), max_size=40)

planned = st.lists(
    st.builds(
        Checkpoint,
        checkpoint_id=st.integers(1, 30).map(lambda n: f"cp-{n:02d}"),
        goal=st.just("a goal"),
        success_condition=st.just("a state"),
        order_hint=st.integers(0, 9),
    ),
    unique_by=lambda one: one.checkpoint_id,
    max_size=8,
)
reported = st.lists(st.tuples(st.integers(1, 30), st.sampled_from(Status)), max_size=20)


def receipts(given_: list[tuple[int, Status]]) -> list[CheckpointVerificationReceipt]:
    """Receipts of these checkpoints, newest first."""
    return [
        CheckpointVerificationReceipt(
            receipt_id=str(UUID(int=number)),
            checkpoint_id=f"cp-{checkpoint:02d}",
            status=status,
            evidence=f"seen {number}",
            created_at=NOW - timedelta(seconds=number),
        )
        for number, (checkpoint, status) in enumerate(given_)
    ]


@pytest.mark.parametrize(
    ("reached", "others", "health"),
    [
        (0, 0, Health.NO_DATA),
        (2, 0, Health.NO_DATA),
        (3, 0, Health.STRONG),
        (9, 1, Health.STRONG),
        (8, 2, Health.MODERATE),
        (7, 3, Health.MODERATE),
        (6, 4, Health.WEAK),
        (0, 3, Health.WEAK),
    ],
)
def test_the_share_of_reached_checkpoints_makes_the_health(reached: int, others: int, health: Health) -> None:
    given_ = [Status.REACHED] * reached + [Status.SKIPPED] * others
    assert checkpoint_health(given_, quarantined=False) is health
    assert checkpoint_health(given_, quarantined=True) is Health.QUARANTINED


@given(statuses, statuses)
def test_only_the_newest_twenty_count(newest: list[Status], older: list[Status]) -> None:
    full = (newest * RECEIPTS_COUNTED)[:RECEIPTS_COUNTED] if newest else [Status.REACHED] * RECEIPTS_COUNTED
    assert checkpoint_health(full + older, quarantined=False) is checkpoint_health(full, quarantined=False)


@given(statuses)
def test_one_more_reached_checkpoint_never_makes_the_health_worse(given_: list[Status]) -> None:
    order = [Health.WEAK, Health.MODERATE, Health.STRONG]
    few = given_[: RECEIPTS_COUNTED - 1]
    before = checkpoint_health(few, quarantined=False)
    after = checkpoint_health([Status.REACHED, *few], quarantined=False)
    if before is not Health.NO_DATA:
        assert order.index(after) >= order.index(before)


@given(planned, reported)
def test_progress_has_every_checkpoint_once_in_order_with_its_newest_receipt(
    plan: list[Checkpoint], given_: list[tuple[int, Status]]
) -> None:
    all_receipts = receipts(given_)
    found = progress(plan, all_receipts)
    ids = [one.checkpoint_id for one in found.checkpoints]
    ordered = [one.checkpoint_id for one in sorted(plan, key=lambda c: (c.order_hint, c.checkpoint_id))]
    assert ids[: len(ordered)] == ordered
    assert len(set(ids)) == len(ids) == found.total
    assert set(ids) == set(ordered) | {one.checkpoint_id for one in all_receipts}
    for item in found.checkpoints:
        newest = next((one for one in all_receipts if one.checkpoint_id == item.checkpoint_id), None)
        expected = CheckpointProgressStatus.NOT_REACHED if newest is None else newest.status.value
        assert (item.status, item.evidence) == (expected, newest.evidence if newest else None)
    assert found.reached == sum(item.status is CheckpointProgressStatus.REACHED for item in found.checkpoints)
