"""Which failures of a learned ability's script are its own fault (ADR 42, ADR 72)."""

import pytest

from domain.skills.health import OWN_FAULTS
from domain.skills.learned.scripts import failure_of, learned_manifest
from domain.skills.retrying import attempts_allowed


@pytest.mark.acceptance("X-35")
@pytest.mark.parametrize(
    ("status", "timed_out", "code", "its_own"),
    [
        # It says that it does not want the folder or the arguments, or a program is missing here.
        (1, False, "SCRIPT_FAILED", False),
        (2, False, "SCRIPT_FAILED", False),
        (126, False, "SCRIPT_FAILED", False),
        (127, False, "SCRIPT_FAILED", False),
        # Also said by programs of themselves: git for a wrong option, perl for what it dies of.
        (129, False, "SCRIPT_FAILED", False),
        (255, False, "SCRIPT_FAILED", False),
        (134, False, "HANDLER_FAILED", True),
        (137, False, "HANDLER_FAILED", True),
        (139, False, "HANDLER_FAILED", True),
        # The sandbox ended it at one of its limits.
        (None, False, "HANDLER_FAILED", True),
        (None, True, "TIMEOUT", True),
    ],
)
def test_what_crashes_or_hangs_is_its_own_fault(
    status: int | None, timed_out: bool, code: str, its_own: bool
) -> None:
    assert failure_of(status, timed_out=timed_out) == code
    assert (code in OWN_FAULTS) is its_own


def test_a_script_that_hung_is_not_run_again_by_itself() -> None:
    manifest = learned_manifest("count", 1, ["count.sh"])
    assert attempts_allowed(manifest, "TIMEOUT") == 1
    assert manifest.max_attempts == 2
