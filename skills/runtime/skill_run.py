"""What a run of a skill is given, and what comes of it."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from contracts.skills.invocation import CallContext, Isolation
from contracts.skills.manifest import SkillManifest, ToolRecord


@dataclass(frozen=True)
class Operator:
    """Whom messages go to, by configuration (AM-23)."""

    name: str
    telegram_id: str | None = None


@dataclass(frozen=True)
class SkillRun:
    """One run of one tool of a skill.

    ``folder`` is the skill's, and is run only if its content still has ``digest``. ``reads`` are the calls of services,
    as ``service.method``, that change nothing: a run that made no other is one that did not act.
    """

    manifest: SkillManifest
    tool: ToolRecord
    folder: Path
    digest: str
    params: dict[str, Any]
    invocation_id: str
    idempotency_key: str
    call: CallContext | None
    operator: Operator
    entry: Literal["handle", "check"] = "handle"
    timeout_ms: int = 0
    reads: frozenset[str] = frozenset()

    @property
    def seconds(self) -> float:
        """How long it may take: its own limit, else that of the manifest."""
        return (self.timeout_ms or self.manifest.timeout_ms) / 1000


@dataclass(frozen=True)
class SkillFailure:
    """Why a run gave no answer: a code of the skill's error table, and words without anything private."""

    code: str
    message: str
    retryable: bool | None = None
    retry_after_ms: int | None = None
    details: dict[str, Any] = field(default_factory=dict[str, Any])


class RunFailed(Exception):
    """Ends a run with a failure."""

    def __init__(self, failure: SkillFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def failed(code: str, message: str, **details: Any) -> RunFailed:
    """The end of a run that failed."""
    return RunFailed(SkillFailure(code, message, details=details))


@dataclass(frozen=True)
class RanSkill:
    """What came of a run: an answer or a failure, whether it may have had an effect, and how it was kept apart.

    ``unsure`` says that a service does not know whether what it was asked for has happened, ``due_at`` for which time
    it has the invocation wait.
    """

    answer: dict[str, Any] | None
    failure: SkillFailure | None
    acted: bool
    log: str
    isolation: Isolation
    duration_ms: int
    unsure: bool = False
    due_at: datetime | None = None
