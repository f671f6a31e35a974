"""Execution traces of uses that no plan was made for: rechecks, scripts, trials, reported checkpoints (DOC3 §1.1F).

A trace names steps and surfaces and holds no value. Traces of tool calls are made in ``domain/mcp/use_receipts.py``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from contracts.abilities.capability_manifest import CapabilityManifest
from contracts.abilities.capability_plan import CapabilityExecutionTrace, TracedStep, VerificationOutcome
from contracts.abilities.control_surface import ControlSurface
from contracts.base import clipped
from contracts.learning.checkpoints import CheckpointStatus, CheckpointVerificationReceipt
from contracts.learning.trials import TrialCommandResult, TrialConditionResult, TrialRun, TrialState


@dataclass(frozen=True)
class SeenStep:
    """One thing that was done or looked at: its id, what it is, and whether it was well."""

    step_id: str
    label: str
    success: bool


def captures_traces(manifest: CapabilityManifest | None) -> bool:
    """Whether uses of a capability leave traces: unless its learning policy says otherwise."""
    return manifest is None or manifest.learning_policy.auto_capture_trace


def run_trace(
    manifest: CapabilityManifest,
    trace_id: str,
    steps: Sequence[SeenStep],
    *,
    created_at: datetime,
    elapsed_ms: int,
) -> CapabilityExecutionTrace | None:
    """The trace of a recheck, or of a script, that ran; ``None`` where it looked at nothing."""
    if not steps:
        return None
    failed = next((step for step in steps if not step.success), None)
    return _trace(
        manifest,
        trace_id,
        steps,
        success=failed is None,
        failure=failed.step_id if failed else None,
        created_at=created_at,
        elapsed_ms=elapsed_ms,
    )


def trial_trace(manifest: CapabilityManifest, run: TrialRun) -> CapabilityExecutionTrace | None:
    """The trace of a trial that has ended; ``None`` where no command was run.

    Commands and conditions stand in it by their number: the folder that was tried on is its owner's.
    """
    commands = [one for one in run.commands if one.result is not TrialCommandResult.NOT_RUN]
    if not commands or run.finished_at is None:
        return None
    checked = (TrialConditionResult.HOLDS, TrialConditionResult.FAILED)
    return _trace(
        manifest,
        run.trial_id,
        [
            SeenStep(
                f"command-{one.number}", f"command {one.number}", one.result is TrialCommandResult.WORKED
            )
            for one in commands
        ],
        verified=tuple(
            VerificationOutcome(
                kind="condition",
                passed=one.result is TrialConditionResult.HOLDS,
                detail=f"condition {number}",
            )
            for number, one in enumerate(run.conditions, start=1)
            if one.result in checked
        ),
        success=run.state is TrialState.PASSED,
        failure=None if run.state is TrialState.PASSED else f"trial:{run.state.value}",
        created_at=run.finished_at,
        elapsed_ms=_milliseconds(run.started_at, run.finished_at),
    )


def checkpoint_trace(
    manifest: CapabilityManifest, receipt: CheckpointVerificationReceipt
) -> CapabilityExecutionTrace:
    """The trace of a use as its agent reported it: one checkpoint, whether it was reached, and by which surface.

    Another surface than the first of the manifest is a fallback (§9.8 test 50).
    """
    reached = receipt.status is CheckpointStatus.REACHED
    label = f"{receipt.checkpoint_id}: {receipt.status.value}"
    outcome = VerificationOutcome(kind="checkpoint", passed=reached, detail=receipt.checkpoint_id)
    return _trace(
        manifest,
        receipt.receipt_id,
        [SeenStep(receipt.checkpoint_id, label, reached)],
        verified=(outcome,),
        success=reached,
        failure=None if reached else f"checkpoint:{receipt.checkpoint_id}",
        created_at=receipt.created_at,
        elapsed_ms=0,
        surface=receipt.control_surface,
    )


def _trace(
    manifest: CapabilityManifest,
    trace_id: str,
    steps: Sequence[SeenStep],
    *,
    success: bool,
    failure: str | None,
    created_at: datetime,
    elapsed_ms: int,
    verified: tuple[VerificationOutcome, ...] = (),
    surface: ControlSurface | None = None,
) -> CapabilityExecutionTrace:
    preferred = manifest.surface_order[0]
    used = surface or preferred
    return CapabilityExecutionTrace(
        trace_id=trace_id,
        capability_id=manifest.capability_id,
        app_id=manifest.family,
        goal=manifest.title,
        surfaces_attempted=(used.value,),
        steps=tuple(
            TracedStep(
                step_id=clipped(step.step_id, 80),
                action_label=clipped(step.label, 240),
                surface=used.value,
                success=step.success,
            )
            for step in steps
        ),
        verification_results=verified,
        fallback_used=used is not preferred,
        success=success,
        failure_fingerprint=clipped(failure, 160) if failure is not None else None,
        elapsed_ms=elapsed_ms,
        created_at=created_at,
    )


def _milliseconds(begun: datetime, ended: datetime) -> int:
    return max(0, int((ended - begun).total_seconds() * 1000))
