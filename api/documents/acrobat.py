"""Operations on PDF documents (DOC3 §0.2F), each a tool call subject to policy, approval and receipts.

A request that cannot become a call is refused; any other is answered with the state of its call, so that a request
repeated with the same key reports progress once a person has decided.
"""

from datetime import UTC, datetime
from functools import partial

import anyio.to_thread
from fastapi import APIRouter, Request

from api.platform.commands import CommandFrame, ToolUserFrame
from api.platform.dependencies import OutputDigest, Reader, ServicesDep, ToolUser
from api.services import Services
from clients.documents.reading_order import document_libraries
from contracts.documents.acrobat import (
    MAX_SOURCE_BYTES,
    AcrobatAdapterHealth,
    AcrobatAdapterState,
    AcrobatCapability,
    AcrobatExtractTablesRequest,
    AcrobatExtractTextRequest,
    AcrobatOCRRequest,
    AcrobatOperationResponse,
    AcrobatOutput,
    AcrobatRedactionPrepRequest,
    AcrobatSource,
    AcrobatSourceRef,
)
from contracts.errors import ErrorCode, Refusal
from contracts.learning.responses import DeletedResponse
from contracts.mcp.dispatch import DispatchRequest
from contracts.platform.commands import CommitKey
from domain.documents.acrobat import adapter_health, arguments_of, operation_of
from gateways.mcp.dispatch_orders import dispatch_id_of
from stores.platform.answers import Answers

router = APIRouter(prefix="/api/adapters/acrobat", tags=["acrobat"])

PDF = "application/pdf"
OPERATION_TIMEOUT_MS = 120_000
ANSWER_WITHIN_MS = 60_000

_MAGIC_WITHIN = 1024
# Readers take a document whose header comes a little late, so it is looked for there as well.


@router.get("/health", operation_id="acrobat_health")
async def health(caller: Reader, services: ServicesDep) -> AcrobatAdapterHealth:
    """What can be done with documents now. Offer no action that is not among ``supported_capabilities``."""
    return await anyio.to_thread.run_sync(_health, services, caller.user_id)


@router.post(
    "/sources",
    operation_id="acrobat_source_upload",
    status_code=201,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                PDF: {"schema": {"type": "string", "format": "binary", "maxLength": MAX_SOURCE_BYTES}}
            },
        }
    },
)
async def upload(request: Request, caller: ToolUser, services: ServicesDep) -> AcrobatSource:
    """Hands in a document of at most 32 MiB. It is deleted after seven days; handing it in again prolongs that.

    It can be forgotten before: ``DELETE /api/adapters/acrobat/artifacts/{digest}``.
    """
    content = await request.body()
    if b"%PDF-" not in content[:_MAGIC_WITHIN]:
        raise Refusal(
            ErrorCode.VALIDATION_FAILED,
            "The body is no PDF document; send one as it is, with Content-Type: application/pdf.",
            fields=[{"path": "body", "problem": "is no PDF document"}],
        )
    keep = partial(services.mcp.acrobat.keep_source, caller.user_id, content, datetime.now(UTC))
    return await anyio.to_thread.run_sync(keep)


@router.post("/extract-text", operation_id="acrobat_extract_text")
async def extract_text(body: AcrobatExtractTextRequest, frame: ToolUserFrame) -> AcrobatOperationResponse:
    """The text of the wanted pages, as an output to fetch."""
    return await _operate(AcrobatCapability.EXTRACT_TEXT, body, frame)


@router.post("/extract-tables", operation_id="acrobat_extract_tables")
async def extract_tables(body: AcrobatExtractTablesRequest, frame: ToolUserFrame) -> AcrobatOperationResponse:
    """The tables of the wanted pages, as an output to fetch."""
    return await _operate(AcrobatCapability.EXTRACT_TABLES, body, frame)


@router.post("/ocr", operation_id="acrobat_ocr")
async def ocr(body: AcrobatOCRRequest, frame: ToolUserFrame) -> AcrobatOperationResponse:
    """The text in the pictures of the wanted pages, as an output to fetch."""
    return await _operate(AcrobatCapability.OCR, body, frame)


