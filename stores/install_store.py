"""The steps of an install and their undos. Each is one transaction, and doing it twice is doing it once."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Table, delete, insert, select, update

from contracts.abilities.availability import AbilityVersion
from contracts.base import rfc3339
from contracts.capabilities.bridge import HealthStatus
from contracts.capabilities.manifest import CapabilityManifest
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
from domain.abilities.availability import AbilityStanding, availability_entry
from stores import tables
from stores.ability_documents import BRIDGE_FILES, SNAPSHOT_FILES, rebuild_bridge, refresh_snapshot
from stores.blobs import get_blob
from stores.canonical import canonical_json
from stores.database import Database
from stores.documents import put_document, read_document, remove_document
from stores.draft_store import load_bundle
from stores.install_plan import (
    InstallPlan,
    Root,
    kept_digest,
    make_plan,
    manifest_of,
    present_digest,
)

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
            if step in _DERIVED and first_time:
                plan = _with_files_before(connection, request, plan, _DERIVED[step])
            files = self._do(connection, request, plan, step)
            if step in _DERIVED and first_time:
                plan = _with_digests(connection, plan, _DERIVED[step])
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
                self._undo(connection, request, plan, step)
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

    def _do(
        self, connection: Connection, request: InstallSagaInput, plan: InstallPlan, step: SagaStepName
    ) -> int:
        match step:
            case SagaStepName.PLAN:
                return 0
            case SagaStepName.MATERIALISE:
                return _put_files(connection, plan, "memory", forward=True)
            case SagaStepName.PROJECT_WORKSPACE:
                return _put_files(connection, plan, "workspace", forward=True)
            case SagaStepName.REBUILD_BRIDGE:
                _put_capability(connection, request)
                rebuild_bridge(connection, request.requested_at)
                return len(BRIDGE_FILES)
            case SagaStepName.REFRESH_AVAILABILITY:
                _put_ability(connection, request, plan)
                refresh_snapshot(connection, request.requested_at)
                return len(SNAPSHOT_FILES)

    def _undo(
        self, connection: Connection, request: InstallSagaInput, plan: InstallPlan, step: SagaStepName
    ) -> None:
        match step:
            case SagaStepName.PLAN:
                return
            case SagaStepName.MATERIALISE:
                _put_files(connection, plan, "memory", forward=False)
            case SagaStepName.PROJECT_WORKSPACE:
                _put_files(connection, plan, "workspace", forward=False)
            case SagaStepName.REBUILD_BRIDGE:
                capability_id = load_bundle(connection, request.proposal_id)[1].draft.capability_id
                _restore_row(
                    connection, tables.capabilities, "capability_id", capability_id, plan.prior_capability
                )
                _restore_derived(connection, plan, BRIDGE_FILES, rebuild_bridge)
            case SagaStepName.REFRESH_AVAILABILITY:
                _restore_row(
                    connection, tables.abilities, "ability_id", request.ability_id, plan.prior_ability
                )
                versions = tables.ability_versions
                connection.execute(delete(versions).where(versions.c.saga_id == request.saga_id))
                _restore_derived(connection, plan, SNAPSHOT_FILES, refresh_snapshot)


_LAST = list(SagaStepName)[-1]
"""The step with which a saga is installed: what it writes and that it is done are one transaction."""

_DERIVED: dict[SagaStepName, Sequence[str]] = {
    SagaStepName.REBUILD_BRIDGE: BRIDGE_FILES,
    SagaStepName.REFRESH_AVAILABILITY: SNAPSHOT_FILES,
}


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


def _put_files(connection: Connection, plan: InstallPlan, root: Root, *, forward: bool) -> int:
    """Puts the files of one root as they shall be, or back as they were."""
    files = [change for change in plan.files if change.root == root]
    for change in files:
        digest = change.after if forward else change.before
        if digest is None:
            remove_document(connection, root, change.path)
        else:
            put_document(connection, root, change.path, get_blob(connection, digest))
    return len(files)


def _put_capability(connection: Connection, request: InstallSagaInput) -> None:
    _, bundle = load_bundle(connection, request.proposal_id)
    table = tables.capabilities
    connection.execute(delete(table).where(table.c.capability_id == bundle.draft.capability_id))
    connection.execute(
        insert(table).values(
            capability_id=bundle.draft.capability_id,
            ability_id=request.ability_id,
            health=HealthStatus.HEALTHY.value,
            manifest=manifest_of(bundle),
            updated_at=rfc3339(request.requested_at),
        )
    )


def _put_ability(connection: Connection, request: InstallSagaInput, plan: InstallPlan) -> None:
    proposal, bundle = load_bundle(connection, request.proposal_id)
    manifest = CapabilityManifest.model_validate_json(manifest_of(bundle))
    entry = availability_entry(
        ability_id=request.ability_id,
        draft=bundle.draft,
        proposal=proposal,
        interpretation=bundle.interpretation,
        standing=AbilityStanding(
            lane=request.lane, enabled=True, projected=True, last_validated_at=request.requested_at
        ),
        family=manifest.family,
        project_id=_project_of(connection, request.learn_session_id),
    )
    now = rfc3339(request.requested_at)
    created = plan.prior_ability["created_at"] if plan.prior_ability else now
    table = tables.abilities
    connection.execute(delete(table).where(table.c.ability_id == request.ability_id))
    connection.execute(
        insert(table).values(
            ability_id=request.ability_id,
            owner=request.owner_user_id,
            slug=request.skill_slug,
            lane=request.lane.value,
            version=plan.version,
            created_at=created,
            updated_at=now,
            body=canonical_json(entry),
        )
    )
    versions = tables.ability_versions
    connection.execute(delete(versions).where(versions.c.saga_id == request.saga_id))
    version = AbilityVersion(
        ability_id=request.ability_id,
        version=plan.version,
        proposal_id=request.proposal_id,
        content_hash=request.content_hash,
        install_lane=request.lane,
        installed_at=request.requested_at,
        current=True,
    )
    connection.execute(
        insert(versions).values(
            ability_id=request.ability_id,
            version=plan.version,
            saga_id=request.saga_id,
            body=canonical_json(version),
        )
    )


def _project_of(connection: Connection, session_id: str) -> str | None:
    body = connection.scalar(
        select(tables.learn_sessions.c.aggregate).where(tables.learn_sessions.c.session_id == session_id)
    )
    return LearnSessionAggregate.model_validate_json(body).session.project_id if body else None


def _restore_row(
    connection: Connection, table: Table, key: str, value: str, prior: dict[str, Any] | None
) -> None:
    connection.execute(delete(table).where(table.c[key] == value))
    if prior is not None:
        connection.execute(insert(table).values(**prior))


def _with_files_before(
    connection: Connection, request: InstallSagaInput, plan: InstallPlan, paths: Sequence[str]
) -> InstallPlan:
    """Keeps the derived files as the step finds them: other installs may have come since the plan."""
    found = {path: kept_digest(connection, "memory", path, request.requested_at) for path in paths}
    return plan.model_copy(update={"derived_before": {**plan.derived_before, **found}})


def _with_digests(connection: Connection, plan: InstallPlan, paths: Sequence[str]) -> InstallPlan:
    """Remembers what the derived files became, to know later whether anybody has changed them since."""
    after = {**plan.derived_after, **{path: present_digest(connection, path) for path in paths}}
    return plan.model_copy(update={"derived_after": after})


def _restore_derived(
    connection: Connection,
    plan: InstallPlan,
    paths: Sequence[str],
    derive: Callable[[Connection, datetime], None],
) -> None:
    """Puts derived files back byte for byte, or derives them anew where another install came between."""
    untouched = all(present_digest(connection, path) == plan.derived_after.get(path) for path in paths)
    if not untouched:
        derive(connection, datetime.now(UTC))
        return
    for path in paths:
        digest = plan.derived_before.get(path)
        if digest is not None:
            put_document(connection, "memory", path, get_blob(connection, digest))
        elif read_document(connection, "memory", path) is not None:
            remove_document(connection, "memory", path)
