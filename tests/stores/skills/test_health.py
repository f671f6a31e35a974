"""A skill whose runs fail by its own fault is refused by the gate, until a person approves it again."""

from datetime import timedelta

import pytest

from contracts.skills.catalog import SkillRecord, SkillRoot, SkillState
from contracts.skills.invocation import InvocationStatus, SkillOutcome
from contracts.skills.invocation_work import AttemptOrder
from contracts.skills.manifest import SkillManifest
from domain.skills.outcomes import error_of
from stores.platform.database import Database
from stores.skills.attempts import AttemptResult, SkillAttempts
from stores.skills.catalog import SkillCatalog
from tests.domain.skills.manifests import manifest
from tests.stores.skills.admitted import NOW, Gate

PROBE = manifest()


def found(skill: SkillManifest = PROBE, digest: str = "0" * 64) -> SkillRecord:
    return SkillRecord(
        root=SkillRoot.WORKSPACE,
        name=skill.name,
        state=SkillState.READY,
        digest=digest,
        path="/skills/probe",
        manifest=skill,
        seen_at=NOW,
    )


@pytest.fixture
def catalog(store: Database) -> SkillCatalog:
    catalog = SkillCatalog(store)
    catalog.replace([found()])
    return catalog


def fail(store: Database, times: int, code: str = "HANDLER_FAILED") -> None:
    attempts = SkillAttempts(store, confirmation_expiry=timedelta(minutes=30))
    gate = Gate(store)
    error = error_of(PROBE, code, "It went wrong.")
    failed = AttemptResult(SkillOutcome(status=InvocationStatus.FAILURE, error=error), acted=False)
    for _ in range(times):
        order = AttemptOrder(invocation_id=gate.admit(PROBE).kept.record.invocation_id, attempt=1, at=NOW)
        attempts.begin(order)
        attempts.finish(order, failed, NOW)


def state(catalog: SkillCatalog) -> tuple[SkillState, str | None]:
    (one,) = catalog.named("probe")
    return one.state, one.reason


def test_the_fifth_fault_takes_a_skill_out_of_use(store: Database, catalog: SkillCatalog) -> None:
    fail(store, 4)
    assert state(catalog) == (SkillState.READY, None)
    fail(store, 1)
    now, reason = state(catalog)
    assert now is SkillState.QUARANTINED
    assert reason is not None
    assert "approve it again" in reason


def test_reading_the_roots_again_brings_nothing_back(store: Database, catalog: SkillCatalog) -> None:
    fail(store, 5)
    catalog.replace([found()])
    assert state(catalog)[0] is SkillState.QUARANTINED


def test_another_content_and_another_word_of_a_person_begin_anew(
    store: Database, catalog: SkillCatalog
) -> None:
    fail(store, 5)
    catalog.replace([found(digest="1" * 64)])
    assert state(catalog)[0] is SkillState.READY
    catalog.replace([found()])
    assert state(catalog)[0] is SkillState.QUARANTINED
    catalog.approved_again(SkillRoot.WORKSPACE, "probe", NOW)
    catalog.replace([found()])
    assert state(catalog)[0] is SkillState.READY
    fail(store, 4)
    assert state(catalog)[0] is SkillState.READY


def test_what_the_far_side_does_takes_no_skill_out_of_use(store: Database, catalog: SkillCatalog) -> None:
    fail(store, 8, code="INSUFFICIENT_BALANCE")
    assert state(catalog)[0] is SkillState.READY
