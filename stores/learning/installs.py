"""Store of install sagas: steps and compensations, each one idempotent transaction."""

from datetime import UTC, datetime

from sqlalchemy import Connection, select

from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.install import (
    InstallSaga,
    InstallSagaInput,
    SagaState,
    SagaStep,
    SagaStepName,
    SagaStepOutput,
    SagaStepState,
)
from contracts.workflow_ids import install_saga_id
from stores.imports.import_origin import awaited_import
from stores.learning.drafts import load_bundle
from stores.learning.install_effects import (
    DERIVED,
    InstallPlan,
    do_effect,
    make_plan,
    undo_effect,
    with_digests,
    with_frames_before,
)
from stores.learning.learning_tables import SAGAS, SESSIONS
from stores.platform import tables
from stores.platform.canonical import canonical_json
from stores.platform.database import Database
from stores.platform.projection.document_projection import WorkspaceEdits, edits_digest
from stores.platform.projection.documents import put_document

_SAGAS = tables.install_sagas


class InstallStore:
    """The durable side of InstallSagaWorkflow."""

    def __init__(self, database: Database, edits: WorkspaceEdits) -> None:
        self._database = database
        self._edits = edits

    def do_step(self, request: InstallSagaInput, step: SagaStepName) -> SagaStepOutput:
        """Does one step; does nothing more once the saga is installed.

        Raises:
            Refusal: ``HAND_EDITED``; from planning (``VALIDATION_REQUIRED``, ``SKILL_SLUG_TAKEN``); ``CONFLICT`` when
                the undo has begun, or the session no longer waits for this saga.
        """
        if step in _BEFORE_FILES:
            self._guard_hand_edits(request)
        with self._database.write() as connection:
            saga, plan = _open_saga(connection, request)
            session = _awaiting(connection, request, saga)
            if plan is not None and saga.state is SagaState.INSTALLED:
                return SagaStepOutput(step=step, version=plan.version)
            if plan is None:
                plan = make_plan(connection, request, session)
            first_time = _state_of(saga, step) is not SagaStepState.DONE
            if step in DERIVED and first_time:
                plan = with_frames_before(connection, plan, DERIVED[step])
            files = do_effect(connection, request, session, plan, step)
            if step in DERIVED and first_time:
                plan = with_digests(connection, plan, DERIVED[step])
            saga = _marked(saga, step, SagaStepState.DONE, plan.version)
            if step is _LAST:
                saga = saga.changed(state=SagaState.INSTALLED)
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
            saga = saga.changed(state=SagaState.COMPENSATING)
            _write_saga(connection, request, _marked(saga, step, state, saga.version), plan)

    def note_attempt(
        self, request: InstallSagaInput, step: SagaStepName, error: str | None, *, undoing: bool
    ) -> None:
        """Makes an attempt, and what went wrong with the last one, visible in the saga's progress."""
        with self._database.write() as connection:
            saga, plan = _open_saga(connection, request)
            steps = tuple(
                one.changed(
                    attempts=one.attempts + 1,
                    error=error or one.error,
                    state=SagaStepState.COMPENSATION_FAILED if undoing and error else one.state,
                    updated_at=datetime.now(UTC),
                )
                if one.name is step
                else one
                for one in saga.steps
            )
            _write_saga(connection, request, saga.changed(steps=steps), plan)

    def close(self, request: InstallSagaInput, state: SagaState, error: str | None) -> None:
        """Records how the saga ended; what the session has taken as its end stays."""
        with self._database.write() as connection:
            if not _is_awaited(connection, request):
                return
            saga, plan = _open_saga(connection, request)
            closed = saga.changed(state=state, error=error, updated_at=datetime.now(UTC))
            _write_saga(connection, request, closed, plan)

    def _guard_hand_edits(self, request: InstallSagaInput) -> None:
        """Makes the hand edits that the proposal has taken in part of the store: an undo puts them back.

        Raises:
            Refusal: ``HAND_EDITED`` when there are others than those; nothing is touched.
        """
        edited = self._edits.of_skill(request.skill_slug)
        if not edited:
            return
        with self._database.write() as connection:
            proposal, _ = load_bundle(connection, request.proposal_id)
            if edits_digest(edited) != proposal.hand_edits:
                raise Refusal(
                    ErrorCode.HAND_EDITED,
                    "Installed files were edited by hand and would be overwritten; nothing was installed.",
                    conflicts=sorted(edited),
                )
            for path, content in edited.items():
                put_document(connection, "workspace", path, content)


