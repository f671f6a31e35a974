"""What each step of an install changes in the store, and how each change is put back."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Table, delete, insert, select

from contracts.abilities.availability import AbilityAvailabilityEntry, AbilityVersion
from contracts.abilities.life import ContentFile
from contracts.base import rfc3339
from contracts.capabilities.bridge import HealthStatus
from contracts.capabilities.manifest import CapabilityManifest
from contracts.learning.aggregate import LearnSessionAggregate
from contracts.learning.install_work import InstallSagaInput
from contracts.learning.saga import SagaStepName
from domain.abilities.availability import AbilityStanding, availability_entry
from domain.abilities.life import in_service
from stores import tables
from stores.ability_contents import forget_content, keep_content
from stores.ability_documents import BRIDGE_FILES, SNAPSHOT_FILES, rebuild_bridge, refresh_snapshot
from stores.blobs import get_blob
from stores.canonical import canonical_json
from stores.checkpoint_effects import checkpoint_health_of
from stores.documents import DocumentRoot, put_document, read_document, remove_document
from stores.draft_store import load_bundle
from stores.install_plan import InstallPlan, kept_digest, manifest_of, present_digest

DERIVED: dict[SagaStepName, Sequence[str]] = {
    SagaStepName.REBUILD_BRIDGE: BRIDGE_FILES,
    SagaStepName.REFRESH_AVAILABILITY: SNAPSHOT_FILES,
}
"""The files that a step derives from all rows, not from its own alone."""


def do_effect(
    connection: Connection, request: InstallSagaInput, plan: InstallPlan, step: SagaStepName
) -> int:
    """Makes a step's changes to the store; returns how many files follow from them."""
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
            if _was_out_of_service(plan):
                rebuild_bridge(connection, request.requested_at)
            refresh_snapshot(connection, request.requested_at)
            return len(SNAPSHOT_FILES)


def undo_effect(
    connection: Connection, request: InstallSagaInput, plan: InstallPlan, step: SagaStepName
) -> None:
    """Puts back what the step changed, byte for byte where nobody has changed it since."""
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
            _restore_row(connection, tables.abilities, "ability_id", request.ability_id, plan.prior_ability)
            versions = tables.ability_versions
            connection.execute(delete(versions).where(versions.c.saga_id == request.saga_id))
            forget_content(connection, request.ability_id, plan.version)
            if _was_out_of_service(plan):
                rebuild_bridge(connection, datetime.now(UTC))
            _restore_derived(connection, plan, SNAPSHOT_FILES, refresh_snapshot)


def with_digests(connection: Connection, plan: InstallPlan, paths: Sequence[str]) -> InstallPlan:
    """Remembers what the derived files became, to know later whether anybody has changed them since."""
    after = {**plan.derived_after, **{path: present_digest(connection, path) for path in paths}}
    return plan.model_copy(update={"derived_after": after})


def _put_files(connection: Connection, plan: InstallPlan, root: DocumentRoot, *, forward: bool) -> int:
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
            lane=request.lane,
            enabled=True,
            projected=True,
            checkpoint_health=checkpoint_health_of(connection, request.ability_id),
            last_validated_at=request.requested_at,
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
    files = [
        ContentFile(root=change.root, path=change.path, digest=change.after)
        for change in plan.files
        if change.after is not None
    ]
    keep_content(connection, plan.version, entry, manifest_of(bundle), files)


def _was_out_of_service(plan: InstallPlan) -> bool:
    """Whether the bridge holds the ability back until this install gives it back its place."""
    prior = plan.prior_ability
    return prior is not None and not in_service(
        AbilityAvailabilityEntry.model_validate_json(str(prior["body"]))
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


def with_files_before(
    connection: Connection, request: InstallSagaInput, plan: InstallPlan, paths: Sequence[str]
) -> InstallPlan:
    """Keeps the derived files as the step finds them: other installs may have come since the plan."""
    found = {path: kept_digest(connection, "memory", path, request.requested_at) for path in paths}
    return plan.model_copy(update={"derived_before": {**plan.derived_before, **found}})


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
