"""Reads trends out of feeds: RSS 2.0, Atom, and JSON (``{"trends": [TrendData]}`` or JSON Feed). CH-09, O-1.

A feed is untrusted. XML is read without document types, so that no entity is ever expanded and nothing outside of it is
looked up, and within bounds of depth and number.
"""

import hashlib
import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, cast
from urllib.parse import urlsplit
from xml.parsers import expat

from contracts.base import clipped, rfc3339

MAX_ELEMENTS, MAX_DEPTH, MAX_ITEMS = 100_000, 64, 2_000
"""How many elements a feed may have, how deep they may lie, and how many of its items are read."""

MAX_TOPIC_CHARS, MAX_SUMMARY_CHARS, MAX_HASHTAGS, MAX_URL_CHARS = 200, 1_000, 30, 2_000

_SPACE = re.compile(r"\s+")
_TAG = re.compile(r"<[^<>]{0,2000}>")
_COUNT = re.compile(r"(\d{1,3}(?:[,.\u00a0 ]\d{3})+|\d+(?:\.\d+)?)\s*([kKmM]?)\+?")
_FACTOR = {"": 1, "k": 1_000, "m": 1_000_000}


class MalformedFeed(Exception):
    """The feed cannot be read; the text says why, and holds nothing of it."""


@dataclass
class _Element:
    name: str
    attributes: Mapping[str, str]
    text: str = ""
    children: "list[_Element]" = field(default_factory=list["_Element"])

    def first(self, *names: str) -> "_Element | None":
        """The first child of one of the names, in the order of the names."""
        found = (child for name in names for child in self.children if child.name == name)
        return next(found, None)

    def words(self, *names: str) -> str:
        """The text of the first child of one of the names."""
        found = self.first(*names)
        return found.text.strip() if found is not None else ""

    def within(self) -> "Iterator[_Element]":
        """All below it."""
        for child in self.children:
            yield child
            yield from child.within()


def read_feed(body: bytes, platform: str, fetched_at: datetime) -> tuple[dict[str, Any], ...]:
    """The trends of a feed, as they stand in it.

    ``engagement_score`` is 0 where the feed names none; an item without a time is from ``fetched_at``.

    Raises:
        MalformedFeed: it is none of the formats.
    """
    start = body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start in (b"{", b"["):
        return tuple(_of_json(body, platform, fetched_at))
    return tuple(_of_xml(_document(body), platform, fetched_at))


# ---- XML ----


