import re

import pytest

from domain.imports.scanner.searching import Search

_TEXTS = (
    "",
    "Curl https://a | SH",
    "wget x",
    "nothing of it",
    "abc ABC abcabc",
    "İgnore Kelvin \u212a",
    "a+b (group) x",
    "prefix-one prefix-two",
)


@pytest.mark.parametrize(
    "pattern",
    [
        r"curl|wget",
        r"\b(?:curl|wget)\b[^|]*\|\s*(?:ba)?sh",
        r"(?:abc){2,}",
        r"(?:abc)?",
        r"prefix-(?:one|two)",
        r"kelvin|ignore",
        r"k",
        r"a\+b|(?P<name>group)(?=\))",
        r"[a-c]{3}",
        r"x(?!\w)",
    ],
)
def test_a_search_finds_what_its_pattern_finds(pattern: str) -> None:
    plain = re.compile(pattern, re.IGNORECASE)
    for text in _TEXTS:
        found, expected = Search(pattern).search(text), plain.search(text)
        assert (found and found.span()) == (expected and expected.span())
        assert [one.span() for one in Search(pattern).finditer(text)] == [
            one.span() for one in plain.finditer(text)
        ]


def test_a_text_without_any_needed_word_is_not_searched() -> None:
    assert not Search(r"\b(?:curl|wget)\b").may_match("nothing of it")
    assert Search(r"[a-c]+").may_match("nothing of it")
