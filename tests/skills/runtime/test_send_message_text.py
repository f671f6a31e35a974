"""The text that the operator reads (AM-44): what is not given leaves no line."""

import runpy
from pathlib import Path
from typing import Any

import pytest

import skills

HANDLER = Path(*skills.__path__) / "bundled" / "send-message" / "handler.py"
NORMAL, URGENT = "📞 Message from a call:", "🚨 Message from a call:"
FULL = {"message": "Call me back", "caller_name": "Ada", "callback_number": "+15550100"}

GOLDEN: tuple[tuple[dict[str, Any], bool, str], ...] = (
    ({"message": "Call me back"}, False, f"{NORMAL}\nCall me back"),
    ({"message": "Call me back"}, True, f"{URGENT}\nPriority: URGENT\nCall me back"),
    (FULL, False, f"{NORMAL}\nFrom: Ada\nCallback: +15550100\nCall me back"),
    (FULL, True, f"{URGENT}\nFrom: Ada\nCallback: +15550100\nPriority: URGENT\nCall me back"),
)


@pytest.mark.acceptance("AM-44")
@pytest.mark.parametrize(("given", "urgent", "text"), GOLDEN)
def test_the_operator_reads_what_was_given_and_nothing_else(
    given: dict[str, Any], urgent: bool, text: str
) -> None:
    # Run, not imported: nothing may be written beside a handler.
    handler = runpy.run_path(str(HANDLER))
    assert handler["text_of"](handler["cleaned"](given), urgent) == text
