"""The recheck of a capability runs its method where it was shown, and claims nothing else (DOC3 §1.1I "Reprobe")."""

from pathlib import Path
from typing import Any

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
from contracts.learning.interpretation import ObservedEffect
from contracts.learning.proposal import DraftedFile, RehearsalCommand, SkillDraft
from contracts.learning.test_policy import TestPolicy, TestPolicyMode
from contracts.learning.validation import StepResult
from skills.rehearsal.canary import CanaryReport, Method, canary, is_present
from skills.rehearsal.rehearsal import LessonStart

NOWHERE = "no-such-program-anywhere"
BOUNDS = TestPolicy(policy_id="01890000-0000-7000-8000-000000000002", mode=TestPolicyMode.COPY_ARTIFACT)


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


LEFT = ObservedEffect(
    kind="file_exists", path="report.txt", source_event_id="01890000-0000-7000-8000-000000000001"
)
LOOSE = BOUNDS.changed(forbid_destructive_writes=False, forbid_external_send=False)


def recheck(
    tmp_path: Path, command: str | None, *, found: CapabilityManifest | None = None, **method: Any
) -> CanaryReport:
    """The canary of a lesson of one command that leaves ``report.txt`` behind."""
    taught = draft(command) if command is not None else None
    given: dict[str, Any] = {"effects": (LEFT,), "sandbox_root_parent": tmp_path / "rehearsals", **method}
    report = canary(found or manifest(), taught, LOOSE, Method(**given), owner="alice")
    assert report.steps
    assert report.safety_failure is None
    return report


def failures(report: CanaryReport) -> list[str]:
    return [step.test_case_id for step in report.steps if step.result is StepResult.FAILED]


def shown_folder(folder: Path) -> None:
    (folder / "sales.csv").write_text("north,3\nsouth,9\n")


def test_a_method_that_still_works_on_the_folder_it_was_shown_on_is_good(tmp_path: Path) -> None:
    report = recheck(
        tmp_path, "sort -t, -k2 sales.csv | grep south > report.txt", start=LessonStart(shown_folder)
    )

    assert (failures(report), report.not_run) == ([], None)
    assert "rehearsal/effect-01" in [step.test_case_id for step in report.steps]
    assert list((tmp_path / "rehearsals").iterdir()) == []


def test_a_method_that_fails_or_does_not_bring_its_effect_about_any_more_is_bad(tmp_path: Path) -> None:
    assert failures(recheck(tmp_path, "grep south sales.csv > report.txt"))[:1] == ["rehearsal/command-01"]
    assert failures(recheck(tmp_path, "echo south > other.txt")) == ["rehearsal/effect-01"]


def test_what_is_missing_or_broken_is_named_and_nothing_is_run(tmp_path: Path) -> None:
    needing = manifest(f"program:{NOWHERE}")
    report = recheck(tmp_path, "touch report.txt", found=needing)
    assert failures(report) == [f"canary/runtime/program:{NOWHERE}"]
    probing = manifest(probe=HealthProbe(kind="command", target=f"sh {NOWHERE}"))
    assert failures(recheck(tmp_path, "touch report.txt", found=probing)) == [f"canary/probe/{NOWHERE}"]
    assert failures(recheck(tmp_path, "sort ((")) == ["dry_run/command-01"]
    assert not (tmp_path / "rehearsals").exists()


@pytest.mark.parametrize(
    ("kind", "target"),
    [("command", "sh ls"), ("tool", "files.read"), ("browser", "shop.example"), ("noop", "none")],
)
def test_a_probe_alone_is_no_good_recheck(tmp_path: Path, kind: str, target: str) -> None:
    probing = manifest(probe=HealthProbe(kind=kind, target=target, timeout_ms=1))

    report = recheck(tmp_path, None, found=probing)

    assert failures(report) == []
    assert f"a probe of the kind {kind} is not carried out" in (report.not_run or "")


@pytest.mark.parametrize(
    ("method", "why"),
    [
        ({"missing": "the files that it was shown on are not kept any more"}, "not kept any more"),
        ({"effects": ()}, "nothing tells whether it worked"),
        ({"seconds": -1.0}, "takes longer than"),
    ],
)
def test_what_cannot_be_run_says_why_and_is_neither_good_nor_bad(
    tmp_path: Path, method: dict[str, Any], why: str
) -> None:
    report = recheck(tmp_path, "sleep 2; touch report.txt", **method)

    assert failures(report) == []
    assert why in (report.not_run or "")


def test_a_lesson_without_commands_and_a_policy_that_runs_nothing_prove_nothing(tmp_path: Path) -> None:
    method = Method((LEFT,), sandbox_root_parent=tmp_path / "rehearsals")
    by_hand = canary(manifest(), draft("true").changed(rehearsal=()), LOOSE, method, owner="alice")
    assert "no command was taught" in (by_hand.not_run or "")
    reading = LOOSE.changed(mode=TestPolicyMode.READ_ONLY)
    unread = canary(manifest(), draft("touch report.txt"), reading, method, owner="alice")
    assert unread.not_run == "the test policy is read_only"


def test_what_this_host_cannot_tell_is_not_claimed_either_way(tmp_path: Path) -> None:
    assert is_present("surface:browser_relay") is None
    assert failures(recheck(tmp_path, None, found=manifest("surface:browser_relay"))) == []


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
    nowhere = Method((LEFT,), missing="nothing is kept")
    report = canary(manifest(), draft(command), BOUNDS, nowhere, owner="alice")
    assert (report.safety_failure or "").startswith("TEST_POLICY_VIOLATION: ")
    assert "canary/bounds" in failures(report)
    allowed = canary(manifest(), draft(command), BOUNDS.changed(**allowing), nowhere, owner="alice")
    assert (allowed.safety_failure, allowed.not_run) == (None, "nothing is kept")
