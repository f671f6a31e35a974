"""What is refused follows from what is missing and what is behind, and from nothing else."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import ErrorCode, Refusal
from domain.learning.session.deployment import (
    COMPONENTS,
    INSTALLING,
    Pending,
    components,
    disabled,
    partial_deployment,
    refuse_blocked,
    refuse_missing_part,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EVERYTHING = frozenset(name for part in COMPONENTS for name in part.operations)


@given(
    st.builds(
        Pending, *[st.booleans()] * 4, degraded=st.sampled_from([None, "no_worker", "temporal_unavailable"])
    )
)
def test_installs_are_disabled_exactly_where_the_state_blocks_them(pending: Pending) -> None:
    blocked = bool(pending.availability or pending.bridge or pending.degraded)
    found = disabled(partial_deployment(pending, NOW), components(EVERYTHING))
    assert found == (INSTALLING if blocked else ())
    if not blocked:
        refuse_blocked(pending, NOW)
        return
    with pytest.raises(Refusal) as refused:
        refuse_blocked(pending, NOW)
    assert refused.value.code is ErrorCode.PARTIAL_DEPLOYMENT
    assert refused.value.extra["reason_code"]


@given(st.sets(st.sampled_from(sorted(EVERYTHING))))
def test_an_operation_is_refused_exactly_where_it_is_told_as_disabled(missing: set[str]) -> None:
    there = EVERYTHING - missing
    off = disabled(partial_deployment(Pending(), NOW), components(there))
    for operation in sorted(EVERYTHING):
        if operation not in off:
            refuse_missing_part(operation, there)
            continue
        with pytest.raises(Refusal) as refused:
            refuse_missing_part(operation, there)
        assert refused.value.code is ErrorCode.PARTIAL_DEPLOYMENT
        assert len(refused.value.message) <= 240