def _document(body: bytes) -> _Element:
    root = _Element("", {})
    open_now, count = [root], 0

    def begin(name: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MAX_ELEMENTS or len(open_now) > MAX_DEPTH:
            raise MalformedFeed("the feed has too many elements")
        plain = {_local(key): value for key, value in attributes.items()}
        element = _Element(_local(name), plain)
        open_now[-1].children.append(element)
        open_now.append(element)

    def end(_: str) -> None:
        open_now.pop()

    def text(data: str) -> None:
        open_now[-1].text += data

    def refuse(*_: object) -> None:
        raise MalformedFeed("the feed has a document type, which is not read")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = begin, end, text
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(body, True)
    except expat.ExpatError as error:
        raise MalformedFeed(f"the feed is no XML (line {error.lineno})") from None
    except (ValueError, LookupError):
        raise MalformedFeed("the feed has an encoding that is not known") from None
    return root


def _local(name: str) -> str:
    return name.rpartition(" ")[2].lower()


def _of_xml(root: _Element, platform: str, fetched_at: datetime) -> Iterator[dict[str, Any]]:
    top = root.children[0]
    if top.name in ("rss", "rdf"):
        channel = top.first("channel") or top
        items = [child for one in (channel, top) for child in one.children if child.name == "item"]
    elif top.name == "feed":
        items = [child for child in top.children if child.name == "entry"]
    else:
        raise MalformedFeed("the feed is neither RSS nor Atom")
    for item in items[:MAX_ITEMS]:
        topic = _plain(item.words("title"))
        if topic:
            yield _item(item, topic, platform, fetched_at)


def _item(item: _Element, topic: str, platform: str, fetched_at: datetime) -> dict[str, Any]:
    url = _link(item)
    at = _time(item.words("pubdate", "published", "updated", "date")) or fetched_at
    return _trend(
        trend_id=item.words("guid", "id") or url or topic,
        topic=topic,
        platform=platform,
        score=_engagement(item),
        at=at,
        url=url,
        summary=_plain(item.words("description", "summary", "encoded", "content")),
        hashtags=[
            one.text.strip() or one.attributes.get("term", "")
            for one in item.children
            if one.name == "category"
        ],
    )


def _link(item: _Element) -> str | None:
    links = [child for child in item.children if child.name == "link"]
    for link in links:
        if link.attributes.get("rel", "alternate") == "alternate":
            return _url(link.attributes.get("href") or link.text.strip())
    return None


_COUNTS = ("engagement_score", "engagement", "approx_traffic")
"""Elements of feeds that say how much something is talked about; after them, views and numbers of comments."""


def _engagement(item: _Element) -> int:
    for name in _COUNTS:
        if words := item.words(name):
            return _count(words)
    for below in item.within():
        if below.name == "statistics" and "views" in below.attributes:
            return _count(below.attributes["views"])
    for child in item.children:
        # slash:comments and thr:total are numbers; RSS's own comments are an address.
        if child.name in ("comments", "total") and child.text.strip().isdecimal():
            return _count(child.text)
    return 0


# ---- JSON ----


def _of_json(body: bytes, platform: str, fetched_at: datetime) -> Iterator[dict[str, Any]]:
    try:
        given: object = json.loads(body)
    except (ValueError, RecursionError):
        raise MalformedFeed("the feed is no JSON") from None
    whole = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    items = whole.get("trends", whole.get("items"))
    if not isinstance(items, list):
        raise MalformedFeed("the feed has neither a list of trends nor one of items")
    for item in cast("list[object]", items)[:MAX_ITEMS]:
        if isinstance(item, dict) and (
            found := _of_object(cast("dict[str, Any]", item), platform, fetched_at)
        ):
            yield found


def _of_object(item: Mapping[str, Any], platform: str, fetched_at: datetime) -> dict[str, Any] | None:
    topic = _plain(_words(item, "topic") or _words(item, "title"))
    if not topic:
        return None
    url = _url(_words(item, "url"))
    given = item.get("engagement_score")
    tags = item.get("hashtags", item.get("tags"))
    score = int(given) if isinstance(given, int | float) and not isinstance(given, bool) else 0
    found = _trend(
        trend_id=_words(item, "trend_id") or _words(item, "id") or url or topic,
        topic=topic,
        platform=_words(item, "platform") or platform,
        score=score,
        at=_time(_words(item, "detected_at") or _words(item, "date_published")) or fetched_at,
        url=url,
        summary=_plain(_words(item, "summary") or _words(item, "content_text")),
        hashtags=[one for one in cast("list[object]", tags) if isinstance(one, str)]
        if isinstance(tags, list)
        else [],
    )
    velocity = item.get("velocity")
    if isinstance(velocity, int | float) and not isinstance(velocity, bool):
        found["velocity"] = velocity
    return found


def _words(item: Mapping[str, Any], name: str) -> str:
    value = item.get(name)
    return value if isinstance(value, str) else ""


# ---- parts ----


def _trend(
    *,
    trend_id: str,
    topic: str,
    platform: str,
    score: int,
    at: datetime,
    url: str | None,
    summary: str,
    hashtags: list[str],
) -> dict[str, Any]:
    """A TrendData (O-1); what is not known is left out."""
    known = trend_id if len(trend_id) <= 120 else hashlib.sha256(trend_id.encode()).hexdigest()
    tags = [clipped(_plain(tag).lstrip("#"), 80) for tag in hashtags if _plain(tag)]
    return {
        "trend_id": known,
        "topic": clipped(topic, MAX_TOPIC_CHARS),
        "platform": clipped(platform, 80),
        "engagement_score": min(max(score, 0), 2**53 - 1),
        "detected_at": rfc3339(at),
        **({"url": url} if url else {}),
        **({"summary": clipped(summary, MAX_SUMMARY_CHARS)} if summary else {}),
        **({"hashtags": list(dict.fromkeys(tags))[:MAX_HASHTAGS]} if tags else {}),
    }


def _plain(text: str) -> str:
    """Text without markup and control characters, on one line."""
    without = _TAG.sub(" ", html.unescape(_TAG.sub(" ", text)))
    return _SPACE.sub(" ", "".join(c if c.isprintable() else " " for c in without)).strip()


def _url(text: str) -> str | None:
    try:
        parts = urlsplit(text.strip())
    except ValueError:
        return None
    fits = parts.scheme in ("http", "https") and parts.hostname and len(text) <= MAX_URL_CHARS
    return text.strip() if fits else None


def _count(words: str) -> int:
    """A number as feeds write it: 12345, 12,345, 20K+, 1.5M."""
    found = _COUNT.search(words)
    if found is None:
        return 0
    digits, unit = found.group(1), found.group(2).lower()
    if unit:
        return int(float(digits.replace(",", "")) * _FACTOR[unit])
    return int(re.sub(r"\D", "", digits) if re.search(r"[,.\u00a0 ]\d{3}", digits) else float(digits))


def _time(words: str) -> datetime | None:
    if not words:
        return None
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            at = read(words)
            return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, TypeError, OverflowError):
            continue
    return None
