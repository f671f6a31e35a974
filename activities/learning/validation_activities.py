"""The checks of a validation run. Each writes its own step results and answers a summary."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

from temporalio import activity

from activities.learning.lesson_replay import replay_progress
from activities.platform.refusals import refusing
from contracts.base import clipped
from contracts.learning.aggregate import DraftBundle
from contracts.learning.evidence import ConditionKind, JudgedCondition, LessonEvidence, ProofCondition
from contracts.learning.proposal import LintSeverity, SkillDraft
from contracts.learning.starting_state import StartingState
from contracts.learning.test_policy import TestPolicy, TestPolicyMode
from contracts.learning.validation import (
    CheckInput,
    CheckOutput,
    StepResult,
    ValidationRunKind,
    ValidationStepResult,
)
from domain.abilities.trigger_tests import decoys, run_trigger_tests, trigger_cases
from domain.learning.checkpoints.checkpoint_lint import lint
from domain.learning.commands.command_safety import safety_class
from domain.learning.proof.hollow import Verdicts, with_verdicts
from domain.learning.starting_state import beginnings
from host.sandbox.launch_order import SandboxUnavailable
from skills.rehearsal.condition_report import (
    NO_CONDITION,
    NO_STARTING_STATE,
    condition_report,
    is_of,
    not_tried,
    without_hollow,
)
from skills.rehearsal.demonstrations import (
    nothing_to_rehearse,
    rehearse_demonstrations,
    rehearsed_effects,
    safety_beside,
    unrehearsed_steps,
)
from skills.rehearsal.dry_run import NAME_CASE, check_dependencies, dry_run
from skills.rehearsal.evidence import EvidenceBounds, EvidenceFinder, Lesson
from skills.rehearsal.rehearsal import LessonStart
from skills.rehearsal.report import (
    CheckReport,
    CheckStep,
    RehearsalProgress,
    RehearsalReport,
    RehearsalStep,
    beginning_step,
    check_step,
    unrehearsed_part,
)
from skills.rehearsal.shell_session import Surroundings
from stores.abilities.ability_reads import AbilityStore
from stores.learning.drafts import DraftStore
from stores.learning.lesson_evidence import LessonEvidenceStore
from stores.learning.starting_states import StartingStates
from stores.learning.validations import ValidationStore

_NIL_POLICY = "00000000-0000-7000-8000-000000000000"


class ValidationActivities:
    """Pure checks as local activities, the rehearsal as a long one with heartbeats."""

    def __init__(
        self,
        drafts: DraftStore,
        abilities: AbilityStore,
        results: ValidationStore,
        states: StartingStates,
        evidence: LessonEvidenceStore,
        rehearsal_root: Path,
        bounds: EvidenceBounds,
        written: Callable[[], None],
    ) -> None:
        """``rehearsal_root`` is where the sandboxes' temporary folders are made."""
        self._evidence = evidence
        self._drafts = drafts
        self._abilities = abilities
        self._results = results
        self._states = states
        self._rehearsal_root = rehearsal_root
        self._bounds = bounds
        self._written = written

    @activity.defn
    @refusing
    def run_check(self, request: CheckInput) -> CheckOutput:
        """Runs one of the cheap checks."""
        _, bundle = self._drafts.bundle_of(request.run.proposal_id)
        match request.check:
            case ValidationRunKind.LINT:
                report = _lint(bundle)
            case ValidationRunKind.TRIGGER:
                report = self._trigger(request, bundle)
            case ValidationRunKind.DRY_RUN:
                report = dry_run(bundle.draft)
            case ValidationRunKind.DEPENDENCY_CHECK:
                report = check_dependencies(
                    bundle.draft,
                    slug_owner=self._abilities.owner_of_slug(bundle.draft.slug),
                    owner=request.run.owner_user_id,
                )
            case (
                ValidationRunKind.REHEARSAL
                | ValidationRunKind.ABLATION
                | ValidationRunKind.VARIATION
                | ValidationRunKind.CANARY
                | ValidationRunKind.ADAPTER_CHECK
            ):
                raise ValueError(f"{request.check.value} is not one of the cheap checks")
        return self._record(request, bundle, report)

    @activity.defn(no_thread_cancel_exception=True)
    @refusing
    def rehearse(self, request: CheckInput) -> CheckOutput:
        """Runs the taught commands in the sandbox and looks at what really came of them.

        For ablation and variation it reports what the replays before the draft showed of its conditions, and replays
        again where the draft has others since.
        """
        _, bundle = self._drafts.bundle_of(request.run.proposal_id)
        if request.check is not ValidationRunKind.REHEARSAL:
            return self._record(request, bundle, self._conditions(request, bundle))
        effects = bundle.interpretation.observed_effects
        unrehearsed = unrehearsed_steps(effects)
        if nothing_to_rehearse(bundle.draft, effects):
            steps = (*map(check_step, unrehearsed_part(bundle.draft)), *unrehearsed)
            return self._record(request, bundle, CheckReport(steps=steps))
        cancelled = Event()

        def heartbeat(progress: RehearsalProgress) -> None:
            activity.heartbeat(progress.completed_commands, progress.total_commands)
            if activity.is_cancelled():
                cancelled.set()

        self._rehearsal_root.mkdir(parents=True, exist_ok=True)
        states = self._states_by_demonstration(request, bundle.draft)
        try:
            found = self._rehearsed(request, bundle, states, heartbeat, cancelled)
        except SandboxUnavailable as unavailable:
            return self._record(request, bundle, _not_isolated(unavailable))
        report = CheckReport(
            steps=(
                *map(check_step, (*found.steps, *_begun_with(states.values()))),
                *unrehearsed,
            ),
            safety_failure=found.safety_failure,
        )
        if report.passed:
            report = without_hollow(report, bundle.draft.conditions, self._hollow(request, bundle.draft))
        return self._record(request, bundle, report)

    def _conditions(self, request: CheckInput, bundle: DraftBundle) -> CheckReport:
        draft = bundle.draft
        if not draft.conditions:
            return not_tried(request.check, NO_CONDITION)
        _, state, evidence = self._replays_of(request, draft)
        if evidence is None or not is_of(evidence, draft):
            if state is None:
                return not_tried(request.check, NO_STARTING_STATE)
            try:
                evidence = self._replayed(draft, state, draft.conditions)
            except SandboxUnavailable as unavailable:
                return _not_isolated(unavailable)
        return condition_report(request.check, draft.conditions, evidence)

    def _hollow(self, request: CheckInput, draft: SkillDraft) -> tuple[JudgedCondition, ...]:
        """The conditions of the draft that prove nothing; those that nobody has judged yet are replayed once."""
        session_id, state, evidence = self._replays_of(request, draft)
        if session_id is None or evidence is None or not evidence.reproduced:
            return ()
        commands = [one.event_id for one in draft.rehearsal]
        verdicts = Verdicts(evidence, commands)
        # A check is told from looking around by the replays of the whole lesson alone.
        unknown = [
            one
            for one in draft.conditions
            if one.kind is not ConditionKind.CHECK_PASSES and verdicts.on(one) is None
        ]
        if unknown and state is not None:
            found = self._replayed(draft, state, unknown)
            if found.reproduced:
                evidence = with_verdicts(evidence, found.judged, commands)
                self._evidence.put(session_id, evidence)
        return Verdicts(evidence, commands).hollow(draft.conditions)

    def _replays_of(
        self, request: CheckInput, draft: SkillDraft
    ) -> tuple[str | None, StartingState | None, LessonEvidence | None]:
        """The session whose lesson the draft repeats, with its starting state and what its replays showed."""
        state = self._state(request, draft.starting_state_id)
        # An improvement in words has the commands of its base, and these were replayed in the session of that.
        session_id = state.learn_session_id if state else request.run.learn_session_id
        return session_id, state, self._evidence.of_session(session_id) if session_id else None

    def _replayed(
        self, draft: SkillDraft, state: StartingState, conditions: Sequence[ProofCondition]
    ) -> LessonEvidence:
        progress, cancelled = replay_progress()
        self._rehearsal_root.mkdir(parents=True, exist_ok=True)
        start = self._start(state, draft)
        lesson = Lesson(
            state.state_id,
            draft.rehearsal,
            start.place,
            start.surroundings,
            asks_for_check=any(one.kind is ConditionKind.CHECK_PASSES for one in draft.conditions),
        )
        finder = EvidenceFinder(lesson, self._rehearsal_root, self._bounds, progress, cancelled)
        return finder.find(datetime.now(UTC), conditions)

    def _rehearsed(
        self,
        request: CheckInput,
        bundle: DraftBundle,
        states: Mapping[int, StartingState],
        heartbeat: Callable[[RehearsalProgress], None],
        cancelled: Event,
    ) -> RehearsalReport:
        return rehearse_demonstrations(
            bundle.draft,
            rehearsed_effects(bundle.interpretation.observed_effects),
            request.run.test_policy or default_policy(),
            sandbox_root_parent=self._rehearsal_root,
            heartbeat=heartbeat,
            cancelled=cancelled,
            starts={number: self._start(state, bundle.draft) for number, state in states.items()},
        )

    def _states_by_demonstration(self, request: CheckInput, draft: SkillDraft) -> Mapping[int, StartingState]:
        """The starting state of each demonstration by its number, as long as it is kept."""
        wanted = {1: draft.starting_state_id} | {
            one.number: one.starting_state_id or draft.starting_state_id
            for one in draft.further_demonstrations
        }
        found = {number: self._state(request, state_id) for number, state_id in wanted.items()}
        return {number: state for number, state in found.items() if state is not None}

    def _state(self, request: CheckInput, state_id: str | None) -> StartingState | None:
        return self._states.of_draft(request.run.learn_session_id, state_id)

    def _start(self, state: StartingState, draft: SkillDraft) -> LessonStart:
        surroundings = Surroundings(state.locale, state.time_zone, folders=draft.folders)
        return LessonStart(lambda folder: self._states.materialise(state, folder), surroundings)

    def _trigger(self, request: CheckInput, bundle: DraftBundle) -> CheckReport:
        same = bundle.draft.capability_id
        others = [entry for entry in self._abilities.indexed() if entry.ability_id != same]
        outcomes = run_trigger_tests(
            bundle.draft,
            trigger_cases(bundle.draft),
            decoys(),
            others,
            request.run.owner_user_id,
            lambda entries, without: self._abilities.beside(entries, (*without, same)),
        )
        return CheckReport(
            steps=tuple(
                CheckStep(
                    outcome.test_case_id,
                    outcome.label,
                    StepResult.PASSED if outcome.passed else StepResult.FAILED,
                    outcome.details,
                )
                for outcome in outcomes
            )
        )

    def _record(self, request: CheckInput, bundle: DraftBundle, found: CheckReport) -> CheckOutput:
        now = datetime.now(UTC)
        is_kept = self._state(request, bundle.draft.starting_state_id) is not None
        help_ = _help(request.check, bundle, _FROM_STARTING_STATE if is_kept else _FROM_NOTHING)
        report = replace(found, steps=_helped(found.steps or (_NOTHING,), help_))
        steps = tuple(
            ValidationStepResult(
                validation_run_id=request.run.validation_run_id,
                test_case_id=step.test_case_id,
                label=step.label,
                result=step.result,
                details=step.details,
                created_at=now,
            )
            for step in report.steps
        )
        self._results.record(request.run, steps, report.safety_failure)
        self._written()
        failed = [step for step in report.steps if step.result is StepResult.FAILED]
        return CheckOutput(
            check=request.check,
            passed=report.passed,
            steps=len(steps),
            not_applicable=report.not_applicable[:240] if report.not_applicable else None,
            unproved=report.unproved if request.check is ValidationRunKind.REHEARSAL else (),
            failed_summary=None if report.passed or report.not_applicable else _summary(failed, report.steps),
            safety_failure=report.safety_failure[:240] if report.safety_failure else None,
            name_is_free=next(
                (step.result is StepResult.PASSED for step in report.steps if step.test_case_id == NAME_CASE),
                None,
            ),
            safety_class=safety_beside(
                safety_class([command.command for command in bundle.draft.taught_commands]),
                bundle.interpretation.observed_effects,
                bundle.draft.unrehearsed,
            ),
        )


