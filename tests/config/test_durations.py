from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from config.value_types import Duration, parse_duration, spell_duration

DURATION: TypeAdapter[timedelta] = TypeAdapter(Duration)


@pytest.mark.parametrize(
    ("spelled", "meant"),
    [
        ("250ms", timedelta(milliseconds=250)),
        ("90s", timedelta(seconds=90)),
        ("1.5h", timedelta(minutes=90)),
        (" 7 d ", timedelta(days=7)),
        ("PT30M", timedelta(minutes=30)),
    ],
)
def test_a_duration_is_read_as_people_write_it(spelled: str, meant: timedelta) -> None:
    assert DURATION.validate_python(spelled) == meant


@pytest.mark.parametrize("spelled", ["0s", "-1h", "soon", "5 weeks", ""])
def test_what_is_no_length_of_time_is_refused(spelled: str) -> None:
    with pytest.raises(ValidationError):
        DURATION.validate_python(spelled)


@given(st.integers(min_value=1, max_value=10**10))
def test_the_spelling_of_a_duration_is_read_back_as_the_same(milliseconds: int) -> None:
    duration = timedelta(milliseconds=milliseconds)
    assert parse_duration(spell_duration(duration)) == duration
