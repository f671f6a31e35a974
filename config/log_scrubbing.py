"""Keeps secrets out of log lines, whoever wrote them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

MASK = "***"

_SECRET_KEY = re.compile(
    r"(?:^|[_\-.])(?:authorization|cookie|password|passwd|secret|token|api[_\-]?key|private[_\-]?key)$",
    re.IGNORECASE,
)
_SECRET_IN_TEXT = (
    # Our own tokens, whatever stands around them.
    (re.compile(r"\bapr_[A-Za-z0-9_\-]{4,}"), "apr_" + MASK),
    (re.compile(r"\b(bearer|basic)\s+[A-Za-z0-9._~+/\-]{4,}=*", re.IGNORECASE), r"\1 " + MASK),
    # The password of a URL.
    (re.compile(r"(://[^/\s:@]*):[^/\s@]+@"), r"\1:" + MASK + "@"),
    (
        re.compile(
            r"\b((?:access_|refresh_|id_)?token|client_secret|password|api_?key)=[^\s&\"']+", re.IGNORECASE
        ),
        r"\1=" + MASK,
    ),
)


def scrub_text(text: str) -> str:
    """``text`` with everything that looks like a secret masked."""
    for pattern, replacement in _SECRET_IN_TEXT:
        text = pattern.sub(replacement, text)
    return text


def scrub(value: Any) -> Any:
    """``value`` with secrets masked, in nested mappings and sequences too; a copy where it holds any."""
    if isinstance(value, str):
        return scrub_text(value)
    if isinstance(value, Mapping):
        items = cast(Mapping[Any, Any], value).items()
        return {key: MASK if _names_a_secret(key, held) else scrub(held) for key, held in items}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [scrub(item) for item in cast(Sequence[Any], value)]
    return value


def _names_a_secret(key: object, held: object) -> bool:
    return held is not None and isinstance(key, str) and bool(_SECRET_KEY.search(key))
