"""One spelling for every JSON value, so that digests, hash chains and projected files are reproducible."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

import orjson
from pydantic import BaseModel

from contracts.base import rfc3339

_INDENTED = (
    orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE | orjson.OPT_PASSTHROUGH_DATETIME
)


def canonical_json(value: BaseModel | Mapping[str, Any] | Sequence[Any]) -> str:
    """``value`` as compact JSON with sorted keys; equal values give equal text on every machine.

    A pydantic model loses the fields that are None; a mapping keeps them. An aware time is spelled as on
    the wire. Characters outside ASCII stay themselves, and no newline ever appears outside an escape.

    Raises:
        ValueError: for NaN, an infinity, a naive time, or text that UTF-8 cannot carry.
        TypeError: for a value JSON has no word for.
    """
    return _encoded(value, indent=None)


def document_bytes(value: BaseModel | Mapping[str, Any] | Sequence[Any]) -> bytes:
    """The same data for a file that people read: indented by 2, sorted keys, one trailing newline, UTF-8.

    Raises what ``canonical_json`` raises.
    """
    # Ten times faster than the standard encoder, which indents in Python.
    try:
        content = orjson.dumps(value, _plain, _INDENTED)
    except orjson.JSONEncodeError:
        content = b"null"
    # What is refused, and what orjson writes as null (NaN), the standard encoder has to say.
    return (_encoded(value, indent=2) + "\n").encode() if b"null" in content else content


def digest_of(content: bytes | str) -> str:
    """SHA-256 in lower-case hex; text is hashed as UTF-8."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def _encoded(value: BaseModel | Mapping[str, Any] | Sequence[Any], indent: int | None) -> str:
    text = json.dumps(
        _plain(value) if not isinstance(value, dict | list) else value,
        sort_keys=True,
        ensure_ascii=False,
        allow_nan=False,
        indent=indent,
        separators=(",", ": " if indent else ":"),
        default=_plain,
    )
    text.encode()
    return text


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"the time {value.isoformat()} has no zone; give an aware one")
        return rfc3339(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    if isinstance(value, Sequence):
        return value if isinstance(value, str) else list(cast("Sequence[Any]", value))
    raise TypeError(f"{type(value).__name__} has no JSON form: give a model, mapping, sequence or scalar")
