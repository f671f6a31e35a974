"""Canary: low-risk recheck of a capability without running it (DOC3 §1.1I)."""

import shutil

from contracts.abilities.capability_manifest import CapabilityManifest
from contracts.errors import ErrorCode
from contracts.learning.proposal import SkillDraft
from contracts.learning.test_policy import TestPolicy
from contracts.learning.validation import StepResult
from skills.rehearsal.dry_run import SANDBOX_PATH, check_dependencies, dry_run
from skills.rehearsal.rehearsal import objection_to
from skills.rehearsal.report import CheckReport, CheckStep

PROGRAM = "program:"
"""Begins the name of a program that a capability requires of the runtime."""


def canary(
    manifest: CapabilityManifest, draft: SkillDraft | None, policy: TestPolicy, *, owner: str
) -> CheckReport:
    """Probes what the manifest names and, where the skill was drafted here, dries it and its dependencies.

    Nothing taught is carried out: programs are looked up, files and commands are parsed. A taught command that
    ``policy``, the bounds of its rehearsal as they now are, forbids is a safety failure.
    """
    steps = [CheckStep("canary/manifest", "The capability's manifest can be read", StepResult.PASSED)]
    steps += [_probe(name) for name in _probed_programs(manifest)]
    steps += [_required(name) for name in manifest.required_runtime_caps if is_present(name) is not None]
    if draft is None:
        return CheckReport(steps=tuple(steps))
    forbidden = next(filter(None, (objection_to(one, policy, ()) for one in draft.taught_commands)), None)
    steps.append(_bounds(forbidden))
    steps += dry_run(draft).steps
    steps += check_dependencies(draft, slug_owner=owner, owner=owner).steps
    return CheckReport(
        steps=tuple(steps),
        safety_failure=f"{ErrorCode.TEST_POLICY_VIOLATION}: {forbidden}" if forbidden else None,
    )


def is_present(cap: str) -> bool | None:
    """Whether the runtime has what ``cap`` names; ``None`` where this host cannot tell."""
    if not cap.startswith(PROGRAM):
        return None
    return _found(cap.removeprefix(PROGRAM))


def _probed_programs(manifest: CapabilityManifest) -> tuple[str, ...]:
    probe = manifest.health_probe
    return tuple(probe.target.split()) if probe.kind == "command" else ()


def _probe(program: str) -> CheckStep:
    return _step(f"canary/probe/{program}", f"The probe finds {program}", _found(program), program)


def _required(cap: str) -> CheckStep:
    return _step(f"canary/runtime/{cap}", f"The runtime has {cap}", is_present(cap) is True, cap)


def _bounds(forbidden: str | None) -> CheckStep:
    return CheckStep(
        "canary/bounds",
        "The test policy allows every taught command",
        StepResult.FAILED if forbidden else StepResult.PASSED,
        forbidden[:1000] if forbidden else None,
    )


def _step(test_case_id: str, label: str, found: bool, what: str) -> CheckStep:
    return CheckStep(
        test_case_id=test_case_id[:160],
        label=label[:240],
        result=StepResult.PASSED if found else StepResult.FAILED,
        details=None if found else f"{what} is not there; install it on the machine that runs the worker.",
    )


def _found(program: str) -> bool:
    return shutil.which(program, path=SANDBOX_PATH) is not None
