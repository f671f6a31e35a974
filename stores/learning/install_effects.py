"""Changes that each step of an install makes in the store, planned before the first one, and their undo."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from pydantic import Field, JsonValue
from sqlalchemy import Connection, Table, delete, insert, select

from contracts.abilities.availability import (
    AbilityAvailabilityEntry,
    AbilityVersion,
    UnprovedAcceptance,
    UnprovedStep,
)
from contracts.abilities.capability_manifest import CapabilityManifest
from contracts.abilities.lifecycle import ContentFile
from contracts.base import Contract, rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import DraftBundle, LearnSessionAggregate
from contracts.learning.install import InstallSagaInput, SagaStepName
from contracts.learning.proposal import SkillBundleProposal, SkillDraft
from contracts.learning.validation import DraftProof, acceptance_objection
from domain.abilities.availability import AbilityStanding, availability_entry, in_service, with_unproved
from domain.abilities.capability_sidecar import Surroundings, capability_metadata
from domain.abilities.life import entry_rolled_back
from stores.abilities.ability_rows import (
    ABILITIES,
    VERSIONS,
    checkpoint_health_of,
    forget_content,
    keep_content,
    own_health,
    put_capability,
    validated_at,
    versions_of,
)
from stores.abilities.derived_files import BRIDGE_FILES, SNAPSHOT_FILES, update_bridge, update_snapshot
from stores.abilities.sidecars import sidecar_path, succeeding_sidecar
from stores.imports.import_origin import proof_of_import, refuse_quarantined
from stores.learning.drafts import load_bundle, load_draft
from stores.learning.sidecar_sources import surroundings_of
from stores.platform import tables
from stores.platform.blobs import get_blobs, put_blobs
from stores.platform.canonical import canonical_json, document_bytes
from stores.platform.projection.documents import (
    DocumentRoot,
    document_digests,
    documents_of_folder,
    put_documents,
    remove_document,
)
from stores.platform.projection.parted_documents import (
    PartedDocument,
    put_parts,
    read_frames,
    remove_parted,
)

Place = tuple[DocumentRoot, str]
"""Where a file is: the tree, and the path in it."""


class FileChange(Contract):
    """One file before and after, as blobs; ``None`` is absence."""

    root: DocumentRoot
    path: str
    before: str | None = None
    after: str | None = None


class InstallPlan(Contract):
    """The whole change. ``prior_*`` are the rows as they were, for the undo."""

    version: int
    files: tuple[FileChange, ...]
    derived_before: dict[str, str | None] = Field(default_factory=dict)
    """Of plans made before derived documents were kept in parts: the whole documents, as blobs."""
    derived_after: dict[str, str | None] = Field(default_factory=dict)
    frames_before: dict[str, str | None] = Field(default_factory=dict)
    """The derived documents without their entries, as each step found them."""
    prior_ability: dict[str, JsonValue] | None = None
    prior_capability: dict[str, JsonValue] | None = None
    accepted: UnprovedAcceptance | None = None


def make_plan(
    connection: Connection, request: InstallSagaInput, session: LearnSessionAggregate | None
) -> InstallPlan:
    """Works out the change; ``session`` is the one that waits for it, none of an import.

    Raises:
        Refusal: ``VALIDATION_REQUIRED`` when the draft is not proven as it stands, ``UNPROVED_NOT_ACCEPTED`` when
            nobody accepted what of it is not, ``SKILL_SLUG_TAKEN`` when the name is another owner's, ``CONFLICT``
            when an import would replace what was quarantined since its install was ordered.
    """
    proposal, bundle = load_bundle(connection, request.proposal_id)
    accepted = _require_proof(connection, request, session, proposal)
    ability = tables.abilities
    prior = (
        connection.execute(select(ability).where(ability.c.slug == request.skill_slug).with_for_update())
        .mappings()
        .one_or_none()
    )
    if prior is not None and (
        prior["owner"] != request.owner_user_id or prior["ability_id"] != request.ability_id
    ):
        raise Refusal(
            ErrorCode.SKILL_SLUG_TAKEN,
            f"The skill name {request.skill_slug} is taken; revise proposed_skill_slug.",
        )
    if request.import_id is not None:
        refuse_quarantined(connection, request.ability_id)
    _refuse_moved_base(connection, proposal, prior["version"] if prior is not None else None)
    capability = (
        connection.execute(
            select(tables.capabilities).where(
                tables.capabilities.c.capability_id == bundle.draft.capability_id
            )
        )
        .mappings()
        .one_or_none()
    )
    newest = connection.scalar(
        select(tables.ability_versions.c.version)
        .where(tables.ability_versions.c.ability_id == request.ability_id)
        .order_by(tables.ability_versions.c.version.desc())
        .limit(1)
    )
    around = surroundings_of(connection, request, session, bundle)
    return InstallPlan(
        version=(newest or 0) + 1,
        files=_file_changes(connection, request, proposal, bundle, accepted, around),
        prior_ability=dict(prior) if prior is not None else None,
        prior_capability=dict(capability) if capability is not None else None,
        accepted=accepted,
    )


def _refuse_moved_base(connection: Connection, proposal: SkillBundleProposal, present: int | None) -> None:
    """An improvement is installed on the version it was made for, or again on itself (DOC3 §0C.4)."""
    base = proposal.base
    if base is None or present == base.version:
        return
    versions = versions_of(connection, base.ability_id)
    if any(v.version == present and v.proposal_id == proposal.proposal_id for v in versions):
        return
    raise Refusal(
        ErrorCode.PROPOSAL_STALE,
        "What the proposal improves has moved meanwhile; revise the proposal to rebase it.",
    )


def _require_proof(
    connection: Connection,
    request: InstallSagaInput,
    session: LearnSessionAggregate | None,
    proposal: SkillBundleProposal,
) -> UnprovedAcceptance | None:
    """The acceptance of what is not proved; ``None`` where everything is."""
    if request.import_id is not None:
        proof, unproved, accepted = proof_of_import(connection, request)
    else:
        proof, unproved, accepted = _proof_of_session(session)
    if not proof.complete or proposal.content_hash != request.content_hash:
        raise Refusal(
            ErrorCode.VALIDATION_REQUIRED,
            "This draft has not passed every check as it stands; run `apprentice learn validate`.",
        )
    objection = acceptance_objection(
        unproved, accepted=accepted is not None, digest=accepted.digest if accepted else None
    )
    if objection is not None:
        raise Refusal(ErrorCode.UNPROVED_NOT_ACCEPTED, objection)
    return accepted


def _proof_of_session(
    session: LearnSessionAggregate | None,
) -> tuple[DraftProof, tuple[UnprovedStep, ...], UnprovedAcceptance | None]:
    """What the session says is proved and what is not, and who accepted that."""
    if session is None:
        return DraftProof(), (), None
    proof = DraftProof(session.passed_checks, session.not_applicable_checks)
    return proof, session.unproved, session.install.accepted if session.install else None


def _file_changes(
    connection: Connection,
    request: InstallSagaInput,
    proposal: SkillBundleProposal,
    bundle: DraftBundle,
    accepted: UnprovedAcceptance | None,
    around: Surroundings,
) -> tuple[FileChange, ...]:
    wanted = target_files(request.skill_slug, proposal, bundle, accepted, around)
    folders: dict[DocumentRoot, str] = {
        "memory": f"system/learning/installed/{request.skill_slug}",
        "workspace": f"skills/{request.skill_slug}",
    }
    present: dict[Place, bytes | None] = {
        (root, path): content
        for root, folder in folders.items()
        for path, content in documents_of_folder(
            connection, root, folder, {path for of_root, path in wanted if of_root == root}
        ).items()
    }
    sidecar: Place = ("memory", sidecar_path(bundle.draft.capability_id))
    if (made := wanted[sidecar]) and (before := present.get(sidecar)):
        wanted[sidecar] = succeeding_sidecar(made, before)
    for place in present:
        wanted.setdefault(place, None)
    after = _kept(connection, wanted, request.requested_at)
    for file in bundle.draft.packed:
        after |= {(root, f"{folder}/{file.path}"): file.sha256 for root, folder in folders.items()}
    before = _kept(connection, present, request.requested_at)
    return tuple(
        FileChange(root=root, path=path, before=before.get((root, path)), after=digest)
        for (root, path), digest in sorted(after.items())
    )


def _kept(
    connection: Connection, contents: Mapping[Place, bytes | None], now: datetime
) -> dict[Place, str | None]:
    """Keeps contents as blobs; their digests, ``None`` where there is none to keep."""
    some = {place: content for place, content in contents.items() if content is not None}
    digests = dict(zip(some, put_blobs(connection, list(some.values()), now), strict=True))
    return {place: digests.get(place) for place in contents}


def target_files(
    slug: str,
    proposal: SkillBundleProposal,
    bundle: DraftBundle,
    accepted: UnprovedAcceptance | None,
    around: Surroundings,
) -> dict[tuple[DocumentRoot, str], bytes | None]:
    """The files of the installed skill (DOC3 §0C.23): canonical ones, and their copies for the agent."""
    draft = bundle.draft
    metadata = document_bytes(capability_metadata(draft, bundle.interpretation, proposal, around))
    wanted: dict[tuple[DocumentRoot, str], bytes | None] = {
        ("memory", sidecar_path(draft.capability_id)): metadata
    }
    for file in draft.files:
        text = file.content
        if accepted is not None and file.path == "SKILL.md":
            text = with_unproved(text, accepted)
        content = text.encode()
        wanted["workspace", f"skills/{slug}/{file.path}"] = content
        if file.path == f"capabilities/{draft.capability_id}.json":
            wanted["memory", f"system/capabilities/manifests/{draft.capability_id}.json"] = content
        else:
            wanted["memory", f"system/learning/installed/{slug}/{file.path}"] = content
    return wanted


def manifest_of(draft: SkillDraft) -> str:
    """The drafted capability manifest, as JSON text."""
    path = f"capabilities/{draft.capability_id}.json"
    content = next(file.content for file in draft.files if file.path == path)
    return canonical_json(json.loads(content))


DERIVED: dict[SagaStepName, Sequence[PartedDocument]] = {
    SagaStepName.REBUILD_BRIDGE: BRIDGE_FILES,
    SagaStepName.REFRESH_AVAILABILITY: SNAPSHOT_FILES,
}
"""The documents in which a step changes its ability's entries, among those of all."""


