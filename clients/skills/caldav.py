"""A CalDAV collection (RFC 4791): its events of a time, and a new one, by two requests."""

import base64
import re
from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import quote, urljoin
from xml.etree import ElementTree

from clients.platform.json_post import Answered, RequestFailed, request_once
from clients.platform.key_reference import KeyUnavailable

WITHIN_SECONDS = 2.0
"""For one request: a creation makes two within the 5 s of the skill."""

_QUERY = (
    '<?xml version="1.0" encoding="utf-8"?>'
    '<c:calendar-query xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav">'
    "<d:prop><d:getetag/><c:calendar-data/></d:prop>"
    '<c:filter><c:comp-filter name="VCALENDAR"><c:comp-filter name="VEVENT">'
    '<c:time-range start="{start}" end="{end}"/>'
    "</c:comp-filter></c:comp-filter></c:filter></c:calendar-query>"
)
_DATA = "{urn:ietf:params:xml:ns:caldav}calendar-data"
_NAME = re.compile(r"[^/\\\0?#%]{1,120}")


class CalDavFailed(Exception):
    """The collection did not do it; ``may_have_arrived`` leaves open whether it did. The text names no secret."""

    def __init__(self, text: str, *, may_have_arrived: bool = False) -> None:
        super().__init__(text)
        self.may_have_arrived = may_have_arrived


class CalDav:
    """A collection and those beside it; each calendar is named by the last part of its address."""

    def __init__(self, url: str, user: str | None = None, password: Callable[[], str] | None = None) -> None:
        """``password`` is read at each use."""
        self._url = url.rstrip("/") + "/"
        self._user = user
        self._password = password

    async def events(self, name: str | None, start: datetime, end: datetime) -> list[str]:
        """The calendars, of an event each, that touch a time; repetitions are not counted out.

        Raises:
            CalDavFailed
        """
        query = _QUERY.format(start=_utc(start), end=_utc(end))
        headers = {"Depth": "1", "Content-Type": "application/xml; charset=utf-8"}
        answer = await self._request("REPORT", self._address(name), query.encode(), headers)
        if answer.status != 207:
            raise CalDavFailed(f"the calendar server answered {answer.status}")
        if b"<!DOCTYPE" in answer.body or b"<!ENTITY" in answer.body:
            raise CalDavFailed("the calendar server answered a document with a definition of its own")
        try:
            found = ElementTree.fromstring(answer.body)  # noqa: S314 - definitions are refused above
        except ElementTree.ParseError:
            raise CalDavFailed("the calendar server answered what is no XML") from None
        return [text for one in found.iter(_DATA) if (text := one.text) and text.strip()]

    async def create(self, name: str | None, uid: str, text: str) -> bool:
        """Puts an event there; false where one of this UID is there already.

        Raises:
            CalDavFailed
        """
        headers = {"If-None-Match": "*", "Content-Type": "text/calendar; charset=utf-8"}
        address = urljoin(self._address(name), f"{quote(uid, safe='@')}.ics")
        answer = await self._request("PUT", address, text.encode(), headers)
        if answer.status == 412:
            return False
        if not answer.accepted:
            raise CalDavFailed(f"the calendar server answered {answer.status}")
        return True

    def _address(self, name: str | None) -> str:
        if name is None:
            return self._url
        if not _NAME.fullmatch(name) or name in (".", ".."):
            raise CalDavFailed("there is no calendar of this name")
        return urljoin(self._url, f"../{quote(name, safe='')}/")

    async def _request(self, method: str, url: str, body: bytes, headers: dict[str, str]) -> Answered:
        if self._user is not None and self._password is not None:
            try:
                pair = f"{self._user}:{self._password()}"
            except KeyUnavailable as error:
                raise CalDavFailed(f"the calendar's password: {error}") from None
            headers = {**headers, "Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
        try:
            return await request_once(method, url, body=body, headers=headers, within_seconds=WITHIN_SECONDS)
        except RequestFailed as error:
            maybe = error.may_have_arrived
            raise CalDavFailed(f"the calendar server: {error}", may_have_arrived=maybe) from None


def _utc(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"
