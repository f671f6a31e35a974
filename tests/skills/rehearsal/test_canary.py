"""The recheck of a capability looks at everything it may and carries nothing out (DOC3 §1.1I "Reprobe")."""

from pathlib import Path

import pytest

from contracts.abilities.capability_manifest import (
    CapabilityKind,
    CapabilityManifest,
    HealthProbe,
    LearningPolicy,
    RuntimeBinding,
    VerificationRule,
)
from contracts.abilities.control_surface import ControlSurface
from contracts.learning.proposal import DraftedFile, RehearsalCommand, SkillDraft
from contracts.learning.test_policy import TestPolicy, TestPolicyMode
from contracts.learning.validation import StepResult
from skills.rehearsal.canary import canary, is_present

NOWHERE = "no-such-program-anywhere"
BOUNDS = TestPolicy(policy_id="01890000-0000-7000-8000-000000000002", mode=TestPolicyMode.BLANK_ARTIFACT)


def manifest(*caps: str, probe: HealthProbe | None = None) -> CapabilityManifest:
    return CapabilityManifest(
        capability_id="learned.report",
        family="terminal",
        kind=CapabilityKind.WORKFLOW_PATTERN,
        title="Report",
        origin_skill="report",
        surface_order=(ControlSurface.NATIVE_OPENCLAW_TOOL,),
        runtime_binding=RuntimeBinding(binding_kind="workflow_pattern", target="report"),
        required_runtime_caps=caps,
        verification=(VerificationRule(kind="manual_confirmation", target="it is there"),),
        health_probe=probe or HealthProbe(kind="noop", target="none"),
        learning_policy=LearningPolicy(),
    )


def draft(command: str) -> SkillDraft:
    return SkillDraft(
        title="Report",
        slug="report",
        description="Makes the report.",
        trigger_phrases=("make the report",),
        negative_triggers=(),
        files=(
            DraftedFile(
                path="SKILL.md", content="---\nname: report\ndescription: Makes the report.\n---\n# Report\n"
            ),
            DraftedFile(path="capabilities/learned.report.json", content=manifest().model_dump_json()),
        ),
        rehearsal=(
            RehearsalCommand(
                event_id="01890000-0000-7000-8000-000000000001", command=command, working_folder="."
            ),
        ),
        capability_id="learned.report",
        dependencies=("sh",),
    )


def failures(found: CapabilityManifest, taught: SkillDraft | None = None) -> list[str]:
    bounds = BOUNDS.changed(forbid_destructive_writes=False, forbid_external_send=False)
    report = canary(found, taught, bounds, owner="alice")
    assert report.steps
    assert report.safety_failure is None
    return [step.test_case_id for step in report.steps if step.result is StepResult.FAILED]


def test_what_is_all_there_passes_and_nothing_taught_is_carried_out(tmp_path: Path) -> None:
    witness = tmp_path / "carried-out"
    there = manifest("program:sh", probe=HealthProbe(kind="command", target="sh ls"))
    assert failures(there, draft(f"touch {witness}")) == []
    assert not witness.exists()
    assert failures(manifest()) == []


def test_each_thing_that_is_missing_or_broken_is_named() -> None:
    assert failures(manifest(f"program:{NOWHERE}")) == [f"canary/runtime/program:{NOWHERE}"]
    probing = manifest(probe=HealthProbe(kind="command", target=f"sh {NOWHERE}"))
    assert failures(probing) == [f"canary/probe/{NOWHERE}"]
    assert failures(manifest(), draft("sort ((")) == ["dry_run/command-01"]


def test_what_this_host_cannot_tell_is_not_claimed_either_way() -> None:
    assert is_present("surface:browser_relay") is None
    assert failures(manifest("surface:browser_relay")) == []


@pytest.mark.parametrize(
    ("command", "allowing"),
    [
        ("rm -rf /srv/reports", {"forbid_destructive_writes": False}),
        ("curl https://example.org", {"forbid_external_send": False}),
    ],
)
def test_a_command_that_the_bounds_of_its_rehearsal_forbid_by_now_is_a_safety_failure(
    command: str, allowing: dict[str, bool]
) -> None:
    report = canary(manifest(), draft(command), BOUNDS, owner="alice")
    assert (report.safety_failure or "").startswith("TEST_POLICY_VIOLATION: ")
    assert "canary/bounds" in [step.test_case_id for step in report.steps if step.result is StepResult.FAILED]
    allowed = canary(manifest(), draft(command), BOUNDS.changed(**allowing), owner="alice")
    assert allowed.safety_failure is None
