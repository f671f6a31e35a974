"""When a token is renewed."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from domain.mcp.auth_status import is_good, renewal_time

NOW = datetime(2026, 3, 1, tzinfo=UTC)

lives = st.floats(min_value=0, max_value=10**9).map(lambda seconds: timedelta(seconds=seconds))


def test_an_hour_is_renewed_after_48_minutes() -> None:
    assert renewal_time(NOW, NOW + timedelta(hours=1)) == NOW + timedelta(minutes=48)


def test_two_minutes_are_renewed_a_minute_before_their_end() -> None:
    assert renewal_time(NOW, NOW + timedelta(minutes=2)) == NOW + timedelta(minutes=1)


def test_half_a_minute_is_used_for_half_of_it() -> None:
    assert renewal_time(NOW, NOW + timedelta(seconds=30)) == NOW + timedelta(seconds=15)


def test_a_token_without_an_end_is_never_renewed_and_always_good() -> None:
    assert renewal_time(NOW, None) is None
    assert is_good(None, NOW, NOW + timedelta(days=10_000))


@given(lives)
def test_a_renewal_is_after_the_issue_and_before_the_end(life: timedelta) -> None:
    at = renewal_time(NOW, NOW + life)
    assert at is not None
    assert NOW + life * 0.5 <= at <= NOW + life


@given(lives)
def test_a_token_is_good_when_it_comes_and_over_at_its_end(life: timedelta) -> None:
    assert is_good(NOW + life, NOW, NOW) is (life > timedelta())
    assert not is_good(NOW + life, NOW, NOW + life)


@given(lives)
def test_a_token_is_still_good_when_its_renewal_is_due(life: timedelta) -> None:
    at = renewal_time(NOW, NOW + life)
    assert at is not None
    assert is_good(NOW + life, NOW, at) is (life > timedelta())
