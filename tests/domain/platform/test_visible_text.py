"""What somebody decides on hides nothing."""

import sys
import unicodedata

import pytest

from domain.platform.visible_text import visible


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("a\u200bb", "a\\u200bb"),
        ("a\u200d\ufeffb", "a\\u200d\\ufeffb"),
        ("\u202edwssap", "\\u202edwssap"),
        ("\x1b[8m", "\\u001b[8m"),
        ("a\ufe0fb", "a\\ufe0fb"),
        ("a\u034fb", "a\\u034fb"),
        ("a\u3164\u115f\uffa0b", "a\\u3164\\u115f\\uffa0b"),
        ("a\u2028b\u2800c", "a\\u2028b\\u2800c"),
        ("a\U000e0041b", "a\\U000e0041b"),
        ("a\U000e0101b", "a\\U000e0101b"),
        ("a\xadb\x85", "a\\u00adb\\u0085"),
    ],
)
def test_an_unseen_character_is_spelled_out(hidden: str, shown: str) -> None:
    assert visible(hidden) == shown


def test_text_that_can_be_seen_stays_as_it_is() -> None:
    for text in ("Grüße,\n\tdas Büro", "日本語", "עברית", "😀 é ß", "a\u00a0b", ""):
        assert visible(text) == text


def test_no_character_of_an_unseen_category_stays() -> None:
    unseen = [
        chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in ("Cf", "Cc")
    ]
    assert all(visible(one).startswith("\\") for one in unseen if one not in "\n\t")
