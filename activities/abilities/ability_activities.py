"""Activities of installed abilities: lifecycle commands, and the recheck of capabilities (inventory, canaries)."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from temporalio import activity

from activities.learning.validation_activities import default_policy
from activities.platform.refusals import refusing
from contracts.abilities.capability_health import (
    CanaryResult,
    CanaryTask,
    CapabilityOutcome,
    OutcomeKind,
    ReprobeSelection,
    RuntimeCapabilityCheck,
    RuntimeInventory,
)
from contracts.abilities.capability_manifest import HealthStatus
from contracts.abilities.lifecycle import AbilityOrder, AbilityReceipt
from contracts.base import clipped
from contracts.learning.validation import StepResult
from domain.abilities.execution_traces import SeenStep, run_trace
from skills.rehearsal.canary import CanaryReport, Method, canary, is_present
from skills.rehearsal.rehearsal import LessonStart
from skills.rehearsal.shell_session import Surroundings
from stores.abilities.ability_commands import AbilityLifeStore
from stores.abilities.capability_health import CapabilityHealthStore
from stores.learning.drafts import DraftStore, Lesson
from stores.learning.starting_states import StartingStates
from stores.platform.projection.document_projection import WorkspaceEdits
from stores.platform.projection.projector import ProjectionError
from stores.skills.rechecks import SKILL, SkillRechecks


class AbilityActivities:
    """A command is its transaction and the files that follow from it."""

    def __init__(
        self,
        abilities: AbilityLifeStore,
        edits: WorkspaceEdits,
        project: Callable[[], object],
        written: Callable[[], None],
    ) -> None:
        """``project`` makes the files on disk agree with the store, now; ``written`` has it done soon."""
        self._abilities = abilities
        self._edits = edits
        self._project = project
        self._written = written

    @activity.defn
    @refusing
    def command_ability(self, order: AbilityOrder) -> AbilityReceipt:
        """Carries out one command; a repeated one answers what the first did.

        The files are there when it answers, except where something that is not ours takes their place: that
        is tried again with every projection, and logged.
        """
        slug = self._abilities.slug_of(order.ability_id)
        edited = self._edits.of_skill(slug) if slug is not None else {}
        receipt = self._abilities.carry_out(order, edited)
        try:
            self._project()
        except ProjectionError:
            self._written()
        return receipt


class ReprobeActivities:
    """Each may be repeated: a canary counts once by its id."""

    def __init__(
        self,
        health: CapabilityHealthStore,
        drafts: DraftStore,
        states: StartingStates,
        rehearsal_root: Path,
        written: Callable[[], None],
        skills: SkillRechecks,
    ) -> None:
        """``rehearsal_root`` is where the sandboxes' folders are made; ``written`` has changed files projected.

        ``skills`` has the failed runs of executable skills asked again, which are named beside the capabilities.
        """
        self._health = health
        self._skills = skills
        self._drafts = drafts
        self._states = states
        self._rehearsal_root = rehearsal_root
        self._written = written

    @activity.defn
    @refusing
    def take_inventory(self) -> int:
        """Looks at what the runtime has of all that capabilities require; returns how many things are missing."""
        found = [(name, is_present(name)) for name in self._health.required_caps()]
        checks = tuple(
            RuntimeCapabilityCheck(name=name, present=present)
            for name, present in found
            if present is not None
        )
        self._health.keep_inventory(RuntimeInventory(checks=checks, checked_at=datetime.now(UTC)))
        self._written()
        return sum(not check.present for check in checks)

    @activity.defn
    @refusing
    def select_due(self, selection: ReprobeSelection) -> list[str]:
        """The ids of the capabilities and skills to recheck."""
        return [*self._health.due(selection), *self._skills.due(selection)]

    @activity.defn
    @refusing
    def run_canary(self, task: CanaryTask) -> CanaryResult | None:
        """Rechecks one capability and takes in how it went; ``None`` when it is not installed any more.

        A skill's recheck is an invocation, which is begun after this and counts where it ends.
        """
        if task.capability_id.startswith(SKILL):
            return self._skills.ask(task, datetime.now(UTC))
        found = self._health.standing(task.capability_id)
        if found is None:
            return None
        standing, owner = found
        lesson = self._drafts.lesson_of(standing.ability_id)
        begun = time.monotonic()
        report = canary(
            standing.manifest,
            lesson.bundle.draft if lesson.bundle is not None else None,
            lesson.test_policy or default_policy(),
            self._method(lesson),
            owner=owner or task.requested_by,
        )
        outcome = _outcome(task, report)
        ran = [
            SeenStep(step.test_case_id, step.label, step.result is StepResult.PASSED)
            for step in report.steps
            if step.result is not StepResult.SKIPPED
        ]
        trace = run_trace(
            standing.manifest,
            outcome.outcome_id,
            () if outcome.not_run else ran,
            created_at=outcome.happened_at,
            elapsed_ms=int((time.monotonic() - begun) * 1000),
        )
        after = self._health.record_outcome(outcome, task.correlation_id, trace)
        self._written()
        return CanaryResult(
            capability_id=task.capability_id,
            success=_is_good(report),
            not_run=_was_not_run(report),
            health_status=after.status if after is not None else HealthStatus.UNKNOWN,
            good_canaries=after.record.good_canaries if after is not None else 0,
            summary=_said(report, 240),
        )

    def _method(self, lesson: Lesson) -> Method:
        """The method on the demonstration's folder; on an empty one where the rehearsal passed on that."""
        if lesson.bundle is None:
            return Method()
        interpretation, wanted = lesson.bundle.interpretation, lesson.bundle.draft.starting_state_id
        state = self._states.of_draft(interpretation.learn_session_id, wanted)
        start = missing = None
        if state is not None:
            surroundings = Surroundings(state.locale, state.time_zone, folders=lesson.bundle.draft.folders)
            start = LessonStart(partial(self._states.materialise, state), surroundings)
        elif wanted is not None:
            missing = "the files that it was shown on are not kept any more"
        elif not lesson.rehearsed:
            missing = "no files are kept that it could be run on"
        return Method(interpretation.observed_effects, start, missing, self._rehearsal_root)


def _was_not_run(report: CanaryReport) -> bool:
    return report.failed is None and report.not_run is not None


def _is_good(report: CanaryReport) -> bool:
    return report.failed is None and report.not_run is None


def _outcome(task: CanaryTask, report: CanaryReport) -> CapabilityOutcome:
    return CapabilityOutcome(
        outcome_id=task.outcome_id,
        capability_id=task.capability_id,
        kind=OutcomeKind.CANARY,
        success=_is_good(report),
        not_run=_was_not_run(report),
        critical=report.safety_failure is not None,
        failure_fingerprint=report.failed.test_case_id if report.failed is not None else None,
        summary=_said(report, 500),
        reported_by=task.requested_by,
        happened_at=datetime.now(UTC),
    )


def _said(report: CanaryReport, limit: int) -> str | None:
    failed = report.failed
    if failed is not None:
        return clipped(f"{failed.label}: {failed.details or 'failed'}", limit)
    return clipped(f"not run: {report.not_run}", limit) if report.not_run is not None else None
