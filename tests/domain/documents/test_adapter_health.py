from datetime import UTC, datetime

import pytest

from contracts.documents.acrobat import AcrobatAdapterState, AcrobatCapability
from domain.documents.acrobat import adapter_health

NOW = datetime(2026, 3, 2, tzinfo=UTC)
ALL = {"reading": True, "recognition": True, "confinement": True, "enabled": True}


def test_with_everything_there_every_capability_is_offered_and_nothing_is_to_be_done() -> None:
    found = adapter_health(**ALL, now=NOW)
    assert found.adapter_state is AcrobatAdapterState.HEALTHY
    assert found.supported_capabilities == tuple(AcrobatCapability)
    assert (found.reason_code, found.next_action) == (None, None)


@pytest.mark.parametrize(
    ("lacking", "state", "offered"),
    [
        ("reading", AcrobatAdapterState.MISSING, 0),
        ("enabled", AcrobatAdapterState.DISABLED, 0),
        ("recognition", AcrobatAdapterState.DEGRADED, 3),
        ("confinement", AcrobatAdapterState.DEGRADED, 4),
    ],
)
def test_what_is_lacking_is_named_with_what_to_do_and_only_the_rest_is_offered(
    lacking: str, state: AcrobatAdapterState, offered: int
) -> None:
    found = adapter_health(**(ALL | {lacking: False}), now=NOW)
    assert found.adapter_state is state
    assert len(found.supported_capabilities) == offered
    assert found.reason_code
    assert found.next_action
    assert (AcrobatCapability.OCR in found.supported_capabilities) == (lacking == "confinement")
