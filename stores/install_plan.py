"""What one install will change, worked out before anything is touched, so that it can all be put back."""

import json
from datetime import datetime

from pydantic import Field, JsonValue
from sqlalchemy import Connection, select

from contracts.base import Contract
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import DraftBundle, LearnSessionAggregate
from contracts.learning.install_work import InstallSagaInput
from contracts.learning.proof import DraftProof
from contracts.learning.proposal import SkillBundleProposal
from domain.abilities.bridge import capability_metadata
from stores import tables
from stores.ability_contents import versions_of
from stores.ability_documents import BRIDGE_FILES, SNAPSHOT_FILES
from stores.blobs import put_blob
from stores.canonical import canonical_json, digest_of, document_bytes
from stores.documents import DocumentRoot, list_documents, read_document
from stores.draft_store import load_bundle


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
    derived_before: dict[str, str | None]
    derived_after: dict[str, str | None] = Field(default_factory=dict)
    prior_ability: dict[str, JsonValue] | None = None
    prior_capability: dict[str, JsonValue] | None = None


def make_plan(connection: Connection, request: InstallSagaInput) -> InstallPlan:
    """Works out the change.

    Raises:
        Refusal: ``VALIDATION_REQUIRED`` when the draft is not proven as it stands, ``SKILL_SLUG_TAKEN`` when
            the name belongs to somebody else.
    """
    proposal, bundle = load_bundle(connection, request.proposal_id)
    _require_proof(connection, request, proposal)
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
    return InstallPlan(
        version=(newest or 0) + 1,
        files=_file_changes(connection, request, proposal, bundle),
        derived_before={
            path: kept_digest(connection, "memory", path, request.requested_at)
            for path in (*BRIDGE_FILES, *SNAPSHOT_FILES)
        },
        prior_ability=dict(prior) if prior is not None else None,
        prior_capability=dict(capability) if capability is not None else None,
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


def _require_proof(connection: Connection, request: InstallSagaInput, proposal: SkillBundleProposal) -> None:
    body = connection.scalar(
        select(tables.learn_sessions.c.aggregate).where(
            tables.learn_sessions.c.session_id == request.learn_session_id
        )
    )
    aggregate = LearnSessionAggregate.model_validate_json(body) if body is not None else None
    proof = (
        DraftProof(aggregate.passed_checks, aggregate.not_applicable_checks) if aggregate else DraftProof()
    )
    if not proof.complete or proposal.content_hash != request.content_hash:
        raise Refusal(
            ErrorCode.VALIDATION_REQUIRED,
            "This draft has not passed every check as it stands; validate it again.",
        )


def _file_changes(
    connection: Connection,
    request: InstallSagaInput,
    proposal: SkillBundleProposal,
    bundle: DraftBundle,
) -> tuple[FileChange, ...]:
    wanted = target_files(request.skill_slug, proposal, bundle)
    folders: dict[DocumentRoot, str] = {
        "memory": f"system/learning/installed/{request.skill_slug}",
        "workspace": f"skills/{request.skill_slug}",
    }
    for root, folder in folders.items():
        for path in list_documents(connection, root, folder):
            wanted.setdefault((root, path), None)
    changes: list[FileChange] = []
    for (root, path), content in sorted(wanted.items()):
        changes.append(
            FileChange(
                root=root,
                path=path,
                before=kept_digest(connection, root, path, request.requested_at),
                after=put_blob(connection, content, request.requested_at) if content is not None else None,
            )
        )
    return tuple(changes)


def target_files(
    slug: str, proposal: SkillBundleProposal, bundle: DraftBundle
) -> dict[tuple[DocumentRoot, str], bytes | None]:
    """The files of the installed skill (DOC3 §0C.23): canonical ones, and their copies for the agent."""
    draft = bundle.draft
    metadata = document_bytes(capability_metadata(draft, bundle.interpretation, proposal))
    wanted: dict[tuple[DocumentRoot, str], bytes | None] = {
        ("memory", f"system/capabilities/metadata/{draft.capability_id}.json"): metadata
    }
    for file in draft.files:
        content = file.content.encode()
        wanted["workspace", f"skills/{slug}/{file.path}"] = content
        if file.path == f"capabilities/{draft.capability_id}.json":
            wanted["memory", f"system/capabilities/manifests/{draft.capability_id}.json"] = content
        else:
            wanted["memory", f"system/learning/installed/{slug}/{file.path}"] = content
    return wanted


def kept_digest(connection: Connection, root: DocumentRoot, path: str, now: datetime) -> str | None:
    """Keeps the present content as a blob and returns its digest."""
    content = read_document(connection, root, path)
    return put_blob(connection, content, now) if content is not None else None


def manifest_of(bundle: DraftBundle) -> str:
    """The drafted capability manifest, as JSON text."""
    path = f"capabilities/{bundle.draft.capability_id}.json"
    content = next(file.content for file in bundle.draft.files if file.path == path)
    return canonical_json(json.loads(content))


def present_digest(connection: Connection, path: str) -> str | None:
    """The digest of a derived file as it stands."""
    content = read_document(connection, "memory", path)
    return digest_of(content) if content is not None else None
