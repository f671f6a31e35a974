from hypothesis import given
from hypothesis import strategies as st

from cli.processes.supervisor import Restarts


def test_the_first_restart_waits_for_nothing_and_each_further_one_twice_as_long_up_to_the_cap() -> None:
    restarts = Restarts()
    assert [restarts.next_delay(0) for _ in range(9)] == [0, 0.5, 1, 2, 4, 8, 16, 30, 30]


def test_a_minute_of_health_forgets_the_failures_before_it() -> None:
    restarts = Restarts()
    assert [restarts.next_delay(ran) for ran in (0, 0, 59.9, 60, 0)] == [0, 0.5, 1, 0, 0.5]


@given(st.lists(st.floats(min_value=0, max_value=120), max_size=50))
def test_no_wait_is_longer_than_the_cap(runs: list[float]) -> None:
    restarts = Restarts()
    assert all(0 <= restarts.next_delay(ran) <= 30 for ran in runs)
