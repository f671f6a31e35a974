"""The formats of JSON Schema that are rules for skills' own inputs and outputs: uuid, date-time, date, uri."""

import re
from datetime import date, datetime

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

_DATE_TIME = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})", re.ASCII
)

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!#$%&'()*+,/0-9:;=?@A-Z\[\]_a-z~.-]+")

_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")

MAX_URI_CHARS = 8_192


def has_format(name: object, value: str) -> bool | None:
    """Whether the text has the format; none for a format that is no rule here. Linear in the text's length.

    ``date-time`` is RFC 3339 with its offset: a time without one is nobody's time. ``uri`` is an absolute one.
    """
    match name:
        case "uuid":
            return _UUID.fullmatch(value) is not None
        case "date-time":
            return _is_date_time(value)
        case "date":
            return _DATE.fullmatch(value) is not None and _is_date(value)
        case "uri":
            return len(value) <= MAX_URI_CHARS and bool(_URI.fullmatch(value)) and not _PERCENT.search(value)
        case _:
            return None


def _is_date_time(value: str) -> bool:
    found = _DATE_TIME.fullmatch(value)
    if found is None:
        return False
    day, time, offset = found.groups()
    # A leap second is a time that the standard allows and the library does not know.
    if time.endswith(":60"):
        time = f"{time[:-2]}59"
    try:
        datetime.fromisoformat(f"{day}T{time}{'+00:00' if offset in 'Zz' else offset}")
    except ValueError:
        return False
    return True


def _is_date(value: str) -> bool:
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True
