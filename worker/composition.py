"""The composition root of a worker: stores, activities, workflows and the client, put together once."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from activities.ability_activities import AbilityActivities
from activities.drafting import Drafter
from activities.install_activities import InstallActivities
from activities.maintenance_activities import MaintenanceActivities
from activities.mining_activities import MiningActivities, MiningStores
from activities.model_drafting import ModelDrafting
from activities.practice_activities import PracticeActivities
from activities.practice_thinking import PracticeThinking
from activities.reprobe_activities import ReprobeActivities
from activities.session_activities import SessionActivities
from activities.validation_activities import ValidationActivities
from clients.mcp.kept_conversations import KeptConversations
from config.settings import Settings
from stores.ability_life import AbilityLifeStore
from stores.ability_store import AbilityStore
from stores.allowed_actions import AllowedActions
from stores.base_skills import BaseSkills
from stores.capability_health_store import CapabilityHealthStore
from stores.database import Database
from stores.draft_store import DraftStore
from stores.install_store import InstallStore
from stores.journal_chains import anchor
from stores.maintenance_store import MaintenanceStore
from stores.mining_candidates import CandidateStore
from stores.mining_reads import CandidateReads
from stores.mining_runs import MiningRunStore
from stores.mining_settings import MiningSettingsStore
from stores.mining_store import MiningStore
from stores.mining_traces import MiningTraces
from stores.model_wordings import ModelWordingStore
from stores.nightly_sweeps import nightly_sweeps
from stores.observations import ObservationLog
from stores.practice_knowledge import PracticeKnowledge
from stores.practice_store import PracticeStore
from stores.projector import Projector
from stores.proposal_reads import ProposalReads
from stores.session_store import SessionStore
from stores.validation_store import ValidationStore
from stores.workspace_edits import WorkspaceEdits
from worker.language_model import language_model
from worker.log_context import LogContext
from worker.mcp_composition import MCP_WORKFLOWS, kept_conversations, mcp_activities
from worker.mined_sessions import MinedSessions
from worker.practice_sessions import START_FOLDER, PracticeSessions
from worker.projection import ProjectionLoop
from workflows.ability_workflow import AbilityWorkflow
from workflows.capability_reprobe_workflow import CapabilityReprobeWorkflow
from workflows.install_saga_workflow import InstallSagaWorkflow
from workflows.learn_session_workflow import LearnSessionWorkflow
from workflows.mined_skill_workflow import MinedSkillWorkflow
from workflows.nightly_maintenance_workflow import NightlyMaintenanceWorkflow
from workflows.practice_workflow import PracticeWorkflow
from workflows.skill_mining_workflow import SkillMiningWorkflow
from workflows.validation_run_workflow import ValidationRunWorkflow

WORKFLOWS: Sequence[type] = (
    LearnSessionWorkflow,
    ValidationRunWorkflow,
    InstallSagaWorkflow,
    NightlyMaintenanceWorkflow,
    AbilityWorkflow,
    CapabilityReprobeWorkflow,
    SkillMiningWorkflow,
    MinedSkillWorkflow,
    PracticeWorkflow,
    *MCP_WORKFLOWS,
)

ACTIVITY_THREADS = 16
DRAIN = timedelta(seconds=15)
CANCELS_HEARD_WITHIN = timedelta(seconds=1)
CACHED_WORKFLOWS = 600
"""How many workflows are kept in memory, at about 150 KiB each. Others are replayed when something happens to them."""

PASSED_THROUGH = ("contracts", "domain", "stores", "skills", "activities", "pydantic", "pydantic_core")
"""Modules the sandbox takes from the process: values and activity signatures, nothing workflows run."""


@dataclass(frozen=True)
class WorkerParts:
    """A worker's parts, unstarted."""

    database: Database
    projection: ProjectionLoop
    observations: ObservationLog
    executor: ThreadPoolExecutor
    activities: Sequence[Callable[..., Any]]
    conversations: KeptConversations

    async def close(self) -> None:
        """Ends what is kept for the next call, stops the threads and closes the database."""
        try:
            await self.conversations.close()
        finally:
            self.executor.shutdown(wait=True)
            self.projection.close()
            self.observations.close()
            self.database.close()


