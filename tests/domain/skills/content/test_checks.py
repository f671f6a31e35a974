from typing import Any
from uuid import uuid4

import pytest

from contracts.skills.content import ContentIssue, ContentPackage
from domain.skills.content.checks import RULES, check_content, confidence, offensive_words

OFFENSIVE, CLAIMS, COPIED, PLATFORM = RULES


def _content(script: str = "We tried three coffee shops.", **fields: Any) -> ContentPackage:
    return ContentPackage(content_id=str(uuid4()), script=script, platform="twitter", **fields)


def _found(content: ContentPackage, *published: tuple[str, str]) -> list[tuple[str, str]]:
    return [(one.rule, one.severity) for one in check_content(content, {}, published)]


@pytest.mark.acceptance("CH-28")
@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("We tried three coffee shops.", []),
        ("What the fuck is this coffee?", [(OFFENSIVE, "error")]),
        ("So ein Arschloch.", [(OFFENSIVE, "error")]),
        ("A classic assessment of Scunthorpe.", []),
        ("This tea cures cancer.", [(CLAIMS, "error")]),
        ("She cures ham.", []),
        ("Guaranteed returns of ten a month", [(CLAIMS, "error")]),
        ("We guarantee fast delivery.", []),
        ("It is 100% safe!", [(CLAIMS, "error")]),
        ("100% cotton", []),
        ("Scientists have proven that coffee helps.", [(CLAIMS, "warning")]),
        ("According to the WHO, scientists have proven it.", []),
        ("80 % of people like it.", [(CLAIMS, "warning")]),
        ("80 % of people like it, source: our poll.", []),
        ("Everybody knows it.", [(CLAIMS, "warning")]),
        ("© 2020 Somebody Else", [(COPIED, "warning")]),
    ],
)
@pytest.mark.acceptance("O-20")
def test_each_check_finds_what_it_is_for_and_leaves_the_rest(script: str, found: list[Any]) -> None:
    assert _found(_content(script)) == found


@pytest.mark.acceptance("CH-28")
def test_eight_words_in_a_row_of_an_own_post_are_copied() -> None:
    published = "Today we walk through the old town and drink coffee at nine."
    copied = _content("Yes: today, WE walk through the old town, and drink tea!")
    shorter = _content("We walk through the old town and leave.")
    assert _found(copied, ("other", published)) == [(COPIED, "warning")]
    assert _found(shorter, ("other", published)) == []
    assert _found(copied, (copied.content_id, published)) == []


@pytest.mark.acceptance("CH-28")
@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"captions": ("x" * 280,)}, []),
        ({"captions": ("x" * 281,)}, [(PLATFORM, "error")]),
        ({"hashtags": ("a",) * 10}, []),
        ({"hashtags": ("a",) * 11}, [(PLATFORM, "error")]),
        ({"media_urls": ("https://cdn.example/1.png",) * 4}, []),
        ({"media_urls": ("https://cdn.example/1.png",) * 5}, [(PLATFORM, "error")]),
        ({"media_urls": ("file:///etc/passwd",)}, [(PLATFORM, "error")]),
    ],
)
@pytest.mark.acceptance("O-20")
def test_the_limits_of_the_platform_hold(fields: dict[str, Any], found: list[Any]) -> None:
    assert _found(_content(**fields)) == found


@pytest.mark.acceptance("CH-27")
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_is_switched_off_finds_nothing(rule: str) -> None:
    bad = _content("Fuck, this cures cancer. © 2020", captions=("x" * 281,))
    rules = {issue.rule for issue in check_content(bad, {rule: False}, ())}
    assert rules == set(RULES) - {rule}


def test_no_message_repeats_an_offensive_word_or_an_address() -> None:
    bad = _content("What the fuck", media_urls=("file:///home/secret",))
    shown = " ".join(issue.message for issue in check_content(bad, {}, ()))
    assert "fuck" not in shown
    assert "secret" not in shown


def _issues(**counts: int) -> list[ContentIssue]:
    return [
        ContentIssue(rule=OFFENSIVE, severity=severity, message="x")
        for severity, number in counts.items()
        for _ in range(number)
    ]


@pytest.mark.acceptance("CH-29")
@pytest.mark.parametrize(
    ("counts", "score"),
    [
        ({}, 1.0),
        ({"error": 1}, 0.5),
        ({"error": 2}, 0.0),
        ({"error": 3}, 0.0),
        ({"warning": 1}, 0.9),
        ({"warning": 2}, 0.81),
        ({"info": 1}, 0.99),
        ({"error": 1, "warning": 1, "info": 1}, 0.45),
    ],
)
@pytest.mark.acceptance("O-10")
def test_the_score_is_the_documented_product(counts: dict[str, int], score: float) -> None:
    assert confidence(_issues(**counts)) == score


@pytest.mark.acceptance("CH-29")
def test_more_or_graver_issues_never_raise_the_score() -> None:
    for errors in range(3):
        for warnings in range(4):
            less = confidence(_issues(error=errors, warning=warnings))
            assert confidence(_issues(error=errors + 1, warning=warnings)) <= less
            assert confidence(_issues(error=errors, warning=warnings + 1)) <= less


def test_banned_words_of_a_persona_count_as_whole_words() -> None:
    assert offensive_words("A cheap deal", ("cheap",)) == ("cheap",)
    assert offensive_words("Cheaper deals", ("cheap",)) == ()
    assert offensive_words("black  friday!", ("Black Friday",)) == ("black friday",)
