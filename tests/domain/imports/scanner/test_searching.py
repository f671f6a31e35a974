import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

import domain.imports.scanner.commands as commands
import domain.imports.scanner.data_flow as data_flow
import domain.imports.scanner.destructive as destructive
import domain.imports.scanner.led_elsewhere as led_elsewhere
import domain.imports.scanner.prompt_injection as prompt_injection
import domain.imports.scanner.reverse_shells as reverse_shells
from domain.imports.scanner.searching import Search, joined_words, needed_words, words_in
from tests.domain.imports.scanner.look_alikes import HELD_OUT, KNOWN, cases


@dataclass
class Text:
    """A text as passages have it."""

    text: str

    @cached_property
    def words(self) -> frozenset[str]:
        return words_in([self.text])[0]


def all_searches() -> dict[str, Search]:
    """Each search of the scanner, by its module and what it stands in."""
    found: dict[str, Search] = {}
    for module in (commands, data_flow, destructive, led_elsewhere, prompt_injection, reverse_shells):
        for name, value in vars(module).items():
            for number, one in enumerate(value if isinstance(value, tuple) else (value,)):
                search = getattr(one, "pattern", one)
                if isinstance(search, Search):
                    found[f"{module.__name__}.{name}[{number}]"] = search
    return found


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
    plain, search = re.compile(pattern, re.IGNORECASE), Search(pattern)
    for text in map(Text, _TEXTS):
        found, expected = search.search(text), plain.search(text.text)
        assert (found and found.span()) == (expected and expected.span())
        assert [one.span() for one in search.finditer(text)] == [
            one.span() for one in plain.finditer(text.text)
        ]


@pytest.mark.parametrize(
    ("pattern", "ways"),
    [
        (r"\b(?:curl|wget)\b[^|]*\|\s*sh\b", [[{"curl", "wget"}, {"sh"}, {"|"}]]),
        (r"one|tw(?:o|elve)", [[{"one"}], [{"tw"}]]),
        (r"(?<!x)ab+c\.d(?=never)", [[{"c.d"}]]),
        (r"(?:maybe)?surely{2,}(?:often)+x{0,3}", [[{"surel"}, {"often"}]]),
        (r"[\]a](?P<name>\$\{in\})?", [[]]),
    ],
)
def test_the_words_that_a_pattern_needs_are_read_from_it(pattern: str, ways: list[list[set[str]]]) -> None:
    assert [sorted(map(sorted, way)) for way in needed_words(pattern)] == [
        sorted(map(sorted, way)) for way in ways
    ]


def test_a_pattern_whose_words_cannot_be_read_is_refused() -> None:
    with pytest.raises(ValueError, match="not known"):
        Search(r"\x41")


def test_every_search_of_the_scanner_needs_a_word_so_that_a_passage_without_any_is_passed_over() -> None:
    searches = all_searches()
    assert len(searches) > 60
    assert [name for name, search in searches.items() if search.may_match(frozenset())] == []


@pytest.mark.parametrize("place", [KNOWN, HELD_OUT])
def test_no_search_misses_what_its_pattern_finds_in_the_look_alikes(place: Path) -> None:
    searches = all_searches()
    for case in cases(place):
        text = Text(case.file.text or "")
        for name, search in searches.items():
            found, expected = search.search(text), search.regex.search(text.text)
            assert (found is None) == (expected is None), (case.name, name)


def test_a_word_that_joining_makes_is_a_word_of_what_is_joined() -> None:
    Search("login data")
    assert "login data" in joined_words([Text("the Login"), Text("Data of it")], "the Login Data of it")