_BEFORE_FILES = frozenset({SagaStepName.PLAN, SagaStepName.PROJECT_WORKSPACE})
"""Before these, files edited by hand are looked for."""

_LAST = list(SagaStepName)[-1]
"""The step with which a saga is installed: what it writes and that it is done are one transaction."""


def _open_saga(connection: Connection, request: InstallSagaInput) -> tuple[InstallSaga, InstallPlan | None]:
    row = connection.execute(
        select(_SAGAS.c.body, _SAGAS.c.plan).where(_SAGAS.c.saga_id == request.saga_id).with_for_update()
    ).one_or_none()
    if row is not None:
        plan = InstallPlan.model_validate_json(row.plan) if row.plan else None
        return SAGAS.parse(row.body), plan
    saga = InstallSaga(
        saga_id=request.saga_id,
        proposal_id=request.proposal_id,
        learn_session_id=request.learn_session_id,
        import_id=request.import_id,
        ability_id=request.ability_id,
        skill_slug=request.skill_slug,
        install_lane=request.lane,
        state=SagaState.RUNNING,
        steps=tuple(SagaStep(name=name) for name in SagaStepName),
        workflow_id=install_saga_id(request.saga_id),
        started_at=request.requested_at,
        updated_at=request.requested_at,
    )
    return saga, None


def _state_of(saga: InstallSaga, step: SagaStepName) -> SagaStepState:
    return next(one.state for one in saga.steps if one.name is step)


def _is_awaited(connection: Connection, request: InstallSagaInput) -> bool:
    """Whether the session or the import still waits for this saga; holds its row, so that it stays so.

    A worker that was cut off for a while goes on with what others have finished: nothing may come of that.
    """
    if request.import_id is not None:
        return awaited_import(connection, request) is not None
    return _awaiting_session(connection, request) is not None


def _awaiting_session(connection: Connection, request: InstallSagaInput) -> LearnSessionAggregate | None:
    sessions = tables.learn_sessions
    body = connection.scalar(
        SESSIONS.select(sessions.c.session_id == request.learn_session_id).with_for_update(read=True)
    )
    session = SESSIONS.parse(body) if body else None
    install = session.install if session is not None else None
    return session if install is not None and install.saga_id == request.saga_id else None


def _awaiting(
    connection: Connection, request: InstallSagaInput, saga: InstallSaga
) -> LearnSessionAggregate | None:
    """The session that waits for this saga, none where an import does; its row is held as in ``_is_awaited``.

    Raises:
        Refusal: ``CONFLICT`` when nobody waits for it any more, or its undo has begun.
    """
    session = _awaiting_session(connection, request) if request.import_id is None else None
    if session is None and (request.import_id is None or awaited_import(connection, request) is None):
        raise Refusal(
            ErrorCode.CONFLICT, "This install has ended; nothing more is done for it.", retryable=False
        )
    if saga.state not in (SagaState.RUNNING, SagaState.INSTALLED):
        why = next((step.error for step in saga.steps if step.error), None) or "a step failed"
        raise Refusal(ErrorCode.CONFLICT, f"The undo of this install has begun: {why}", retryable=False)
    return session


def _write_saga(
    connection: Connection, request: InstallSagaInput, saga: InstallSaga, plan: InstallPlan | None
) -> None:
    text = canonical_json(plan) if plan is not None else None
    SAGAS.put(connection, saga, owner=request.owner_user_id, plan=text)


def _marked(saga: InstallSaga, step: SagaStepName, state: SagaStepState, version: int | None) -> InstallSaga:
    now = datetime.now(UTC)
    steps = tuple(
        one.changed(state=state, attempts=one.attempts + 1, updated_at=now) if one.name is step else one
        for one in saga.steps
    )
    return saga.changed(steps=steps, version=version, updated_at=now)
