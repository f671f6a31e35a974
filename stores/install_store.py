"""The steps of an install and their undos. Each is one transaction, and doing it twice is doing it once."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.install_work import InstallSagaInput, SagaStepOutput
from contracts.learning.saga import (
    InstallSaga,
    SagaState,
    SagaStep,
    SagaStepName,
    SagaStepState,
)
from stores import tables
from stores.canonical import canonical_json
from stores.database import Database
from stores.install_effects import DERIVED, do_effect, undo_effect, with_digests, with_files_before
from stores.install_plan import InstallPlan, make_plan

_SAGAS = tables.install_sagas


class InstallStore:
    """The durable side of InstallSagaWorkflow."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def do_step(self, request: InstallSagaInput, step: SagaStepName) -> SagaStepOutput:
        """Does one step; does nothing more once the saga is installed.

        Raises:
            Refusal: from planning (``VALIDATION_REQUIRED``, ``SKILL_SLUG_TAKEN``); ``CONFLICT`` when the undo
                has begun, or the session no longer waits for this saga.
        """
        with self._database.write() as connection:
            saga, plan = _open_saga(connection, request)
            _refuse_if_over(connection, request, saga)
            if plan is not None and saga.state is SagaState.INSTALLED:
                return SagaStepOutput(step=step, version=plan.version)
            if plan is None:
                plan = make_plan(connection, request)
            first_time = _state_of(saga, step) is not SagaStepState.DONE
            if step in DERIVED and first_time:
                plan = with_files_before(connection, request, plan, DERIVED[step])
            files = do_effect(connection, request, plan, step)
            if step in DERIVED and first_time:
                plan = with_digests(connection, plan, DERIVED[step])
            saga = _marked(saga, step, SagaStepState.DONE, plan.version)
            if step is _LAST:
                saga = saga.model_copy(update={"state": SagaState.INSTALLED})
            _write_saga(connection, request, saga, plan)
        return SagaStepOutput(step=step, files=files, version=plan.version)

    def undo_step(self, request: InstallSagaInput, step: SagaStepName) -> None:
        """Puts back what the step changed; does nothing where it changed nothing, or the saga is over."""
        with self._database.write() as connection:
            if not _is_awaited(connection, request):
                return
            saga, plan = _open_saga(connection, request)
            state = _state_of(saga, step)
            if plan is not None and state is SagaStepState.DONE:
                undo_effect(connection, request, plan, step)
                state = SagaStepState.COMPENSATED
            elif state is SagaStepState.PENDING:
                state = SagaStepState.FAILED
            saga = saga.model_copy(update={"state": SagaState.COMPENSATING})
            _write_saga(connection, request, _marked(saga, step, state, saga.version), plan)

    def note_attempt(
        self, request: InstallSagaInput, step: SagaStepName, error: str | None, *, undoing: bool
    ) -> None:
        """Makes an attempt, and what went wrong with the last one, visible in the saga's progress."""
        with self._database.write() as connection:
            saga, plan = _open_saga(connection, request)
            steps = tuple(
                one.model_copy(
                    update={
                        "attempts": one.attempts + 1,
                        "error": error or one.error,
                        "state": SagaStepState.COMPENSATION_FAILED if undoing and error else one.state,
                        "updated_at": datetime.now(UTC),
                    }
                )
                if one.name is step
                else one
                for one in saga.steps
            )
            _write_saga(connection, request, saga.model_copy(update={"steps": steps}), plan)

    def close(self, request: InstallSagaInput, state: SagaState, error: str | None) -> None:
        """Records how the saga ended; what the session has taken as its end stays."""
        with self._database.write() as connection:
            if not _is_awaited(connection, request):
                return
            saga, plan = _open_saga(connection, request)
            closed = saga.model_copy(update={"state": state, "error": error, "updated_at": datetime.now(UTC)})
            _write_saga(connection, request, closed, plan)


_LAST = list(SagaStepName)[-1]
"""The step with which a saga is installed: what it writes and that it is done are one transaction."""


def _open_saga(connection: Connection, request: InstallSagaInput) -> tuple[InstallSaga, InstallPlan | None]:
    row = connection.execute(
        select(_SAGAS.c.body, _SAGAS.c.plan).where(_SAGAS.c.saga_id == request.saga_id).with_for_update()
    ).one_or_none()
    if row is not None:
        plan = InstallPlan.model_validate_json(row.plan) if row.plan else None
        return InstallSaga.model_validate_json(row.body), plan
    saga = InstallSaga(
        saga_id=request.saga_id,
        proposal_id=request.proposal_id,
        learn_session_id=request.learn_session_id,
        ability_id=request.ability_id,
        skill_slug=request.skill_slug,
        install_lane=request.lane,
        state=SagaState.RUNNING,
        steps=tuple(SagaStep(name=name) for name in SagaStepName),
        workflow_id=f"install-saga/{request.saga_id}",
        started_at=request.requested_at,
        updated_at=request.requested_at,
    )
    return saga, None


def _state_of(saga: InstallSaga, step: SagaStepName) -> SagaStepState:
    return next(one.state for one in saga.steps if one.name is step)


def _is_awaited(connection: Connection, request: InstallSagaInput) -> bool:
    """Whether the session still waits for this saga; holds the session's row, so that it stays so.

    A worker that was cut off for a while goes on with what others have finished: nothing may come of that.
    """
    sessions = tables.learn_sessions
    body = connection.scalar(
        select(sessions.c.aggregate)
        .where(sessions.c.session_id == request.learn_session_id)
        .with_for_update(read=True)
    )
    install = LearnSessionAggregate.model_validate_json(body).install if body else None
    return install is not None and install.saga_id == request.saga_id


def _refuse_if_over(connection: Connection, request: InstallSagaInput, saga: InstallSaga) -> None:
    if not _is_awaited(connection, request):
        raise Refusal(ErrorCode.CONFLICT, "This install has ended; nothing more is done for it.")
    if saga.state not in (SagaState.RUNNING, SagaState.INSTALLED):
        why = next((step.error for step in saga.steps if step.error), None) or "a step failed"
        raise Refusal(ErrorCode.CONFLICT, f"The undo of this install has begun: {why}")


def _write_saga(
    connection: Connection, request: InstallSagaInput, saga: InstallSaga, plan: InstallPlan | None
) -> None:
    values: dict[str, Any] = {
        "state": saga.state.value,
        "plan": canonical_json(plan) if plan is not None else None,
        "body": canonical_json(saga),
    }
    done = connection.execute(update(_SAGAS).where(_SAGAS.c.saga_id == request.saga_id).values(**values))
    if done.rowcount == 0:
        connection.execute(
            insert(_SAGAS).values(
                saga_id=request.saga_id,
                owner=request.owner_user_id,
                proposal_id=request.proposal_id,
                **values,
            )
        )


def _marked(saga: InstallSaga, step: SagaStepName, state: SagaStepState, version: int | None) -> InstallSaga:
    now = datetime.now(UTC)
    steps = tuple(
        one.model_copy(update={"state": state, "attempts": one.attempts + 1, "updated_at": now})
        if one.name is step
        else one
        for one in saga.steps
    )
    return saga.model_copy(update={"steps": steps, "version": version, "updated_at": now})
