"""Responses of the liveness and readiness probes (routes.md ``/healthz``, ``/readyz``)."""

from typing import Literal

from contracts.base import Contract, Text240


class LivenessResponse(Contract):
    """The process answers."""

    status: Literal["ok"] = "ok"


class ReadinessResponse(Contract):
    """Whether the service can do its work: each part by its name, ``ok`` or what is the matter with it."""

    ready: bool
    parts: dict[str, Text240]