def do_effect(
    connection: Connection,
    request: InstallSagaInput,
    session: LearnSessionAggregate | None,
    plan: InstallPlan,
    step: SagaStepName,
) -> int:
    """Makes a step's changes to the store; returns how many files follow from them. ``session`` as in ``make_plan``."""
    match step:
        case SagaStepName.PLAN:
            return 0
        case SagaStepName.MATERIALISE:
            return _put_files(connection, plan, "memory", forward=True)
        case SagaStepName.PROJECT_WORKSPACE:
            return _put_files(connection, plan, "workspace", forward=True)
        case SagaStepName.REBUILD_BRIDGE:
            _put_capability(connection, request, plan)
            update_bridge(connection, request.requested_at, request.ability_id)
            return len(BRIDGE_FILES)
        case SagaStepName.REFRESH_AVAILABILITY:
            _put_ability(connection, request, session, plan)
            if _was_out_of_service(plan):
                update_bridge(connection, request.requested_at, request.ability_id)
            update_snapshot(connection, request.requested_at, request.ability_id)
            return len(SNAPSHOT_FILES)


def undo_effect(
    connection: Connection, request: InstallSagaInput, plan: InstallPlan, step: SagaStepName
) -> None:
    """Puts back what the step changed, byte for byte where it has not changed since."""
    match step:
        case SagaStepName.PLAN:
            return
        case SagaStepName.MATERIALISE:
            _put_files(connection, plan, "memory", forward=False)
        case SagaStepName.PROJECT_WORKSPACE:
            stopped = _stopped_since(connection, request, plan) is not None
            _put_files(connection, plan, "workspace", forward=False, stopped=stopped)
        case SagaStepName.REBUILD_BRIDGE:
            capability_id = load_draft(connection, request.proposal_id).capability_id
            _restore_row(
                connection, tables.capabilities, "capability_id", capability_id, plan.prior_capability
            )
            derive = partial(update_bridge, connection, datetime.now(UTC), request.ability_id, capability_id)
            _restore_derived(connection, plan, BRIDGE_FILES, derive)
        case SagaStepName.REFRESH_AVAILABILITY:
            stopped = _stopped_since(connection, request, plan)
            _restore_row(connection, tables.abilities, "ability_id", request.ability_id, plan.prior_ability)
            if stopped is not None and plan.prior_ability is not None:
                known = {name: plan.prior_ability[name] for name in ("version", "updated_at")}
                ABILITIES.replace(connection, entry_rolled_back(stopped, _prior_entry(plan)), **known)
            versions = tables.ability_versions
            connection.execute(delete(versions).where(versions.c.saga_id == request.saga_id))
            forget_content(connection, request.ability_id, plan.version)
            if _was_out_of_service(plan):
                update_bridge(connection, datetime.now(UTC), request.ability_id)
            derive = partial(update_snapshot, connection, datetime.now(UTC), request.ability_id)
            _restore_derived(connection, plan, SNAPSHOT_FILES, derive)


