"""The API's document: every operation with its errors in the one envelope, and with examples."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from api.openapi_errors import MEANINGS, errors_of
from api.openapi_examples import REQUESTS, RESPONSES
from api.openapi_subjects import SUBJECTS
from contracts.base import clipped
from contracts.errors import ERROR_RULES, ApiError, ApiErrorEnvelope, ErrorCode

TAGS = [
    {"name": "sessions", "description": "Showing the agent something: from armed to a finished capture."},
    {"name": "observations", "description": "What recorders report, redacted before it is kept."},
    {"name": "proposals", "description": "What the agent understood: questions, proof, approval, install."},
    {"name": "abilities", "description": "What the agent can do, and which ability a request means."},
    {"name": "records", "description": "History, receipts, and what is being learned right now."},
    *(subject.TAG for subject in SUBJECTS if subject.TAG),
    {"name": "maintenance", "description": "The nightly tidying, for admins."},
    {"name": "identity", "description": "The caller and access tokens."},
    {"name": "system", "description": "Probes, metrics, and the workflow behind an object."},
]
_ENVELOPE = "ApiErrorEnvelope"
_REPLACED = ("HTTPValidationError", "ValidationError")
_CORRELATION_ID = "0199aa10-7c00-7000-8000-0000000000c1"


def document_of(app: FastAPI) -> Callable[[], dict[str, Any]]:
    """What ``app.openapi`` is to be: the document, made on the first call."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    return document


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes, tags=TAGS
    )
    schemas: dict[str, Any] = document["components"]["schemas"]
    for name in _REPLACED:
        schemas.pop(name, None)
    schemas.update(_schemas_of_envelope())
    document["components"]["examples"] = {
        code.value: {"value": _plain(_example_of(code))} for code in MEANINGS
    }
    for path in document["paths"].values():
        for operation in path.values():
            _complete(operation)
    return document


def _schemas_of_envelope() -> dict[str, Any]:
    schema = ApiErrorEnvelope.model_json_schema(ref_template="#/components/schemas/{model}")
    nested: dict[str, Any] = schema.pop("$defs")
    return {**nested, _ENVELOPE: schema}


def _complete(operation: dict[str, Any]) -> None:
    name: str = operation["operationId"]
    responses: dict[str, Any] = operation["responses"]
    for status, codes in errors_of(operation).items():
        responses[str(status)] = _error_response(status, codes)
    for status, response in responses.items():
        content = response.get("content", {}).get("application/json")
        if status.startswith("2") and content is not None:
            model: str = content["schema"]["$ref"].rsplit("/", 1)[1]
            content["example"] = _plain(RESPONSES[model])
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None:
        body["example"] = REQUESTS[name]


def _error_response(status: int, codes: list[ErrorCode]) -> dict[str, Any]:
    lines = [f"- `{code.value}`: {MEANINGS[code]}" for code in codes]
    response: dict[str, Any] = {
        "description": "\n".join(lines),
        "content": {
            "application/json": {
                "schema": {"$ref": f"#/components/schemas/{_ENVELOPE}"},
                "examples": {code.value: {"$ref": f"#/components/examples/{code.value}"} for code in codes},
            }
        },
    }
    if status in (429, 503, 507):
        response["headers"] = {
            "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}
        }
    return response


def _example_of(code: ErrorCode) -> ApiErrorEnvelope:
    return ApiErrorEnvelope(
        error=ApiError(
            code=code.value,
            message=clipped(MEANINGS[code].replace("`", ""), 240),
            retryable=ERROR_RULES[code].retryable,
            correlation_id=_CORRELATION_ID,
        )
    )


def _plain(example: BaseModel) -> dict[str, Any]:
    return example.model_dump(mode="json")
