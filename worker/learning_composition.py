"""Workflows and activities of learning and of installed abilities, for the worker."""

from collections.abc import Callable, Sequence
from typing import Any

from activities.abilities.ability_activities import AbilityActivities, ReprobeActivities
from activities.learning.drafting import Drafter
from activities.learning.lesson_replay import LessonReplay
from activities.learning.model_drafting import ModelDrafting
from activities.learning.session_activities import InstallActivities, SessionActivities
from activities.learning.trial_activities import TrialActivities
from activities.learning.validation_activities import ValidationActivities
from clients.learning.model_endpoint import ModelEndpoint
from skills.rehearsal.evidence import EvidenceBounds
from stores.abilities.ability_commands import AbilityLifeStore
from stores.abilities.ability_reads import AbilityStore
from stores.abilities.capability_health import CapabilityHealthStore
from stores.learning.base_skills import BaseSkills
from stores.learning.drafts import DraftStore, ModelWordingStore
from stores.learning.installs import InstallStore
from stores.learning.lesson_evidence import LessonEvidenceStore
from stores.learning.proposals import AllowedActions, ProposalReads
from stores.learning.sessions import SessionStore
from stores.learning.starting_states import StartingStates
from stores.learning.trials import TrialStore
from stores.learning.validations import ValidationStore
from stores.platform.projection.document_projection import WorkspaceEdits
from stores.practice.practice import PracticeStore
from stores.skills.rechecks import SkillRechecks
from worker.resources import WorkerResources
from workflows.abilities.ability_workflow import AbilityWorkflow
from workflows.abilities.capability_reprobe_workflow import CapabilityReprobeWorkflow
from workflows.learning.install_saga_workflow import InstallSagaWorkflow
from workflows.learning.learn_session_workflow import LearnSessionWorkflow
from workflows.learning.trial_workflow import TrialWorkflow
from workflows.learning.validation_run_workflow import ValidationRunWorkflow

LEARNING_WORKFLOWS: Sequence[type] = (
    LearnSessionWorkflow,
    ValidationRunWorkflow,
    InstallSagaWorkflow,
    TrialWorkflow,
)
ABILITY_WORKFLOWS: Sequence[type] = (AbilityWorkflow, CapabilityReprobeWorkflow)


def learning_activities(shared: WorkerResources, model: ModelEndpoint | None) -> Sequence[Callable[..., Any]]:
    """Activities of sessions, drafting, validation and installs; ``model`` words drafts, if there is one."""
    database, wake = shared.database, shared.projection.wake
    drafts, wordings = DraftStore(database), ModelWordingStore(database)
    edits = WorkspaceEdits(database, shared.settings.workspace)
    bases = BaseSkills(database, edits)
    proposals = ProposalReads(database, AllowedActions(database, bases))
    evidence, states = LessonEvidenceStore(database), StartingStates(database)
    practices = PracticeStore(database)
    drafter = Drafter(shared.observations, drafts, proposals, wordings, bases, evidence, states, practices)
    sessions = SessionActivities(SessionStore(database), drafter, wake, bases)
    rehearsals = shared.settings.data_dir / "rehearsals"
    bounds = EvidenceBounds(seconds=shared.settings.replay_budget.total_seconds())
    replay = LessonReplay(shared.observations, states, evidence, proposals, rehearsals, bounds)
    found = AbilityStore(database, by_meaning=shared.settings.find_by_meaning)
    validation = ValidationActivities(
        drafts, found, ValidationStore(database), states, evidence, rehearsals, bounds, wake
    )
    installs = InstallActivities(InstallStore(database, edits), shared.projection.project)
    trials = TrialActivities(TrialStore(database), drafts, states, rehearsals, wake)
    return (
        sessions.commit_session,
        sessions.look_at_session,
        sessions.draft_proposal,
        sessions.check_base,
        replay.replay_lesson,
        replay.replay_answered,
        ModelDrafting(drafter, wordings, model).word_draft,
        validation.run_check,
        validation.rehearse,
        installs.do_step,
        installs.undo_step,
        installs.close,
        trials.try_ability,
        trials.end_trial,
    )


def ability_activities(shared: WorkerResources) -> Sequence[Callable[..., Any]]:
    """Activities of commands on installed abilities, and of the recheck of their capabilities."""
    database, wake = shared.database, shared.projection.wake
    edits = WorkspaceEdits(database, shared.settings.workspace)
    abilities = AbilityActivities(AbilityLifeStore(database), edits, shared.projection.project, wake)
    reprobe = ReprobeActivities(
        CapabilityHealthStore(database),
        DraftStore(database),
        StartingStates(database),
        shared.settings.data_dir / "rehearsals",
        wake,
        SkillRechecks(database),
    )
    return (
        abilities.command_ability,
        reprobe.take_inventory,
        reprobe.select_due,
        reprobe.run_canary,
    )
