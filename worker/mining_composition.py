"""Workflows and activities of skill mining, practice and nightly maintenance, for the worker."""

from collections.abc import Callable, Sequence
from typing import Any

from activities.maintenance.maintenance_activities import MaintenanceActivities
from activities.mining.mining_activities import MiningActivities, MiningStores
from activities.practice.practice_activities import PracticeActivities, PracticeThinking
from clients.learning.model_endpoint import ModelEndpoint
from config.own_places import TOOL_SERVERS
from gateways.mining.mined_sessions import MinedSessions
from gateways.practice.practice_sessions import START_FOLDER, PracticeSessions
from stores.learning.sessions import SessionStore
from stores.maintenance.nightly_sweeps import nightly_sweeps
from stores.maintenance.runs import MaintenanceStore
from stores.mining.candidate_reads import CandidateReads
from stores.mining.candidates import CandidateStore
from stores.mining.mining import MiningStore, MiningTraces
from stores.mining.runs import MiningRunStore, MiningSettingsStore
from stores.practice.practice import PracticeKnowledge, PracticeStore
from worker.resources import WorkerResources
from workflows.maintenance.nightly_maintenance_workflow import NightlyMaintenanceWorkflow
from workflows.mining.mined_skill_workflow import MinedSkillWorkflow
from workflows.mining.skill_mining_workflow import SkillMiningWorkflow
from workflows.practice.practice_workflow import PracticeWorkflow

MINING_WORKFLOWS: Sequence[type] = (SkillMiningWorkflow, MinedSkillWorkflow)
PRACTICE_WORKFLOWS: Sequence[type] = (PracticeWorkflow,)
MAINTENANCE_WORKFLOWS: Sequence[type] = (NightlyMaintenanceWorkflow,)


def mining_activities(shared: WorkerResources) -> Sequence[Callable[..., Any]]:
    """Activities of skill mining and of the sessions that it builds."""
    settings, database, observations = shared.settings, shared.database, shared.observations
    store = MiningStore(
        database,
        MiningTraces(database, observations),
        settings.mining_max_variation,
        settings.mining_min_coverage,
    )
    stores = MiningStores(
        store,
        MiningRunStore(database),
        CandidateStore(database),
        CandidateReads(database),
        MiningSettingsStore(database),
    )
    mining = MiningActivities(
        stores, lambda client: MinedSessions(client, settings, database, observations), shared.projection.wake
    )
    return (
        mining.open_mining,
        mining.mine_page,
        mining.close_mining,
        mining.begin_build,
        mining.open_mined_session,
        mining.see_build_through,
        mining.abandon_build,
        mining.give_up_build,
    )


def practice_activities(shared: WorkerResources, model: ModelEndpoint | None) -> Sequence[Callable[..., Any]]:
    """Activities of practice; ``model`` suggests what to practise, if there is one."""
    settings, database, observations = shared.settings, shared.database, shared.observations
    practices, knowledge = PracticeStore(database), PracticeKnowledge(database, observations)
    sessions = SessionStore(database)
    practice = PracticeActivities(
        practices,
        knowledge,
        sessions,
        lambda client: PracticeSessions(client, settings, sessions, practices, observations),
        settings.data_dir / "rehearsals",
        shared.projection.wake,
    )
    return (
        practice.begin_practice,
        PracticeThinking(practices, knowledge, sessions, model).think_of_plans,
        practice.propose_idea,
        practice.attempt_idea,
        practice.note_attempt,
        practice.end_practice,
        practice.close_practice,
    )


def maintenance_activities(shared: WorkerResources) -> Sequence[Callable[..., Any]]:
    """Activities of nightly maintenance."""
    runs = MaintenanceStore(shared.database)
    start_files = shared.settings.data_dir / START_FOLDER
    tool_folders = shared.settings.data_dir / TOOL_SERVERS
    sweeps = nightly_sweeps(shared.database, runs, shared.observations, start_files, tool_folders)
    maintenance = MaintenanceActivities(shared.database, runs, sweeps, shared.projection.wake)
    return (
        maintenance.open_maintenance,
        maintenance.sweep_page,
        maintenance.give_up_sweep,
        maintenance.refresh_derived,
        maintenance.check_journal,
        maintenance.close_maintenance,
    )
