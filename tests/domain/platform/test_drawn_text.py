"""Text is cut into lines without a font at hand: nothing too wide, no sign torn apart, nothing that XML forbids."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.platform.drawn_text import drawable, is_right_to_left, lines_of, xml_text


def test_words_stay_whole_where_they_fit() -> None:
    assert lines_of("one two three four", 4.5, 9) == (["one two", "three", "four"], True)


def test_a_long_word_is_broken_and_fills_the_line_it_begins_on() -> None:
    lines, whole = lines_of(f"Oh {'x' * 40}", 12, 9)
    assert (lines[0], "".join(lines).count("x"), whole) == (f"Oh {'x' * 17}", 40, True)


def test_wide_letters_take_more_of_a_line() -> None:
    lines, _ = lines_of("日本語のテキスト", 4, 9)
    assert lines == ["日本語の", "テキスト"]


@pytest.mark.parametrize("sign", ["👨‍👩‍👧‍👦", "🇩🇪", "👋🏽", "❤️", "e\u0301", "नी"])
def test_no_sign_is_torn_from_what_belongs_to_it(sign: str) -> None:
    lines, whole = lines_of(sign * 12, 6, 99)
    assert whole
    assert len(lines) > 1
    assert all(line.replace(sign, "") == "" for line in lines)


def test_what_is_cut_ends_with_an_ellipsis() -> None:
    assert lines_of("one two three four", 4.5, 2) == (["one two", "three…"], False)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\x00\x1b[8mb\x7f", "a[8mb"),
        ("a\r\n\tb\u2028c", "a b c"),
        ("a\u202eb\u2066c\u200b\ufeffd", "abcd"),
        ("a\ud800b\uffff\ufdd0c", "abc"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_what_shows_nothing_or_turns_text_around_is_left_out(text: str, kept: str) -> None:
    assert drawable(text) == kept


def test_the_first_letter_with_a_direction_decides() -> None:
    assert is_right_to_left("2026: القهوة and coffee")
    assert is_right_to_left("«עברית»")
    assert not is_right_to_left("coffee القهوة")
    assert not is_right_to_left("2026 …")


@given(st.text(st.characters(codec=None), max_size=60))
def test_every_text_is_well_formed_within_an_element(text: str) -> None:
    assert ElementTree.fromstring(f"<a>{xml_text(text)}</a>").text in (drawable(text), None)


@given(st.text(max_size=200), st.floats(2, 40), st.integers(1, 5))
def test_there_are_never_more_lines_than_asked_for_and_nothing_is_lost(
    text: str, width: float, most: int
) -> None:
    lines, whole = lines_of(text, width, most)
    assert len(lines) <= most
    if whole and len(drawable(text)) < 12:
        assert "".join(lines).replace(" ", "") == drawable(text).replace(" ", "")
