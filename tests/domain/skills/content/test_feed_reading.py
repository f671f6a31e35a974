import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from domain.skills.content.feed_reading import MAX_DEPTH, MalformedFeed, read_feed
from domain.skills.content.trends import Wanted, choose, window_of

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)

RSS = """<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:ht="https://trends.google.com/trending/rss" xmlns:slash="http://purl.org/rss/1.0/modules/slash/">
<channel><title>Trends</title><item>{item}</item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/"><entry>{item}</entry></feed>"""


def _one(body: str | bytes) -> dict[str, Any]:
    (found,) = read_feed(body.encode() if isinstance(body, str) else body, "news", NOW)
    return found


@pytest.mark.acceptance("CH-09")
def test_an_item_of_rss_becomes_a_trend() -> None:
    found = _one(
        RSS.format(
            item="<title>Fashion &amp;amp; luxury</title><link>https://news.example/1</link><guid>g-1</guid>"
            "<pubDate>Fri, 20 Nov 2026 10:00:00 +0200</pubDate><ht:approx_traffic>20,000+</ht:approx_traffic>"
            "<description><![CDATA[<p>Seen in <b>Lagos</b>.</p>]]></description><category>#style</category>"
        )
    )
    assert found == {
        "trend_id": "g-1",
        "topic": "Fashion & luxury",
        "platform": "news",
        "engagement_score": 20_000,
        "detected_at": "2026-11-20T08:00:00.000000Z",
        "url": "https://news.example/1",
        "summary": "Seen in Lagos .",
        "hashtags": ["style"],
    }


@pytest.mark.acceptance("CH-09")
def test_an_entry_of_atom_becomes_a_trend() -> None:
    found = _one(
        ATOM.format(
            item='<id>tag:1</id><title>Coffee</title><link rel="self" href="https://a.example/self"/>'
            '<link href="https://a.example/1"/><updated>2026-11-20T11:00:00Z</updated>'
            '<media:group><media:community><media:statistics views="1234"/></media:community></media:group>'
            '<category term="food"/><summary>Beans</summary>'
        )
    )
    assert (found["url"], found["engagement_score"], found["hashtags"]) == (
        "https://a.example/1",
        1234,
        ["food"],
    )


@pytest.mark.acceptance("CH-09")
def test_trends_as_json_are_taken_as_they_are() -> None:
    trend = {
        "trend_id": "t1",
        "topic": "Coffee",
        "platform": "twitter",
        "engagement_score": 12_000,
        "velocity": 1.5,
        "detected_at": "2026-11-20T11:00:00Z",
    }
    found = _one(json.dumps({"trends": [trend, {"engagement_score": 3}, "x"]}))
    assert found == {**trend, "detected_at": "2026-11-20T11:00:00.000000Z"}


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("12,345", 12_345),
        ("20K+", 20_000),
        ("1.5M", 1_500_000),
        ("200.000", 200_000),
        ("1 000+", 1_000),
        ("7", 7),
        ("2.5", 2),
        ("500+ searches", 500),
        ("many", 0),
        ("-5", 5),
    ],
)
def test_numbers_are_read_as_feeds_write_them(words: str, number: int) -> None:
    item = f"<title>a</title><ht:approx_traffic>{words}</ht:approx_traffic>"
    assert _one(RSS.format(item=item))["engagement_score"] == number


@pytest.mark.parametrize(
    ("item", "score"),
    [
        ("<comments>https://news.example/1#comments</comments>", 0),
        ("<comments>https://news.example/1#comments</comments><slash:comments>12</slash:comments>", 12),
        ("<slash:comments>12</slash:comments><ht:approx_traffic>3</ht:approx_traffic>", 3),
    ],
)
def test_comments_count_where_nothing_else_is_said(item: str, score: int) -> None:
    assert _one(RSS.format(item=f"<title>a</title>{item}"))["engagement_score"] == score


BOMB = '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><rss><channel>&b;</channel></rss>'
OUTSIDE = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss><channel>&x;</channel></rss>'


@pytest.mark.acceptance("CH-13")
@pytest.mark.parametrize(
    "body",
    [
        BOMB,
        OUTSIDE,
        "",
        "<rss><channel>",
        "<html/>",
        "{",
        "[]",
        "{}",
        '{"trends": 3}',
        '<?xml version="1.0" encoding="no-such"?><rss/>',
        "<a>" * (MAX_DEPTH + 2),
        "<rss>" + "<i/>" * 100_001 + "</rss>",
        "[" * 100_000,
    ],
)
def test_what_is_no_feed_is_refused_without_looking_anything_up(body: str) -> None:
    with pytest.raises(MalformedFeed) as refused:
        read_feed(body.encode(), "news", NOW)
    assert "passwd" not in str(refused.value)


def test_addresses_that_are_not_of_the_web_are_left_out() -> None:
    item = "<title>a</title><link>javascript:alert(1)</link>"
    assert "url" not in _one(RSS.format(item=item))


def _trend(number: int, **fields: Any) -> dict[str, Any]:
    known = {"trend_id": str(number), "topic": f"topic {number}", "engagement_score": 20_000}
    return {**known, "detected_at": "2026-11-20T11:00:00.000000Z", **fields}


def _wanted(**fields: Any) -> Wanted:
    known: dict[str, Any] = {
        "window": timedelta(hours=4),
        "min_engagement": 10_000,
        "exclude": (),
        "limit": 50,
    }
    return Wanted(**{**known, **fields})


@pytest.mark.acceptance("CH-09")
@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ({}, True),
        ({"detected_at": "2026-11-20T08:00:00.000000Z"}, True),
        ({"detected_at": "2026-11-20T07:59:59.999999Z"}, False),
        ({"engagement_score": 10_000}, True),
        ({"engagement_score": 9_999}, False),
        ({"topic": "The Party politics of today"}, False),
        ({"topic": "party, politics"}, False),
        ({"topic": "A party about politics"}, True),
        ({"topic": "partypolitics"}, True),
        ({"hashtags": ["PartyPolitics"]}, False),
        ({"hashtags": ["party"]}, True),
    ],
)
def test_window_engagement_and_excluded_topics_decide(fields: dict[str, Any], kept: bool) -> None:
    chosen = choose([_trend(1, **fields)], _wanted(exclude=("Party politics",)), NOW)
    assert bool(chosen.trends) is kept


@pytest.mark.acceptance("CH-08")
def test_of_more_than_the_limit_the_most_talked_about_are_given() -> None:
    found = [_trend(number, engagement_score=10_000 + number) for number in range(120)]
    chosen = choose([*found, *found], _wanted(), NOW)
    assert [one["trend_id"] for one in chosen.trends] == [str(number) for number in range(119, 69, -1)]
    assert chosen.truncated
    assert not choose(found[:50], _wanted(), NOW).truncated


def test_trends_that_name_no_engagement_are_counted() -> None:
    assert choose([_trend(1, engagement_score=0), _trend(2)], _wanted(), NOW).unmeasured == 1


@pytest.mark.parametrize(
    ("text", "hours"), [("4h", 4), ("1d", 24), ("0h", 0), ("99999999999999999999d", 876_000)]
)
def test_a_window_is_read_up_to_a_hundred_years(text: str, hours: int) -> None:
    assert window_of(text) == timedelta(hours=hours)
