"""Laws of the exponential backoff."""

from hypothesis import given
from hypothesis import strategies as st

from contracts.backoff import Backoff

ATTEMPTS = st.integers(-5, 10_000)
SHARES = st.floats(0, 1)


@st.composite
def backoffs(draw: st.DrawFn) -> Backoff:
    first = draw(st.floats(0.001, 1_000))
    return Backoff(
        first=first,
        cap=draw(st.floats(first, 1_000_000)),
        factor=draw(st.floats(1, 10)),
        jitter=draw(st.floats(0, 1)),
    )


@given(backoffs(), ATTEMPTS, SHARES)
def test_a_delay_grows_with_the_attempt_and_never_passes_the_cap(
    backoff: Backoff, attempt: int, random: float
) -> None:
    assert 0 <= backoff.delay(attempt, random) <= backoff.delay(attempt + 1, random) <= backoff.cap


@given(backoffs(), ATTEMPTS, SHARES)
def test_jitter_takes_off_at_most_its_share(backoff: Backoff, attempt: int, random: float) -> None:
    longest = backoff.delay(attempt, 1.0)
    shortest = longest * (1 - backoff.jitter)
    assert shortest - 1e-9 * longest <= backoff.delay(attempt, random) <= longest * (1 + 1e-9)


@given(backoffs(), st.integers(1, 10))
def test_without_jitter_each_delay_is_the_factor_times_the_one_before(backoff: Backoff, attempt: int) -> None:
    steady = Backoff(backoff.first, backoff.cap, backoff.factor)
    before = steady.delay(attempt)
    assert steady.delay(1) == backoff.first
    assert abs(steady.delay(attempt + 1) - min(before * backoff.factor, backoff.cap)) <= 1e-9 * backoff.cap
