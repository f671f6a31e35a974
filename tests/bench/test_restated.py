"""Goals that are said again keep what they ask for."""

import random

from bench.restated import restated, shortened
from domain.abilities.fit.words import is_content, tokens, word_of
from tests.domain.abilities.fit.tables import TABLES, groups_of

GOALS = [one.goal for name in TABLES for group in groups_of(TABLES[name]) for one in group]
AROUND = frozenset(
    word_of(token).meaning
    for token in tokens("please need want help time let's like go according per one every")
)


def meanings(text: str) -> frozenset[str]:
    return frozenset(word_of(token).meaning for token in tokens(text) if is_content(token))


def test_a_goal_said_again_has_its_content_words_and_seldom_its_sentence() -> None:
    chance = random.Random(1)
    again = [(goal, restated(goal, chance)) for goal in GOALS]
    assert [pair for pair in again if (meanings(pair[0]) ^ meanings(pair[1])) - AROUND] == []
    assert sum(goal.lower() == said for goal, said in again) < 0.1 * len(again)


def test_only_a_last_part_that_is_short_is_left_out() -> None:
    assert shortened("Count the words of every chapter and sort them by number") == (
        "Count the words of every chapter and sort them"
    )
    assert shortened("Sort the letters by date") == "Sort the letters by date"
    assert all(
        goal.startswith(shortened(goal)) and len(shortened(goal)) >= min(25, len(goal)) for goal in GOALS
    )
