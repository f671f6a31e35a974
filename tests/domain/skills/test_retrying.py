"""Retries: which codes, how often, after which wait (CH-10, CH-38, CH-56, CH-62, CH-63, X-14, X-18, X-19)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.learning.observation import ToolEffect
from contracts.skills.errors import SKILL_ERRORS
from domain.skills.retrying import (
    attempts_allowed,
    delay_ms,
    may_repeat,
    outcome_is_unknown,
    rule_of,
    total_timeout_ms,
)
from tests.domain.skills.manifests import acting, manifest

READING = manifest(max_attempts=3, timeout_ms=30_000)
SENDING = acting(max_attempts=3)


@pytest.mark.acceptance("CH-04", "CH-62")
@pytest.mark.parametrize(
    ("attempt", "random", "wait"),
    [(1, 0.0, 1_000), (2, 0.0, 2_000), (3, 0.0, 4_000), (1, 1.0, 2_000), (3, 0.5, 4_500)],
)
def test_a_wait_is_a_power_of_two_in_seconds_and_up_to_a_second(
    attempt: int, random: float, wait: int
) -> None:
    assert delay_ms(attempt, random) == wait


@given(st.integers(1, 1_000), st.floats(0, 1))
def test_waits_grow_and_end(attempt: int, random: float) -> None:
    assert 1_000 <= delay_ms(attempt, random) <= delay_ms(attempt + 1, random) <= 301_000


@pytest.mark.parametrize(
    ("asked", "wait"), [(0, 0), (7_000, 7_000), (300_000, 300_000), (10**9, 3_600_000), (-5, 0)]
)
def test_what_the_far_side_asks_for_takes_the_place_of_the_wait(asked: int, wait: int) -> None:
    """RATE_LIMITED: `Retry-After` wins."""
    assert delay_ms(1, 0.0, asked) == wait


@pytest.mark.acceptance("CH-62", "CH-63")
@pytest.mark.parametrize(
    ("code", "most", "attempts"),
    [
        ("PLATFORM_UNAVAILABLE", 3, 3),
        ("TIMEOUT", 3, 3),
        ("NETWORK_ERROR", 3, 3),  # 3 retries are 4 attempts: the skill's 3 are fewer.
        ("NETWORK_ERROR", 10, 4),
        ("PUBLISH_FAILED", 4, 4),
        ("PUBLISH_FAILED", 10, 4),
        ("TX_FAILED", 4, 4),
        ("WALLET_ERROR", 4, 3),
        ("MEDIA_GENERATION_FAILED", 4, 3),
        ("UNAVAILABLE", 3, 2),
        ("TIMEOUT", 1, 1),
        ("INVALID_INPUT", 3, 1),
        ("INVALID_PLATFORM", 3, 1),
        ("AGENT_NOT_FOUND", 3, 1),
        ("INSUFFICIENT_BALANCE", 3, 1),
        ("SAFETY_VIOLATION", 3, 1),  # Its one repetition is the handler's own.
        ("NOBODY_KNOWS_IT", 3, 1),
    ],
)
@pytest.mark.acceptance("X-18")
def test_retries_are_counted_in_all_and_the_smaller_number_counts(
    code: str, most: int, attempts: int
) -> None:
    """X-18."""
    assert attempts_allowed(manifest(max_attempts=most), code) == attempts


@given(st.sampled_from(sorted(SKILL_ERRORS)), st.integers(1, 10))
@pytest.mark.acceptance("X-18")
def test_there_is_always_one_attempt_and_never_more_than_the_manifest_says(code: str, most: int) -> None:
    assert 1 <= attempts_allowed(manifest(max_attempts=most), code) <= most


@pytest.mark.acceptance("CH-50")
def test_a_skill_may_say_otherwise_for_itself() -> None:
    """A balance that cannot be read is not asked for again."""
    rule = {"http_status": 503, "recovery": "The kept balance is given, marked stale."}
    wallet = manifest(max_attempts=3, errors={"NETWORK_ERROR": rule})
    assert attempts_allowed(wallet, "NETWORK_ERROR") == 1
    assert rule_of(wallet, "NETWORK_ERROR").recovery == "The kept balance is given, marked stale."
    assert rule_of(wallet, "NOBODY_KNOWS_IT").http_status == 500


@pytest.mark.parametrize("acted", [True, False])
@pytest.mark.acceptance("X-14")
def test_what_may_have_acted_is_not_repeated(acted: bool) -> None:
    """X-14: place_call, send-message."""
    assert may_repeat(SENDING, ToolEffect.SEND, "TIMEOUT", acted=acted) is not acted
    assert outcome_is_unknown(SENDING, ToolEffect.SEND, "TIMEOUT", acted=acted) is acted


@pytest.mark.acceptance("CH-38", "CH-56")
def test_reads_and_keyed_effects_are_repeated() -> None:
    """The publisher and the ledger know the key."""
    assert may_repeat(READING, ToolEffect.READ, "TIMEOUT", acted=True)
    assert may_repeat(SENDING.changed(repeatable=True), ToolEffect.SEND, "PUBLISH_FAILED", acted=True)
    assert not may_repeat(SENDING.changed(repeatable=True), ToolEffect.SEND, "INVALID_TOKEN", acted=True)
    assert not outcome_is_unknown(SENDING, ToolEffect.SEND, "INVALID_TOKEN", acted=True)


@given(st.sampled_from(ToolEffect), st.sampled_from(sorted(SKILL_ERRORS)), st.booleans())
def test_no_outcome_is_both_repeated_and_unknown(effect: ToolEffect, code: str, acted: bool) -> None:
    assert not (
        may_repeat(SENDING, effect, code, acted=acted)
        and outcome_is_unknown(SENDING, effect, code, acted=acted)
    )


@pytest.mark.acceptance("X-19")
def test_the_whole_of_an_invocation_is_its_attempts_and_the_waits_between() -> None:
    """X-19: three attempts of 30 s, a wait of 1 s and one of 2 s, each with up to a second of jitter."""
    assert total_timeout_ms(READING) == 3 * 30_000 + 2_000 + 3_000
    assert total_timeout_ms(manifest(timeout_ms=300)) == 300
