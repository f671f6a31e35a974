"""Error responses: every refusal and failure in one envelope, with the status of its code."""

import errno
from collections.abc import Mapping
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from api.platform.dependencies import correlation_id_of
from contracts.base import clipped
from contracts.errors import ERROR_RULES, ApiError, ApiErrorEnvelope, ErrorCode, Refusal
from contracts.plain_problems import field_problems, in_a_sentence

log = structlog.get_logger(__name__)

RETRY_AFTER_SECONDS = "2"
_RETRY_LATER = frozenset({503, 429, 507})
_CODES_OF_STATUS: Mapping[int, ErrorCode] = {
    401: ErrorCode.UNAUTHENTICATED,
    403: ErrorCode.FORBIDDEN,
    404: ErrorCode.NOT_FOUND,
    405: ErrorCode.METHOD_NOT_ALLOWED,
    413: ErrorCode.PAYLOAD_TOO_LARGE,
    429: ErrorCode.TOO_MANY_REQUESTS,
}


def error_response(request: Request, code: ErrorCode, message: str, **extra: Any) -> JSONResponse:
    """The envelope for one error. ``fields`` may be names alone; they then get the message as their problem."""
    if "fields" in extra:
        extra["fields"] = [_as_field(field, message) for field in extra["fields"]]
    rule = ERROR_RULES[code]
    retryable = bool(extra.pop("retryable", rule.retryable))
    envelope = ApiErrorEnvelope(
        error=ApiError(
            code=code.value,
            message=clipped(message, 240),
            retryable=retryable,
            correlation_id=correlation_id_of(request),
            **extra,
        )
    )
    headers: dict[str, str] = {}
    if rule.status in _RETRY_LATER and retryable:
        headers["retry-after"] = RETRY_AFTER_SECONDS
    if rule.status == 401:
        headers["www-authenticate"] = "Bearer"
    return JSONResponse(envelope.model_dump(mode="json"), status_code=rule.status, headers=headers)


def install_error_handlers(app: FastAPI) -> None:
    """Every way a request can fail ends in the envelope."""
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(OperationalError, _database)
    app.add_exception_handler(NoConnectionFree, _store_busy)
    app.add_exception_handler(OSError, _os)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Refusal)
    return error_response(request, error.code, error.message, **error.extra)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    problems = field_problems(error.errors(), whole="body", given={"body": error.body})
    fields = [one._asdict() for one in problems[:20]]
    return error_response(request, ErrorCode.VALIDATION_FAILED, in_a_sentence(problems), fields=fields)


def _as_field(field: object, message: str) -> object:
    return (
        {"path": clipped(field, 160), "problem": clipped(message, 200)} if isinstance(field, str) else field
    )


def _methods(request: Request) -> str:
    """What a path takes that does not take this method, for ``Allow``."""
    takes: set[str] = set()
    for route in request.app.routes:
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
            takes |= route.methods or set()
    return ", ".join(sorted(takes))


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = _CODES_OF_STATUS.get(error.status_code, ErrorCode.VALIDATION_FAILED)
    # Without the path, which the client has and which may hold what belongs in no answer and no log.
    if code is ErrorCode.VALIDATION_FAILED:
        problem = clipped(error.detail, 200)
        return error_response(
            request, code, f"body: {problem}", fields=[{"path": "body", "problem": problem}]
        )
    response = error_response(request, code, f"{error.detail}; GET /openapi.json lists what there is.")
    if code is ErrorCode.METHOD_NOT_ALLOWED:
        response.headers["allow"] = _methods(request)
    return response


async def _database(request: Request, error: Exception) -> JSONResponse:
    if "disk is full" in str(error):
        return error_response(request, ErrorCode.STORAGE_FULL, "The disk is full; free space and try again.")
    if "database is locked" in str(error):
        return await _store_busy(request, error)
    return await unexpected(request, error)


async def _store_busy(request: Request, error: Exception) -> JSONResponse:
    """The writer's place, or a connection, did not become free within half a minute."""
    log.warning("store busy", method=request.method, error=type(error).__name__)
    return error_response(
        request,
        ErrorCode.TOO_MANY_REQUESTS,
        "The store was busy with other work for too long, and nothing was written; send it again.",
    )


async def _os(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, OSError)
    if error.errno == errno.ENOSPC:
        return error_response(request, ErrorCode.STORAGE_FULL, "The disk is full; free space and try again.")
    return await unexpected(request, error)


async def unexpected(request: Request, error: Exception) -> JSONResponse:
    """The answer to an error that no handler knows; the log has it under the request's correlation id."""
    route = getattr(request.scope.get("route"), "path", "unmatched")
    log.error("request failed", method=request.method, route=route, exc_info=error)
    return error_response(
        request,
        ErrorCode.INTERNAL_ERROR,
        "Something went wrong here; the log has it under this correlation id.",
    )