def compose(settings: Settings) -> WorkerParts:
    """Stores and activities over the settings' database."""
    database = Database(settings.database_url)
    projector = Projector(database, settings.memory_root, settings.workspace)
    projection = ProjectionLoop(projector, lambda: anchor(database, datetime.now(UTC)))
    observations = ObservationLog(database)
    drafts = DraftStore(database)
    wordings = ModelWordingStore(database)
    edits = WorkspaceEdits(database, settings.workspace)
    bases = BaseSkills(database, edits)
    drafter = Drafter(
        observations, drafts, ProposalReads(database, AllowedActions(database, bases)), wordings, bases
    )
    model = language_model(settings)
    model_drafting = ModelDrafting(drafter, wordings, model)
    sessions = SessionActivities(SessionStore(database), drafter, projection.wake, bases)
    validation = ValidationActivities(
        drafts,
        AbilityStore(database),
        ValidationStore(database),
        settings.data_dir / "rehearsals",
        projection.wake,
    )
    installs = InstallActivities(InstallStore(database), projector.catch_up, bases)
    abilities = AbilityActivities(
        AbilityLifeStore(database),
        edits,
        projector.catch_up,
        projection.wake,
    )
    runs = MaintenanceStore(database)
    maintenance = MaintenanceActivities(
        database,
        runs,
        nightly_sweeps(database, runs, observations, settings.data_dir / START_FOLDER),
        projection.wake,
    )
    reprobe = ReprobeActivities(CapabilityHealthStore(database), projection.wake)
    mining = _mining(settings, database, observations, projection)
    practices, knowledge = PracticeStore(database), PracticeKnowledge(database, observations)
    practice = PracticeActivities(
        practices,
        knowledge,
        SessionStore(database),
        lambda client: PracticeSessions(client, settings, SessionStore(database), practices, observations),
        settings.data_dir / "rehearsals",
        projection.wake,
    )
    conversations = kept_conversations(settings, database)
    thinking = PracticeThinking(practices, knowledge, SessionStore(database), model)
    return WorkerParts(
        database=database,
        projection=projection,
        observations=observations,
        executor=ThreadPoolExecutor(ACTIVITY_THREADS, thread_name_prefix="activity"),
        activities=(
            sessions.commit_session,
            sessions.draft_proposal,
            sessions.check_base,
            model_drafting.word_draft,
            validation.run_check,
            validation.rehearse,
            installs.do_step,
            installs.undo_step,
            installs.close,
            abilities.command_ability,
            maintenance.open_maintenance,
            maintenance.sweep_page,
            maintenance.give_up_sweep,
            maintenance.refresh_derived,
            maintenance.check_journal,
            maintenance.close_maintenance,
            reprobe.take_inventory,
            reprobe.select_due,
            reprobe.run_canary,
            mining.open_mining,
            mining.mine_page,
            mining.close_mining,
            mining.begin_build,
            mining.open_mined_session,
            mining.see_build_through,
            mining.abandon_build,
            practice.begin_practice,
            thinking.think_of_plans,
            practice.propose_idea,
            practice.attempt_idea,
            practice.note_attempt,
            practice.end_practice,
            *mcp_activities(settings, database, observations, projection, conversations),
        ),
        conversations=conversations,
    )


def _mining(
    settings: Settings, database: Database, observations: ObservationLog, projection: ProjectionLoop
) -> MiningActivities:
    mining = MiningStore(
        database,
        MiningTraces(database, observations),
        settings.mining_max_variation,
        settings.mining_min_coverage,
    )
    stores = MiningStores(
        mining,
        MiningRunStore(database),
        CandidateStore(database),
        CandidateReads(database),
        MiningSettingsStore(database),
    )
    return MiningActivities(
        stores, lambda client: MinedSessions(client, settings, database, observations), projection.wake
    )


def sandboxed(runner: type[SandboxedWorkflowRunner] = SandboxedWorkflowRunner) -> SandboxedWorkflowRunner:
    """How workflows run here, and are replayed: in the sandbox, with ``PASSED_THROUGH``."""
    return runner(restrictions=SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH))


def build_worker(
    client: Client, settings: Settings, parts: WorkerParts, runner: SandboxedWorkflowRunner | None = None
) -> Worker:
    """The worker of the one task queue; sandbox on."""
    return Worker(
        client,
        task_queue=settings.task_queue,
        workflows=WORKFLOWS,
        activities=parts.activities,
        activity_executor=parts.executor,
        workflow_runner=runner or sandboxed(),
        interceptors=[LogContext()],
        max_cached_workflows=CACHED_WORKFLOWS,
        # What a killed worker was to do next is given to another one after this time.
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
        graceful_shutdown_timeout=DRAIN,
        # A heartbeat that is held back holds back the word that its activity is cancelled.
        max_heartbeat_throttle_interval=CANCELS_HEARD_WITHIN,
    )
