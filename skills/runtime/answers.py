"""The answer of a handler, checked for its documented shape (AM-26): ``{success, result?, message?, error?}``.

``status``, ``warnings`` and ``observables`` may be added (AI-23), and ``error`` may name a code; what they say is
judged by ``domain.skills.outcomes``.
"""

import json
from typing import Any, cast

from contracts.skills.invocation import MAX_INPUT_BYTES, MAX_OUTPUT_BYTES
from skills.runtime.skill_run import failed

_TEXTS = ("message", "error")
_FIELDS = frozenset({"success", "result", "status", "warnings", "observables", *_TEXTS})


def as_object(value: Any) -> dict[str, Any] | None:
    """A JSON value as the object it is, or None where it is none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def check_input(params: dict[str, Any]) -> None:
    """Refuses an input that is longer than 256 KiB.

    Raises:
        RunFailed: ``INVALID_INPUT``.
    """
    if len(json.dumps(params).encode()) > MAX_INPUT_BYTES:
        raise failed("INVALID_INPUT", f"the input is longer than {MAX_INPUT_BYTES} bytes")


def checked_answer(answer: Any) -> dict[str, Any]:
    """The answer, where it has the shape that it must have.

    Raises:
        RunFailed: ``OUTPUT_INVALID`` with the field, ``OUTPUT_TOO_LARGE`` over 1 MiB.
    """
    given = as_object(answer)
    if given is None:
        raise failed("OUTPUT_INVALID", "the handler answered no object with success, result and message")
    if not isinstance(given.get("success"), bool):
        raise failed("OUTPUT_INVALID", "the handler's answer has no boolean success")
    for field in _TEXTS:
        names_a_code = field == "error" and as_object(given.get(field)) is not None
        if not (names_a_code or isinstance(given.get(field), str | None)):
            raise failed("OUTPUT_INVALID", f"the handler's {field} is no text")
    if unknown := sorted(set(given) - _FIELDS):
        raise failed(
            "OUTPUT_INVALID", f"the handler's answer has a field that is not known: {unknown[0][:80]}"
        )
    if len(json.dumps(given).encode()) > MAX_OUTPUT_BYTES:
        raise failed("OUTPUT_TOO_LARGE", f"the handler answered more than {MAX_OUTPUT_BYTES} bytes")
    return given
