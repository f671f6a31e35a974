"""The OpenAPI document: every operation with its error codes and with examples.

Examples are data in ``openapi_examples``: a JSON file per tag, with ``responses`` by the name of the model and
``requests`` by operation id. ``python -m tests.api.record_examples`` completes and records them.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from api.platform.openapi_errors import MEANINGS, errors_of
from contracts.base import clipped
from contracts.errors import ERROR_RULES, ApiError, ApiErrorEnvelope, ErrorCode

TAGS = [
    {"name": "sessions", "description": "Showing the agent something: from armed to a finished capture."},
    {"name": "observations", "description": "What recorders report, redacted before it is kept."},
    {"name": "proposals", "description": "What the agent understood: questions, proof, approval, install."},
    {"name": "abilities", "description": "What the agent can do, and which ability a request means."},
    {"name": "records", "description": "History, receipts, and what is being learned right now."},
    {"name": "configuration", "description": "What skills and people configure, changed by intents alone."},
    {"name": "categories", "description": "Groups of abilities, proposals and more, made by their owner."},
    {"name": "checkpoints", "description": "Milestones that agents verify of their own accord."},
    {"name": "capabilities", "description": "The bridge that agent runtimes route by, and its health."},
    {"name": "mcp", "description": "Tool servers, their tools, who may call what, and what was done."},
    {
        "name": "mcp sign-in",
        "description": "Signing in to tool servers: OAuth 2.1 with PKCE, API keys, and what servers share of it.",
    },
    {
        "name": "mining",
        "description": "Work that was shown again and again, and the skills that could be made of it.",
    },
    {
        "name": "practice",
        "description": "The agent tries by itself, in a sandbox and within a budget, to reach a goal.",
    },
    {
        "name": "acrobat",
        "description": "Text, tables, recognised text and redaction preparation of PDF documents.",
    },
    {
        "name": "skills",
        "description": "Executable skills: catalog, invocations, policy, wallets they debit, agents.",
    },
    {
        "name": "imports",
        "description": "Bundles of skills from elsewhere: uploaded, scanned, staged, reviewed.",
    },
    {"name": "inbox", "description": "What waits for a person, and what was sent to one."},
    {"name": "maintenance", "description": "The nightly tidying, for admins."},
    {"name": "identity", "description": "The caller and access tokens."},
    {"name": "system", "description": "Probes, metrics, and the workflow behind an object."},
]
_ENVELOPE = "ApiErrorEnvelope"
_REPLACED = ("HTTPValidationError", "ValidationError")
_CORRELATION_ID = "0199aa10-7c00-7000-8000-0000000000c1"
_BESIDE_ROUTES = frozenset({ErrorCode.VALIDATION_FAILED, ErrorCode.INTERNAL_ERROR})
"""Answered before a route's function runs or after it failed, and so as JSON also by a route that answers in HTML."""


@dataclass(frozen=True)
class Examples:
    """Example bodies: of responses by the name of their model, of requests by operation id."""

    responses: Mapping[str, Any]
    requests: Mapping[str, Any]


@cache
def examples() -> Examples:
    """Every recorded example, read on the first call."""
    responses: dict[str, Any] = {}
    requests: dict[str, Any] = {}
    for file in (files("api") / "platform" / "openapi_examples").iterdir():
        recorded = json.loads(file.read_text("utf-8"))
        responses |= recorded["responses"]
        requests |= recorded["requests"]
    return Examples(responses, requests)


def document_of(app: FastAPI) -> Callable[[], dict[str, Any]]:
    """A function for ``app.openapi`` that builds the document on its first call."""

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
    document["components"]["examples"] = {code.value: {"value": _example_of(code)} for code in MEANINGS}
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
    page = responses.get("200", {}).get("content", {}).get("text/html")
    for status, codes in errors_of(operation).items():
        responses[str(status)] = _error_response(status, codes)
        if page is not None and not _BESIDE_ROUTES.issuperset(codes):
            responses[str(status)]["content"]["text/html"] = {"schema": page["schema"]}
    for status, response in responses.items():
        content = response.get("content", {}).get("application/json")
        if status.startswith("2") and content is not None:
            # What is no model of ours, such as tool definitions of another's form, describes itself.
            model: str = content["schema"].get("$ref", "").rsplit("/", 1)[-1]
            if model:
                content["example"] = examples().responses[model]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None:
        body["example"] = examples().requests[name]


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


def _example_of(code: ErrorCode) -> dict[str, Any]:
    error = ApiError(
        code=code.value,
        message=clipped(MEANINGS[code].replace("`", ""), 240),
        retryable=ERROR_RULES[code].retryable,
        correlation_id=_CORRELATION_ID,
    )
    return ApiErrorEnvelope(error=error).model_dump(mode="json")
