"""What the document says of each subject beyond the code: examples, errors and tags, a module a subject.

A module has ``REQUESTS`` (an example body by operation id), ``MODELS`` (an example of every response),
``ERRORS`` (the codes of an operation that its parameters do not tell), ``PATH_IDS`` (the code for a path
parameter that names nothing) and ``TAG``, where the subject has one of its own.
"""

from typing import Any, Protocol

from pydantic import BaseModel

from api.openapi_subjects import (
    account,
    acrobat,
    capabilities,
    categories,
    checkpoints,
    configuration,
    mcp_dispatches,
    mcp_health,
    mcp_policy,
    mcp_registry,
    mcp_routing,
    mcp_sign_ins,
    mining,
    practice,
    proposal_rounds,
    recent_runs,
)
from contracts.errors import ErrorCode


class Subject(Protocol):
    """What a module of this package has."""

    REQUESTS: dict[str, dict[str, Any]]
    MODELS: tuple[BaseModel, ...]
    ERRORS: dict[str, tuple[ErrorCode, ...]]
    PATH_IDS: dict[str, ErrorCode]
    TAG: dict[str, str] | None


SUBJECTS: tuple[Subject, ...] = (
    account,
    configuration,
    categories,
    checkpoints,
    capabilities,
    mcp_dispatches,
    mcp_health,
    mcp_policy,
    mcp_registry,
    mcp_routing,
    mcp_sign_ins,
    mining,
    practice,
    proposal_rounds,
    recent_runs,
    acrobat,
)
"""Every subject described here, in the order of the document."""
