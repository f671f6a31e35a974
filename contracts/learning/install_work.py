"""The work of an install: what its saga and its steps are given and answer."""

from contracts.base import Contract, Sha256, Text120, Text160, Text240, UtcTime, Uuid
from contracts.learning.proposal import InstallLane
from contracts.learning.saga import SagaState, SagaStepName


class InstallSagaInput(Contract):
    """What to install, and how far."""

    saga_id: Uuid
    learn_session_id: Uuid
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
