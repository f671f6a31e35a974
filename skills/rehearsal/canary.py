"""Canary: rechecks a capability by its taught method in the sandbox, beside lookups that cost nothing (DOC3 §1.1I)."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from contracts.abilities.capability_manifest import CapabilityManifest
from contracts.errors import ErrorCode
from contracts.learning.interpretation import ObservedEffect
from contracts.learning.proposal import SkillDraft
from contracts.learning.test_policy import TestPolicy
from contracts.learning.validation import StepResult
from host.sandbox.launch_order import SandboxUnavailable
from skills.rehearsal.demonstrations import rehearsed_effects
from skills.rehearsal.dry_run import check_dependencies, dry_run, is_installed
from skills.rehearsal.rehearsal import MODES_WITHOUT_RUN, LessonStart, objection_to, rehearse
from skills.rehearsal.report import CheckStep, RehearsalProgress, RehearsalResult, RehearsalStep

PROGRAM = "program:"
"""Begins the name of a program that a capability requires of the runtime."""

CANARY_SECONDS = 20.0
"""What the method may take in a canary; a longer one is not judged by it."""


@dataclass(frozen=True)
class CanaryReport:
    """What was looked at and run. Good is only what ran and found nothing wrong."""

    steps: tuple[CheckStep, ...]
    safety_failure: str | None = None
    not_run: str | None = None
    """Why the method was not run, or not to its end."""

    @property
    def failed(self) -> CheckStep | None:
        """The first thing that is wrong."""
        return next((step for step in self.steps if step.result is StepResult.FAILED), None)


@dataclass(frozen=True)
class Method:
    """The taught method with the folder it is run on: that of the demonstration, or an empty one."""

    effects: Sequence[ObservedEffect] = ()
    start: LessonStart | None = None
    missing: str | None = None
    """Why there is nothing to run it on."""
    sandbox_root_parent: Path = field(default_factory=Path)
    seconds: float = CANARY_SECONDS


def canary(
    manifest: CapabilityManifest, draft: SkillDraft | None, policy: TestPolicy, method: Method, *, owner: str
) -> CanaryReport:
    """Looks at what the manifest names and, where the skill was drafted here, runs its method once.

    A lookup proves too little to be good by itself, and probes of a tool, a browser or of nothing are not carried
    out: where the method is not run, the report says why. A taught command that ``policy``, the bounds of its
    rehearsal as they now are, forbids is a safety failure. Nothing is run where something was found wrong before.
    """
    steps = [CheckStep("canary/manifest", "The capability's manifest can be read", StepResult.PASSED)]
    steps += [_probe(name) for name in _probed_programs(manifest)]
    steps += [_required(name) for name in manifest.required_runtime_caps if is_present(name) is not None]
    if draft is None:
        kind = manifest.health_probe.kind
        why = f"its lesson is not kept here, and a probe of the kind {kind} is not carried out"
        return CanaryReport(tuple(steps), not_run=why)
    forbidden = next(filter(None, (objection_to(one, policy, ()) for one in draft.taught_commands)), None)
    steps.append(_bounds(forbidden))
    steps += dry_run(draft).steps
    steps += check_dependencies(draft, slug_owner=owner, owner=owner).steps
    looked = CanaryReport(
        tuple(steps), f"{ErrorCode.TEST_POLICY_VIOLATION}: {forbidden}" if forbidden else None
    )
    if looked.failed is not None:
        return looked
    ran = _Run(draft, policy, method).report()
    return CanaryReport((*looked.steps, *ran.steps), not_run=ran.not_run)


@dataclass(frozen=True)
class _Run:
    """One run of the method within the time of a canary."""

    draft: SkillDraft
    policy: TestPolicy
    method: Method

    def report(self) -> CanaryReport:
        effects = rehearsed_effects(self.method.effects)
        if reason := self._obstacle(effects):
            return CanaryReport((), not_run=reason)
        cancelled = threading.Event()
        ends_at = time.monotonic() + self.method.seconds

        def beat(_: RehearsalProgress) -> None:
            if time.monotonic() > ends_at:
                cancelled.set()

        try:
            found = rehearse(
                self.draft.changed(further_demonstrations=()),
                effects,
                self.policy,
                sandbox_root_parent=self.method.sandbox_root_parent,
                heartbeat=beat,
                cancelled=cancelled,
                start=self.method.start,
            )
        except SandboxUnavailable as unavailable:
            return CanaryReport((), not_run=f"a canary needs a sandbox: {unavailable}")
        if found.safety_failure is not None:
            # The commands themselves were looked at before: what is left lies in the policy's copies and counts.
            return CanaryReport((), not_run=found.safety_failure)
        if found.result is RehearsalResult.CANCELLED:
            limit = f"{self.method.seconds:.0f} s"
            return CanaryReport((), not_run=f"the method takes longer than the {limit} of a canary")
        steps = tuple(_check(step) for step in found.steps)
        if found.result is RehearsalResult.SKIPPED:
            skipped = next((one for one in found.steps if one.result is StepResult.SKIPPED), None)
            return CanaryReport(steps, not_run=(skipped and skipped.details) or "nothing of it could be run")
        return CanaryReport(steps)

    def _obstacle(self, effects: Sequence[ObservedEffect]) -> str | None:
        if not self.draft.rehearsal:
            return "no command was taught that a sandbox can run"
        if not effects and not self.draft.conditions:
            return "nothing tells whether it worked: no condition and no file was proved"
        if self.policy.mode in MODES_WITHOUT_RUN:
            return f"the test policy is {self.policy.mode.value}"
        return self.method.missing


def _check(step: RehearsalStep) -> CheckStep:
    return CheckStep(step.test_case_id, step.label, step.result, step.details, step.applies)


def is_present(cap: str) -> bool | None:
    """Whether the runtime has what ``cap`` names; ``None`` where this host cannot tell."""
    if not cap.startswith(PROGRAM):
        return None
    return is_installed(cap.removeprefix(PROGRAM))


def _probed_programs(manifest: CapabilityManifest) -> tuple[str, ...]:
    probe = manifest.health_probe
    return tuple(probe.target.split()) if probe.kind == "command" else ()


def _probe(program: str) -> CheckStep:
    return _step(f"canary/probe/{program}", f"The probe finds {program}", is_installed(program), program)


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
