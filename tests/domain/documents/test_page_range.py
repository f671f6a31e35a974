import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.documents.redaction_patterns import PageRangeError, pages_of


@pytest.mark.parametrize(
    ("wanted", "pages"),
    [
        (None, (1, 2, 3, 4, 5)),
        ("3", (3,)),
        ("1-3,5", (1, 2, 3, 5)),
        (" 5 , 1 - 2".replace(" - ", "-"), (1, 2, 5)),
        ("4-", (4, 5)),
        ("2-3,3-4,2", (2, 3, 4)),
    ],
)
def test_a_range_names_each_of_its_pages_once_and_in_order(
    wanted: str | None, pages: tuple[int, ...]
) -> None:
    assert pages_of(wanted, 5) == pages


@pytest.mark.parametrize("wanted", ["", "0", "3-1", "6", "1-6", "6-", "a", "1,,2", "-3", "1-2-3", "٣"])
def test_a_range_that_names_no_page_is_refused_in_words(wanted: str) -> None:
    with pytest.raises(PageRangeError, match="page range"):
        pages_of(wanted, 5)


@given(st.sets(st.integers(1, 300), min_size=1), st.integers(300, 2_000))
def test_naming_pages_one_by_one_names_just_those(pages: set[int], count: int) -> None:
    assert pages_of(",".join(map(str, pages)), count) == tuple(sorted(pages))


@given(st.text(max_size=40), st.integers(1, 2_000))
def test_whatever_is_asked_the_pages_are_of_the_document(wanted: str, count: int) -> None:
    try:
        pages = pages_of(wanted, count)
    except PageRangeError:
        return
    assert pages
    assert set(pages) <= set(range(1, count + 1))
