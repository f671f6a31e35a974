"""Workflows and activities of executable skills, for the worker."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import structlog
from temporalio.client import Client

import skills
from activities.memory.check_in_activities import CheckInActivities
from activities.skills.catalog_activities import SkillCatalogActivities
from activities.skills.invocation_activities import SkillInvocationActivities
from activities.skills.learned_scripts import LearnedScriptRuns
from activities.skills.registration_activities import SkillRegistrationActivities
from activities.skills.services.call_log_service import CallLogService
from activities.skills.services.inbox_service import InboxService, StartCheckIn
from activities.skills.services.ledger_service import LedgerService
from activities.skills.services.memory_service import MemoryService
from activities.skills.services.outbox_service import GatewayService, Outbox, OutboxService
from activities.skills.services.profiles_service import ProfilesService
from activities.skills.services.skill_services import SkillServices
from activities.skills.skill_runs import SkillRuns
from config.settings import Settings
from contracts.memory.check_ins import CheckIn
from contracts.skills.catalog import SkillState
from contracts.skills.manifest import BrokerService
from gateways.memory.check_ins import run_check_in
from skills.runtime.allowlist import Allowlist
from skills.runtime.broker import CALL_LOG, GATEWAY
from skills.runtime.roots import SkillRoots
from skills.runtime.runner import Operator
from skills.runtime.skill_copy import remove_abandoned_runs
from stores.abilities.ability_reads import AbilityStore
from stores.inbox.inbox import Inbox
from stores.learning.sessions import SessionStore
from stores.memory.check_ins import CheckIns
from stores.memory.goals import Goals
from stores.memory.memories import Memories
from stores.platform.projection.atomic_files import FileTree
from stores.skills.attempts import SkillAttempts
from stores.skills.catalog import SkillCatalog
from stores.skills.learned_scripts import LearnedScripts
from stores.skills.registered_tools import RegisteredTools
from stores.skills.reports.observing import SkillObserver
from stores.skills.services.agents import Agents
from stores.skills.services.call_logs import CallLogs
from stores.skills.services.ledger import Ledger
from stores.skills.services.messages import OperatorMessages
from worker.agent_documents import keep_voice_document
from worker.content_services import content_services
from worker.operator_channel import openclaw_gateway, operator_channel
from worker.outside_services import calendar_service, identity_service, voice_service
from worker.resources import WorkerResources
from worker.secrets import own_secrets
from workflows.memory.check_in_workflow import CheckInWorkflow
from workflows.skills.skill_catalog_workflow import SkillCatalogWorkflow
from workflows.skills.skill_invocation_workflow import SkillInvocationWorkflow

SKILL_WORKFLOWS: Sequence[type] = (SkillInvocationWorkflow, SkillCatalogWorkflow, CheckInWorkflow)

log = structlog.get_logger(__name__)

BUNDLED = Path(*skills.__path__) / "bundled"


def skill_catalog_activities(shared: WorkerResources) -> SkillCatalogActivities:
    """The activities of the catalog; the worker also reads the roots with them when it starts."""
    settings = shared.settings
    return SkillCatalogActivities(
        SkillCatalog(shared.database),
        _roots(settings),
        Allowlist(settings.data_dir),
        AbilityStore(shared.database),
        shared.projection.wake,
    )


def _roots(settings: Settings) -> SkillRoots:
    return SkillRoots(
        workspace=settings.workspace / "skills", managed=settings.data_dir / "skills", bundled=BUNDLED
    )


def _registration(shared: WorkerResources, reading: SkillCatalogActivities) -> SkillRegistrationActivities:
    settings = shared.settings
    tools, managed = (
        FileTree(settings.data_dir / name, file_mode=0o600, folder_mode=0o700)
        for name in ("skill_tools", "skills")
    )
    return SkillRegistrationActivities(
        SkillCatalog(shared.database), reading, _roots(settings), RegisteredTools(tools), managed
    )


def skill_services(shared: WorkerResources) -> SkillServices:
    """The services that handlers may reach."""
    settings = shared.settings
    gateway = openclaw_gateway(settings)
    outbox = Outbox(OperatorMessages(shared.database), operator_channel(settings, gateway))
    return SkillServices(
        {
            CALL_LOG: CallLogService(CallLogs(settings.data_dir / "call_logs")),
            GATEWAY: GatewayService(outbox, gateway),
            BrokerService.CALENDAR.value: calendar_service(settings),
            BrokerService.IDENTITY.value: identity_service(settings),
            BrokerService.LEDGER.value: LedgerService(Ledger(shared.database), settings.skill_money_per_day),
            BrokerService.OUTBOX.value: OutboxService(outbox),
            BrokerService.INBOX.value: InboxService(
                Inbox(shared.database), CheckIns(shared.database), _starting(settings)
            ),
            BrokerService.MEMORY.value: MemoryService(Memories(shared.database), Goals(shared.database)),
            BrokerService.PROFILES.value: ProfilesService(Agents(shared.database)),
            BrokerService.VOICE.value: voice_service(settings),
            **content_services(shared),
        }
    )


def _starting(settings: Settings) -> StartCheckIn:
    """Starts the workflow of a check-in on the queue of the settings."""

    async def start(client: Client, check_in: CheckIn) -> None:
        await run_check_in(client, settings.task_queue, check_in)

    return start


def operator_of(settings: Settings) -> Operator:
    """Whom messages of skills go to."""
    return Operator(name=settings.operator_name, telegram_id=settings.operator_telegram_id)


def skill_activities(shared: WorkerResources) -> Sequence[Callable[..., Any]]:
    """The activities of invocations and of the catalog."""
    settings = shared.settings
    attempts = SkillAttempts(shared.database, confirmation_expiry=settings.ask_first_expiry)
    runs = SkillRuns(
        SkillCatalog(shared.database),
        skill_services(shared),
        operator_of(settings),
        LearnedScriptRuns(LearnedScripts(shared.database), settings.data_dir / "rehearsals"),
        own_secrets(settings, shared.database),
    )
    check_ins = CheckInActivities(CheckIns(shared.database))
    observer = SkillObserver(shared.database, SessionStore(shared.database), shared.observations)
    invocations = SkillInvocationActivities(attempts, runs, observer, shared.projection.wake)
    remove_abandoned_runs()
    catalog = skill_catalog_activities(shared)
    registration = _registration(shared, catalog)
    keep_voice_document(shared.database, BUNDLED, connected=settings.voice_app_url is not None)
    found = catalog.reload()
    ready = SkillCatalog(shared.database).all([SkillState.READY])
    log.info(
        "skills were loaded",
        skills=[one.name for one in ready],
        tools=len(ready),
        awaiting_approval=found.awaiting_approval,
        malformed=found.malformed,
    )
    return (
        invocations.run_attempt,
        invocations.check_invocation,
        invocations.read_invocation,
        invocations.ask_for_confirmation,
        invocations.confirm_invocation,
        invocations.give_up_invocation,
        invocations.inspect_attempt,
        check_ins.read_check_in,
        check_ins.fire_check_in,
        catalog.reload_catalog,
        catalog.approve_folder,
        catalog.inspect_folder,
        registration.register_tool,
        registration.register_skill,
    )
