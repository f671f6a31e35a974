"""The card of content: the same words give the same small picture, in which nothing runs or is loaded (O-6)."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.skills.content import PLATFORMS
from domain.skills.content.card import MOST_CARD_BYTES, content_card

_SVG = "{http://www.w3.org/2000/svg}"
_DRAWN = {f"{_SVG}{name}" for name in ("svg", "title", "rect", "text")}


def _texts(card: str) -> list[str]:
    return [one.text or "" for one in ElementTree.fromstring(card).iter(f"{_SVG}text")]


@pytest.mark.acceptance("O-6")
def test_a_card_shows_title_words_and_platform() -> None:
    card = content_card("Cold brew at home", ("What is it about?", "I am Nora."), "twitter")
    assert _texts(card) == ["Cold brew at home", "What is it about?", "I am Nora.", "twitter"]


@pytest.mark.parametrize("platform", [*PLATFORMS, "elsewhere"])
def test_all_that_is_drawn_lies_within_the_picture(platform: str) -> None:
    card = content_card("w " * 100, ["many words " * 200] * 20, platform)
    root = ElementTree.fromstring(card)
    lowest = max(float(one.attrib["y"]) for one in root.iter(f"{_SVG}text"))
    assert lowest < float(root.attrib["height"])
    *lines, footer = (float(one.attrib["y"]) for one in root.iter(f"{_SVG}text"))
    assert lines == sorted(lines)
    assert lines[-1] < footer - 26
    assert _texts(card)[-2].endswith("…")


@pytest.mark.acceptance("O-6")
def test_text_written_to_the_left_stands_at_the_right_edge() -> None:
    card = content_card("القهوة الباردة", ("Cold brew",), "twitter")
    arabic, english, _ = ElementTree.fromstring(card).iter(f"{_SVG}text")
    assert (arabic.attrib["direction"], arabic.attrib["x"]) == ("rtl", "1120")
    assert ("direction" in english.attrib, english.attrib["x"]) == (False, "80")


@pytest.mark.acceptance("O-6")
def test_markup_in_the_words_is_shown_and_not_obeyed() -> None:
    evil = '</text><script href="https://evil.example">alert(1)</script>&evil;"'
    card = content_card(evil, (evil,), evil)
    assert {one.tag for one in ElementTree.fromstring(card).iter()} == _DRAWN
    assert "<script" not in card


@pytest.mark.acceptance("O-6")
@given(
    st.text(st.characters(codec=None), max_size=200),
    st.lists(st.text(st.characters(codec=None), max_size=2_200), max_size=4),
)
def test_whatever_the_words_a_card_is_small_well_formed_and_the_same(title: str, words: list[str]) -> None:
    card = content_card(title, words, "tiktok")
    root = ElementTree.fromstring(card)
    assert {one.tag for one in root.iter()} <= _DRAWN
    assert not any("href" in name or name.startswith("on") for one in root.iter() for name in one.attrib)
    assert len(card.encode()) <= MOST_CARD_BYTES
    assert content_card(title, words, "tiktok") == card


def test_marks_without_end_make_no_large_card() -> None:
    card = content_card("e" + "\u0301" * 199, ["\u0301" * 2_200, "👩" + "\u200d👩" * 700] * 10, "tiktok")
    assert len(card.encode()) <= MOST_CARD_BYTES
