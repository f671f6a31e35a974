"""Input and answer of a run, held to their limits; the answer's shape is that of ``domain.skills.outcomes`` (AM-26)."""

import json
from typing import Any

from contracts.skills.invocation import MAX_INPUT_BYTES, MAX_OUTPUT_BYTES
from domain.skills.outcomes import answer_problem
from skills.runtime.skill_run import failed


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
    if (problem := answer_problem(answer)) is not None:
        raise failed("OUTPUT_INVALID", problem)
    if len(json.dumps(answer).encode()) > MAX_OUTPUT_BYTES:
        raise failed("OUTPUT_TOO_LARGE", f"the handler answered more than {MAX_OUTPUT_BYTES} bytes")
    return answer
