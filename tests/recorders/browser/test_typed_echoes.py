"""Typed values are found where a page repeats them, though only their digests are known."""

from hypothesis import given
from hypothesis import strategies as st

from recorders.browser.page_events import ECHO, SHORTEST, TypedEchoes

WORDS = st.text("abcXYZ éß-_1İ😀", min_size=1, max_size=20).map(lambda s: " ".join(s.split())).filter(bool)


def digest_as_the_page_does(echoes: TypedEchoes, value: str) -> tuple[int, int, int]:
    folded = " ".join(value.split()).lower().encode("utf-16-le")
    units = [folded[i] + (folded[i + 1] << 8) for i in range(0, len(folded), 2)]
    sums: list[int] = []
    for base, modulus in echoes.key:
        total = 0
        for unit in units:
            total = (total * base + unit + 1) % modulus
        sums.append(total)
    return len(units), sums[0], sums[1]


@given(
    WORDS.filter(lambda s: len(s) >= SHORTEST),
    st.sampled_from(["", "Hello, ", "“"]),
    st.sampled_from(["", "!", " is in"]),
)
def test_a_repeated_value_is_masked_whatever_stands_around_it(value: str, before: str, after: str) -> None:
    echoes = TypedEchoes()
    echoes.add(digest_as_the_page_does(echoes, value))
    masked = echoes.mask(f"{before}{value}{after}")
    assert value.lower() not in masked.lower()
    assert ECHO in masked


@given(WORDS, WORDS)
def test_a_text_without_the_value_stays_as_it_is(value: str, text: str) -> None:
    echoes = TypedEchoes()
    echoes.add(digest_as_the_page_does(echoes, value))
    if value.lower() not in text.lower():
        assert echoes.mask(text) == text


def test_a_value_inside_a_longer_word_is_another_word() -> None:
    echoes = TypedEchoes()
    echoes.add(digest_as_the_page_does(echoes, "order"))
    assert echoes.mask("Reordering of an ORDER") == f"Reordering of an {ECHO}"


def test_overlapping_values_leave_one_gap() -> None:
    echoes = TypedEchoes()
    for value in ("Ada Love", "Love Lace"):
        echoes.add(digest_as_the_page_does(echoes, value))
    assert echoes.mask("Dear Ada Love Lace,") == f"Dear {ECHO},"