def default_policy() -> TestPolicy:
    """The default test policy: a copy of the starting state, forty actions, no network."""
    return TestPolicy(policy_id=_NIL_POLICY, mode=TestPolicyMode.COPY_ARTIFACT)


def _begun_with(states: Iterable[StartingState]) -> Sequence[RehearsalStep]:
    """A case for each large file that the rehearsal had the first lines of alone."""
    large = {file.path: file for state in states for file in beginnings(state)}
    return [beginning_step(number, one) for number, one in enumerate(large.values(), start=1)]


def _not_isolated(unavailable: SandboxUnavailable) -> CheckReport:
    """A host that cannot isolate commands rehearses none: nothing is proven, and the result states why."""
    return CheckReport(
        steps=(
            CheckStep(
                "rehearsal/isolation",
                "This host can isolate the rehearsal",
                StepResult.FAILED,
                str(unavailable)[:1000],
            ),
        )
    )


def _lint(bundle: DraftBundle) -> CheckReport:
    found = lint(bundle.interpretation, bundle.draft)
    if not found.findings:
        return CheckReport(steps=(CheckStep("lint/clean", "Checkpoints state outcomes", StepResult.PASSED),))
    return CheckReport(
        steps=tuple(
            CheckStep(
                f"lint/{finding.rule}-{number:02d}",
                f"{finding.rule} {finding.location}",
                StepResult.FAILED if finding.severity is LintSeverity.ERROR else StepResult.PASSED,
                f"{finding.message} {finding.suggestion}",
            )
            for number, finding in enumerate(found.findings, start=1)
        )
    )


