from hypothesis import given
from hypothesis import strategies as st

from host.bounded_use import BoundedOutput


@given(st.lists(st.binary(max_size=40)), st.integers(min_value=2, max_value=60))
def test_both_ends_are_kept_however_the_output_is_cut_into_pieces(chunks: list[bytes], limit: int) -> None:
    kept, whole = BoundedOutput(limit), BoundedOutput(limit)
    for chunk in chunks:
        kept.append(chunk)
    whole.append(b"".join(chunks))

    assert kept.text() == whole.text()
    assert kept.truncated == whole.truncated


@given(st.text(alphabet="abc", max_size=60))
def test_what_fits_is_kept_as_it_is(text: str) -> None:
    output = BoundedOutput(60)
    output.append(text.encode())

    assert output.text() == text
    assert not output.truncated


def test_a_cut_is_shown_between_the_ends() -> None:
    output = BoundedOutput(4)
    output.append(b"abcdefgh")

    assert output.text() == "ab\n[output cut]\ngh"
    assert output.truncated