def with_digests(connection: Connection, plan: InstallPlan, derived: Sequence[PartedDocument]) -> InstallPlan:
    """Remembers what the derived documents became, to detect later changes."""
    found = document_digests(connection, "memory", [one.path for one in derived])
    after = {one.path: found.get(one.path) for one in derived}
    return plan.changed(derived_after={**plan.derived_after, **after})


def _put_files(
    connection: Connection, plan: InstallPlan, root: DocumentRoot, *, forward: bool, stopped: bool = False
) -> int:
    """Puts the files of one root as they shall be, or back as they were; none of an ability that is ``stopped``."""
    files = {
        change.path: None if stopped else change.after if forward else change.before
        for change in plan.files
        if change.root == root
    }
    # What is removed goes first: a file may come in the place of a folder.
    for path, digest in files.items():
        if digest is None:
            remove_document(connection, root, path)
    kept = get_blobs(connection, [digest for digest in files.values() if digest is not None])
    put_documents(
        connection, root, {path: kept[digest] for path, digest in files.items() if digest is not None}
    )
    return len(files)


def _put_capability(connection: Connection, request: InstallSagaInput, plan: InstallPlan) -> None:
    draft = load_draft(connection, request.proposal_id)
    capability_id = draft.capability_id
    present = plan.prior_ability["version"] if plan.prior_ability is not None else None
    put_capability(
        connection,
        capability_id,
        request.ability_id,
        manifest_of(draft),
        request.requested_at,
        replaces=capability_id,
        same_content=any(
            version.version == present and version.content_hash == request.content_hash
            for version in versions_of(connection, request.ability_id)
        ),
    )


