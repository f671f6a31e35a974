"""Install saga: its view for clients, and the inputs and results of its workflow and activities.

DOC3 §0C.13, §0C.23; shape by routes.md.
"""

from enum import StrEnum

from pydantic import Field

from contracts.abilities.availability import InstallLane
from contracts.base import (
    Contract,
    Sha256,
    Text80,
    Text120,
    Text160,
    Text240,
    UtcTime,
    Uuid,
    VersionedContract,
)


class SagaState(StrEnum):
    """Where a saga stands."""

    RUNNING = "running"
    INSTALLED = "installed"
    COMPENSATING = "compensating"
    ROLLED_BACK = "rolled_back"
    ROLLBACK_FAILED = "rollback_failed"


class SagaStepName(StrEnum):
    """The steps, in order."""

    PLAN = "plan"
    MATERIALISE = "materialise"
    PROJECT_WORKSPACE = "project_workspace"
    REBUILD_BRIDGE = "rebuild_bridge"
    REFRESH_AVAILABILITY = "refresh_availability"


class SagaStepState(StrEnum):
    """Where a step stands."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"
    COMPENSATED = "compensated"
    COMPENSATION_FAILED = "compensation_failed"


class SagaStep(Contract):
    """One step's progress."""

    name: SagaStepName
    state: SagaStepState = SagaStepState.PENDING
    attempts: int = Field(default=0, ge=0)
    error: Text240 | None = None
    updated_at: UtcTime | None = None


class InstallSaga(VersionedContract):
    """One install, readable while it runs and afterwards."""

    saga_id: Uuid
    proposal_id: Uuid
    learn_session_id: Uuid | None = None
    import_id: Uuid | None = Field(
        default=None, description="The import that it installs, instead of a lesson."
    )
    ability_id: Text160
    skill_slug: Text80
    install_lane: InstallLane
    version: int | None = Field(default=None, ge=1)
    state: SagaState
    steps: tuple[SagaStep, ...]
    error: Text240 | None = None
    workflow_id: Text240
    started_at: UtcTime
    updated_at: UtcTime


class InstallSagaInput(Contract):
    """What to install, and how far: the draft of a session, or that of an import."""

    saga_id: Uuid
    learn_session_id: Uuid | None = None
    import_id: Uuid | None = None
    proposal_id: Uuid
    owner_user_id: Text120
    content_hash: Sha256
    ability_id: Text160
    skill_slug: Text120
    lane: InstallLane
    correlation_id: str
    requested_at: UtcTime


class InstallSagaOutput(Contract):
    """How the saga ended. ``version`` is set when it installed."""

    state: SagaState
    version: int | None = None
    failed_step: SagaStepName | None = None
    error: Text240 | None = None


class SagaStepInput(Contract):
    """Do or undo one step."""

    saga: InstallSagaInput
    step: SagaStepName


class SagaStepOutput(Contract):
    """What a step did: files written or removed, and the version it makes."""

    step: SagaStepName
    files: int = 0
    version: int | None = None


class SagaClose(Contract):
    """Records that a saga was rolled back, or could not be."""

    saga: InstallSagaInput
    state: SagaState
    error: Text240 | None = None