@router.post("/redaction-prep", operation_id="acrobat_redaction_prep")
async def redaction_prep(body: AcrobatRedactionPrepRequest, frame: ToolUserFrame) -> AcrobatOperationResponse:
    """Locates text to be redacted. Always waits for a person's approval, whatever the policy."""
    return await _operate(AcrobatCapability.REDACTION_PREP, body, frame)


@router.get("/outputs/{digest}", operation_id="acrobat_output")
def output(digest: OutputDigest, caller: Reader, services: ServicesDep) -> AcrobatOutput:
    """What an operation found; the digest is the end of its ``output_ref``."""
    found = services.mcp.acrobat.output(caller.user_id, digest, datetime.now(UTC))
    return AcrobatOutput.model_validate_json(found)


@router.delete("/artifacts/{digest}", operation_id="acrobat_forget")
async def forget(digest: OutputDigest, frame: ToolUserFrame) -> DeletedResponse:
    """Deletes a document or an output: it cannot be read or processed from now on.

    A call that waits for an approval then finds no document. The content is deleted by the next maintenance.
    """

    def act() -> DeletedResponse:
        frame.services.mcp.acrobat.forget(frame.owner, digest, datetime.now(UTC))
        return DeletedResponse()

    return await frame.write_once(None, act, DeletedResponse)


async def _operate(
    capability: AcrobatCapability, body: AcrobatSourceRef, frame: CommandFrame
) -> AcrobatOperationResponse:
    services, key = frame.services, frame.key_for(body)
    prepare = partial(_server_id, services, key, capability, body, frame.correlation_id)
    request = DispatchRequest(
        server_id=await anyio.to_thread.run_sync(prepare),
        tool_name=capability.value,
        arguments=arguments_of(body),
        data_class=body.data_class,
        timeout_ms=OPERATION_TIMEOUT_MS,
        wait_ms=ANSWER_WITHIN_MS,
        client_request_id=body.client_request_id,
    )
    if frame.client_key(body) is not None:
        await anyio.to_thread.run_sync(Answers(services.database).hold, key)
    view = await services.mcp.dispatch_gateway.dispatch(request, frame.caller, key, frame.correlation_id)
    return operation_of(view, capability)


def _server_id(
    services: Services,
    key: CommitKey,
    capability: AcrobatCapability,
    body: AcrobatSourceRef,
    correlation_id: str,
) -> str:
    """The server that is called, once it is certain that a call makes sense; of a call that was made, its own.

    Raises:
        Refusal: ``IDEMPOTENCY_KEY_REUSED``, ``ACROBAT_UNAVAILABLE``, ``ACROBAT_OCR_UNSUPPORTED``,
            ``ACROBAT_SOURCE_NOT_FOUND``.
    """
    made = dispatch_id_of(key)
    if made is not None:
        Answers(services.database).recall(key)
        if (kept := services.mcp.dispatches.find(made)) is not None:
            return kept.record.order.server_id
    owner = key.owner_user_id
    found = _health(services, owner)
    if found.adapter_state in {AcrobatAdapterState.MISSING, AcrobatAdapterState.DISABLED}:
        raise Refusal(
            ErrorCode.ACROBAT_UNAVAILABLE,
            f"No document can be worked on now: {found.next_action}",
            adapter_state=found.adapter_state.value,
            reason_code=found.reason_code,
            retryable=False,
        )
    if capability not in found.supported_capabilities:
        raise Refusal(
            ErrorCode.ACROBAT_OCR_UNSUPPORTED,
            f"Text in pictures cannot be read here: {found.next_action}",
            reason_code=found.reason_code,
        )
    now = datetime.now(UTC)
    services.mcp.acrobat.digest_of(owner, body.source_ref_kind, body.source_ref, now)
    return services.mcp.acrobat_servers.present(owner, now, correlation_id).server_id


def _health(services: Services, owner: str) -> AcrobatAdapterHealth:
    installed = document_libraries()
    server = services.mcp.acrobat_servers.find(owner)
    return adapter_health(
        reading=installed.reading,
        recognition=installed.recognition,
        confinement=installed.confinement,
        enabled=server is None or server.enabled,
        now=datetime.now(UTC),
    )