_NOTHING = CheckStep(
    "rehearsal/nothing",
    "The lesson holds something that can be tried",
    StepResult.FAILED,
    "It holds no command, no step and no effect; show the task again with `apprentice record terminal`.",
)

_HELP: Mapping[ValidationRunKind, str] = {
    ValidationRunKind.LINT: "`apprentice learn revise` takes other words.",
    ValidationRunKind.TRIGGER: "`apprentice learn revise … --set trigger_phrases='[…]'` sets other phrases.",
    ValidationRunKind.DRY_RUN: "`apprentice learn revise` drafts it anew.",
    ValidationRunKind.DEPENDENCY_CHECK: "`apprentice learn files` shows what is needed; when it is there, run"
    " `apprentice learn validate`.",
}

_MEND = "Mend the bundle and import it again: `apprentice import add`."

_FROM_STARTING_STATE = (
    "It began with a copy of the folder as it was recorded; `apprentice learn revise` leaves a step out,"
    " `apprentice learn test-policy --safe-target copied_document=/PATH` adds a file."
)
_FROM_NOTHING = (
    "It began with an empty folder, as no starting state is kept: add a file that is missing with `apprentice learn"
    " test-policy --safe-target copied_document=/PATH`, or record the task again with `apprentice record terminal`."
)


def _help(check: ValidationRunKind, bundle: DraftBundle, begun: str) -> str:
    """The command that helps where a step of the check fails; ``begun`` is what helps a rehearsal."""
    return _HELP.get(check, begun) if bundle.interpretation.learn_session_id else _MEND


def _helped(steps: Sequence[CheckStep], help_: str) -> tuple[CheckStep, ...]:
    """The steps, each failed one ending with the command that helps."""

    def helped(step: CheckStep) -> CheckStep:
        said = step.details or ""
        if step.result is not StepResult.FAILED or "`apprentice " in said:
            return step
        # Most objections are no sentence with its full stop.
        stop = "" if not said or said.endswith((".", "!", "?", "…")) else "."
        return replace(step, details=f"{clipped(said, 998 - len(help_))}{stop} {help_}".strip())

    return tuple(map(helped, steps))


def _summary(failed: Sequence[CheckStep], steps: Sequence[CheckStep]) -> str:
    undecided = [step for step in steps if step.applies and step.result is not StepResult.PASSED]
    first = (*failed, *undecided, *steps)[0]
    return clipped(f"{first.label}: {first.details or first.result.value}", 240)
