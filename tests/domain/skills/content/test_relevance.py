import pytest

from contracts.skills.content import Trend
from domain.skills.content.relevance import MAX_REASONING_CHARS, relevance


def _score(topic: str, *goals: str, summary: str | None = None, hashtags: tuple[str, ...] = ()) -> float:
    trend = Trend(topic=topic, engagement_score=1, summary=summary, hashtags=hashtags)
    return relevance(trend, goals)[0]


@pytest.mark.acceptance("CH-15", "CH-18")
@pytest.mark.parametrize(
    ("topic", "goals", "summary", "score"),
    [
        ("Fashion week in Lagos", ("fashion",), None, 1.0),
        ("Luxury fashion in Lagos", ("fashion", "luxury_brands", "Ethiopia"), None, 1.0),
        ("Luxury hotels", ("luxury_brands",), None, 0.5),
        ("Luxury hotels", ("luxury_brands", "quiet luxury"), None, 0.75),
        ("A new phone", ("fashion",), None, 0.0),
        ("A new phone", ("fashion",), "Seen at the fashion week", 0.85),
        ("African designers", ("Africa",), None, 1.0),
        ("Brands of the year", ("brand",), None, 1.0),
        ("Carpet sale", ("car",), None, 0.0),
        ("Category theory", ("cat",), None, 0.0),
        ("FASHION!", ("Fashion",), None, 1.0),
        ("Mode in Äthiopien", ("äthiopien",), None, 1.0),
        ("x", ("---",), None, 0.0),
    ],
)
def test_a_trend_is_scored_by_the_words_of_the_goals(
    topic: str, goals: tuple[str, ...], summary: str | None, score: float
) -> None:
    assert _score(topic, *goals, summary=summary) == score


@pytest.mark.acceptance("CH-17")
def test_neither_the_order_nor_the_number_of_times_of_goals_counts() -> None:
    assert _score("Luxury hotels", "luxury brands", "hotel deals") == _score(
        "Luxury hotels", "hotel deals", "luxury brands", "hotel deals"
    )


def test_more_goals_never_make_a_trend_less_relevant() -> None:
    goals = ("luxury brands", "hotel deals", "music", "travel by train")
    scores = [_score("Luxury hotels by the train", *goals[:number]) for number in range(1, 5)]
    assert scores == sorted(scores)


def test_a_hashtag_counts_like_the_topic() -> None:
    assert _score("Look", "fashion", hashtags=("fashion",)) == 1.0


def test_reasons_stay_within_their_length() -> None:
    goals = [f"fashion {'x' * 90}{number}" for number in range(10)]
    trend = Trend(topic="fashion", engagement_score=1)
    assert len(relevance(trend, goals)[1]) <= MAX_REASONING_CHARS
