"""Liveness, readiness, Prometheus metrics, and the Temporal execution of an object (routes.md)."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from urllib.parse import quote

import anyio.to_thread
from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from sqlalchemy import text
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client, WorkflowExecutionDescription
from temporalio.converter import ActivitySerializationContext
from temporalio.service import RPCError, RPCStatusCode

from api.platform.dependencies import Reader, ServicesDep, parse_uuid
from api.platform.skill_metrics import SkillMetrics
from api.services import Services
from contracts import workflow_ids
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.learning.responses import WorkflowLinkResponse
from contracts.platform.readiness import LivenessResponse, ReadinessResponse

router = APIRouter(tags=["system"])

CHECK_WITHIN_SECONDS = 2


@router.get("/healthz", operation_id="healthz")
def healthz() -> LivenessResponse:
    """The process answers."""
    return LivenessResponse()


@router.get("/readyz", operation_id="readyz", responses={503: {"model": ReadinessResponse}})
async def readyz(services: ServicesDep, response: Response) -> ReadinessResponse:
    """Whether every part this service needs is there: store, Temporal, a worker that polls."""
    store, temporal = await asyncio.gather(
        anyio.to_thread.run_sync(_store_problem, services), temporal_problem(services)
    )
    parts = {"store": store or "ok", "temporal": temporal or "ok"}
    ready = store is None and temporal is None
    response.status_code = 200 if ready else 503
    return ReadinessResponse(ready=ready, parts=parts)


@router.get("/metrics", operation_id="metrics", response_class=PlainTextResponse)
def metrics(services: ServicesDep) -> PlainTextResponse:
    """Prometheus metrics: requests of this process, and the calls of skills of the whole installation."""
    found = CollectorRegistry(auto_describe=False)
    found.register(SkillMetrics(services.skills.counts))
    return PlainTextResponse(generate_latest() + generate_latest(found), media_type=CONTENT_TYPE_LATEST)


@router.get("/api/workflows/{workflow_id:path}", operation_id="workflow_link")
async def workflow_link(
    workflow_id: str, caller: Reader, services: ServicesDep, request: Request
) -> WorkflowLinkResponse:
    """Where an object's workflow can be watched in the Temporal UI."""
    await anyio.to_thread.run_sync(_require_owner, services, workflow_id, caller.user_id)
    handle = services.client.get_workflow_handle(workflow_id)
    try:
        found = await handle.describe(rpc_timeout=timedelta(seconds=CHECK_WITHIN_SECONDS))
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            raise Refusal(ErrorCode.NOT_FOUND, f"Temporal keeps no execution of {workflow_id}.") from None
        raise Refusal(ErrorCode.TEMPORAL_UNAVAILABLE, "Temporal cannot be reached; try again.") from None
    except RuntimeError:
        raise Refusal(ErrorCode.TEMPORAL_UNAVAILABLE, "Temporal cannot be reached; try again.") from None
    return WorkflowLinkResponse(
        workflow_id=workflow_id,
        status=found.status.name.lower() if found.status else "unknown",
        run_id=found.run_id,
        temporal_ui_url=temporal_ui_link(services, workflow_id, found.run_id),
        doing=await _reported(services.client, found),
    )


async def _reported(client: Client, found: WorkflowExecutionDescription) -> str | None:
    """The words of the newest heartbeat of an activity under way; those that report numbers have none."""
    for activity in found.raw_description.pending_activities:
        context = ActivitySerializationContext(
            namespace=client.namespace,
            activity_id=activity.activity_id,
            activity_type=activity.activity_type.name,
            activity_task_queue=None,
            workflow_id=found.id,
            workflow_type=found.workflow_type,
            is_local=False,
        )
        converter = client.data_converter.with_context(context)
        # What was not signed by this installation cannot be read, and is not worth a refusal here.
        with suppress(KeyError):
            details = await converter.decode(activity.heartbeat_details.payloads)
            if details and isinstance(details[0], str):
                return clipped(details[0], 240)
    return None


def temporal_ui_link(services: Services, workflow_id: str, run_id: str | None) -> str | None:
    """The page of an execution in the Temporal UI, where its address is known."""
    base = services.settings.temporal_ui_url
    if base is None:
        return None
    page = (
        f"{base.rstrip('/')}/namespaces/{services.client.namespace}/workflows/{quote(workflow_id, safe='')}"
    )
    return f"{page}/{run_id}/history" if run_id else page


def _require_owner(services: Services, workflow_id: str, owner: str) -> None:
    kind, _, name = workflow_id.partition("/")
    if kind == workflow_ids.REPROBE_SCHEDULE:
        services.capabilities.require_visible(name, owner)
        return
    if kind == workflow_ids.ABILITY:
        services.abilities.visible_entry(name, owner)
        return
    object_id = parse_uuid(name, ErrorCode.NOT_FOUND, "workflow")
    match kind:
        case workflow_ids.LEARN_SESSION:
            services.sessions.owned(object_id, owner)
        case workflow_ids.INSTALL_SAGA:
            services.proposals.saga(object_id, owner)
        case workflow_ids.VALIDATION_RUN:
            run = services.proposals.validation_run(object_id)
            services.proposals.owned(run.proposal_id, owner)
        case _:
            raise Refusal(
                ErrorCode.NOT_FOUND,
                "Name a workflow: learn-session/{id}, validation-run/{id}, install-saga/{id} or ability/{id}.",
            )


def _store_problem(services: Services) -> str | None:
    try:
        with services.database.read() as connection:
            connection.scalar(text("SELECT 1 FROM learn_sessions LIMIT 1"))
    except Exception as error:
        return f"the store does not answer: {type(error).__name__}"
    return None


async def temporal_problem(services: Services) -> str | None:
    """What keeps commands from being carried out now: no Temporal, or no worker that polls."""
    request = DescribeTaskQueueRequest(
        namespace=services.client.namespace,
        task_queue=TaskQueue(name=services.settings.task_queue),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    )
    try:
        async with asyncio.timeout(CHECK_WITHIN_SECONDS):
            answer = await services.client.workflow_service.describe_task_queue(
                request, timeout=timedelta(seconds=CHECK_WITHIN_SECONDS)
            )
    except (RPCError, RuntimeError, TimeoutError):
        return "Temporal cannot be reached"
    return None if answer.pollers else "no worker polls the task queue"