def _put_ability(
    connection: Connection,
    request: InstallSagaInput,
    session: LearnSessionAggregate | None,
    plan: InstallPlan,
) -> None:
    proposal, bundle = load_bundle(connection, request.proposal_id)
    written = manifest_of(bundle.draft)
    manifest = CapabilityManifest.model_validate_json(written)
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
            capability_health=own_health(connection, bundle.draft.capability_id),
            last_validated_at=validated_at(connection, request.content_hash),
        ),
        family=manifest.family,
        project_id=session.session.project_id if session is not None else None,
    )
    now = rfc3339(request.requested_at)
    created = plan.prior_ability["created_at"] if plan.prior_ability else now
    ABILITIES.put(
        connection,
        entry,
        owner=request.owner_user_id,
        slug=request.skill_slug,
        version=plan.version,
        created_at=created,
        updated_at=now,
    )
    version = AbilityVersion(
        ability_id=request.ability_id,
        version=plan.version,
        proposal_id=request.proposal_id,
        content_hash=request.content_hash,
        install_lane=request.lane,
        installed_at=request.requested_at,
        current=True,
        unproved=plan.accepted,
        imported_from=proposal.imported_from,
    )
    versions = tables.ability_versions
    connection.execute(delete(versions).where(versions.c.saga_id == request.saga_id))
    # Not put: another saga's version of the same number must not be overwritten.
    VERSIONS.add(connection, version, saga_id=request.saga_id)
    files = [
        ContentFile(root=change.root, path=change.path, digest=change.after)
        for change in plan.files
        if change.after is not None
    ]
    keep_content(connection, plan.version, entry, written, files)


def _was_out_of_service(plan: InstallPlan) -> bool:
    """Whether the bridge holds the ability back until this install gives it back its place."""
    return plan.prior_ability is not None and not in_service(_prior_entry(plan))


def _prior_entry(plan: InstallPlan) -> AbilityAvailabilityEntry:
    return AbilityAvailabilityEntry.model_validate_json(str((plan.prior_ability or {})["body"]))


def _stopped_since(
    connection: Connection, request: InstallSagaInput, plan: InstallPlan
) -> AbilityAvailabilityEntry | None:
    """The ability, if it was in service before the install and a person has taken it out since.

    A pack is undone after the sagas of its members: what was quarantined meanwhile stays so in its earlier version.
    """
    body = connection.scalar(
        select(tables.abilities.c.body).where(tables.abilities.c.ability_id == request.ability_id)
    )
    if body is None or plan.prior_ability is None or _was_out_of_service(plan):
        return None
    present = ABILITIES.parse(body)
    return None if in_service(present) else present


def _restore_row(
    connection: Connection, table: Table, key: str, value: str, prior: dict[str, Any] | None
) -> None:
    connection.execute(delete(table).where(table.c[key] == value))
    if prior is not None:
        connection.execute(insert(table).values(**prior))


def with_frames_before(
    connection: Connection, plan: InstallPlan, derived: Sequence[PartedDocument]
) -> InstallPlan:
    """Keeps the derived documents as the step finds them: other installs may have come since the plan."""
    frames = read_frames(connection, derived)
    found = {path: None if frame is None else frame.decode() for path, frame in frames.items()}
    return plan.changed(frames_before={**plan.frames_before, **found})


def _restore_derived(
    connection: Connection, plan: InstallPlan, derived: Sequence[PartedDocument], derive: Callable[[], None]
) -> None:
    """Derives the ability's entries from its rows, which are as they were; documents that nobody else has changed
    since are byte for byte what they were."""
    present = document_digests(connection, "memory", [one.path for one in derived])
    untouched = all(
        one.path in plan.frames_before and present.get(one.path) == plan.derived_after.get(one.path)
        for one in derived
    )
    derive()
    if not untouched:
        return
    for one in derived:
        frame = plan.frames_before[one.path]
        if frame is None:
            remove_parted(connection, one)
        else:
            put_parts(connection, one, frame.encode(), {})
