"""Store of the installs of imports: the proposal and draft of a staged bundle, its validation run, and their end.

An import has one proposal. Each try of its install has its own saga and its own validation run, so that nothing of a
try that failed counts for the next.
"""

from datetime import datetime
from uuid import UUID, uuid5

from sqlalchemy import Connection, and_, select

from contracts.abilities.availability import InstallLane
from contracts.abilities.capability_health import CapabilityEventName
from contracts.abilities.lookup import TRIGGER_TESTS_PATH
from contracts.errors import ErrorCode, Refusal
from contracts.imports.import_record import SkillImportState
from contracts.imports.import_work import ImportInstall, ImportValidated, ImportWork, SkillImport
from contracts.imports.portable_frontmatter import PortableSkillFrontmatter
from contracts.learning.aggregate import DraftBundle, StagedDraft
from contracts.learning.install import InstallSagaInput
from contracts.learning.lifecycle import LearningReceiptKind as Receipt
from contracts.learning.proposal import PackedFile, ProposalState, SkillBundleProposal
from contracts.learning.validation import (
    CHECK_REF,
    REQUIRED_CHECKS,
    OverallResult,
    ValidationRun,
    ValidationRunInput,
)
from contracts.workflow_ids import import_validation_id, skill_import_workflow_id
from domain.imports.import_draft import imported_draft, imported_graph, imported_interpretation
from domain.learning.checkpoints.checkpoint_lint import lint
from stores.abilities.ability_rows import VERSIONS, tell_capability
from stores.imports.import_tables import IMPORTS, skill_import_files
from stores.learning.learning_tables import PROPOSALS, VALIDATION_RUNS
from stores.platform import tables
from stores.platform.blobs import get_blob, put_blob, read_blob
from stores.platform.canonical import canonical_json, digest_of
from stores.platform.database import Database
from stores.platform.journal.journal import JournalEntries, append
from stores.platform.tables import ability_versions

SKILL_MD = "SKILL.md"

_AFTER_ANY_ID = "g"
"""Sorts behind every id, which is hexadecimal."""


def proposal_id_of(import_id: str) -> str:
    """The id of an import's proposal: the same at every try."""
    return str(uuid5(UUID(import_id), "proposal"))


class ImportInstalls:
    """Safe to share between threads; every change may be tried again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def prepare(self, work: ImportWork) -> ImportInstall:
        """Drafts the staged bundle and opens its validation run; prepared again, the same is there.

        Raises:
            Refusal: ``CONFLICT`` where the import does not wait for an install; ``SKILL_IMPORT_INCOMPATIBLE`` where
                nothing is staged, or its SKILL.md is no text.
        """
        with self._database.write() as connection:
            present = IMPORTS.get(connection, work.import_id, lock=True)
            if present.state is not SkillImportState.INSTALL_QUEUED or present.front_blob is None:
                raise Refusal(ErrorCode.CONFLICT, "This import waits for no install.", retryable=False)
            bundle = _drafted(connection, present, work.at)
            proposal = _proposal(present, bundle, work.at)
            staged = _staged(connection, bundle, proposal.content_hash, work.at)
            origin = {
                "session_id": skill_import_workflow_id(present.import_id),
                "staged": canonical_json(staged),
            }
            if not PROPOSALS.replace(connection, proposal, **origin):
                PROPOSALS.add(connection, proposal, **origin)
            prepared = _install(present, proposal)
            run = _opened_run(prepared.validation, work.at)
            if VALIDATION_RUNS.find(connection, run.validation_run_id) is None:
                VALIDATION_RUNS.put(connection, run)
            return prepared

    def open_again(
        self, proposal: SkillBundleProposal, run: ValidationRunInput, label: str | None, now: datetime
    ) -> ValidationRun:
        """Opens one more run over the draft of an import that was installed; opened again, the same is there."""
        with self._database.write() as connection:
            known = VALIDATION_RUNS.find(connection, run.validation_run_id)
            if known is not None:
                return known
            workflow_id = import_validation_id(run.validation_run_id)
            opened = _opened_run(run, now).changed(run_label=label, workflow_id=workflow_id)
            VALIDATION_RUNS.put(connection, opened)
            entries = _entries_of(proposal, run, now)
            entries.receipt(Receipt.TESTS_STARTED, None, proposal.ability_id)
            append(connection, entries.drafts)
            return opened

    def open_again_runs(self) -> tuple[ValidationRunInput, ...]:
        """Every run of ``open_again`` that has not ended, for the worker to start the workflows that Temporal lost."""
        runs, proposals = tables.validation_runs.c, tables.proposals.c
        of_imports = and_(
            proposals.session_id >= skill_import_workflow_id(""),
            proposals.session_id < skill_import_workflow_id(_AFTER_ANY_ID),
        )
        asked = runs.body.contains(f'"{import_validation_id("")}')
        query = (
            select(runs.body, proposals.body.label("proposal"))
            .join(tables.proposals, proposals.proposal_id == runs.proposal_id)
            .where(of_imports, asked)
            .order_by(runs.run_id)
        )
        with self._database.read() as connection:
            found = connection.execute(query).all()
        each = [(VALIDATION_RUNS.parse(row.body), PROPOSALS.parse(row.proposal)) for row in found]
        return tuple(_run_again(run, proposal) for run, proposal in each if run.completed_at is None)

    def validated(self, done: ImportValidated) -> None:
        """Keeps what the validation run came to; the saga, and the lifting of a quarantine, ask for it."""
        run, output = done.run, done.output
        with self._database.write() as connection:
            known = VALIDATION_RUNS.get(connection, run.validation_run_id)
            if known.completed_at is not None:
                return
            ended = known.changed(
                completed_at=done.at,
                overall_result=output.overall_result,
                passed_checks=output.passed_checks,
                not_applicable=output.not_applicable,
            )
            VALIDATION_RUNS.put(connection, ended)
            if done.again:
                proposal = PROPOSALS.get(connection, run.proposal_id)
                failed = output.overall_result is OverallResult.FAILED
                entries = _entries_of(proposal, run, done.at)
                entries.receipt(
                    Receipt.TESTS_FAILED if failed else Receipt.TESTS_PASSED,
                    output.safety_failure or output.failed_summary or output.not_applicable_reason,
                    proposal.ability_id,
                )
                append(connection, entries.drafts)


def follow_install(
    connection: Connection, entries: JournalEntries, present: SkillImport, *, installed: bool
) -> None:
    """Has the import's proposal say how its install ended, and collects what follows from one that succeeded."""
    if present.proposal_id is None:
        return
    proposal = PROPOSALS.find(connection, present.proposal_id)
    if proposal is None:
        return
    state = ProposalState.INSTALLED_PRIVATE if installed else ProposalState.QUARANTINED
    lane = present.lane if installed else InstallLane.QUARANTINED
    after = proposal.changed(proposal_state=state, install_lane=lane, updated_at=entries.at)
    PROPOSALS.replace(connection, after)
    if installed and proposal.ability_id is not None:
        for kind in (Receipt.BRIDGE_REBUILT, Receipt.AVAILABILITY_UPDATED, Receipt.ACTIVATED):
            entries.receipt(kind, None, proposal.ability_id)
        kept = VERSIONS.count(connection, ability_versions.c.ability_id == proposal.ability_id)
        created, updated = CapabilityEventName.MANIFEST_CREATED, CapabilityEventName.MANIFEST_UPDATED
        names = (CapabilityEventName.SKILL_IMPORTED, updated if kept > 1 else created)
        tell_capability(connection, entries, names, proposal.ability_id)


def _drafted(connection: Connection, present: SkillImport, now: datetime) -> DraftBundle:
    assert present.front_blob is not None, "what was staged was read"
    front = read_blob(connection, present.front_blob, PortableSkillFrontmatter)
    table = skill_import_files.c
    rows = connection.execute(
        select(table.path, table.digest, table.size_bytes)
        .where(table.import_id == present.import_id)
        .order_by(table.path)
    ).all()
    files = {
        row.path: PackedFile(path=row.path, sha256=row.digest, size_bytes=row.size_bytes) for row in rows
    }
    skill_md, cases = (_text(connection, files.pop(path, None)) for path in (SKILL_MD, TRIGGER_TESTS_PATH))
    if skill_md is None:
        raise Refusal(ErrorCode.SKILL_IMPORT_INCOMPATIBLE, "The staged bundle holds no readable SKILL.md.")
    draft = imported_draft(present.import_id, front, skill_md, tuple(files.values()), cases)
    interpretation = imported_interpretation(
        str(uuid5(UUID(present.import_id), "interpretation")), proposal_id_of(present.import_id), front, now
    )
    report = lint(interpretation, draft)
    return DraftBundle(
        draft=draft,
        interpretation=interpretation,
        graph=imported_graph(present.import_id, front.title),
        lint=report,
    )


def _text(connection: Connection, file: PackedFile | None) -> str | None:
    if file is None:
        return None
    try:
        return get_blob(connection, file.sha256).decode()
    except UnicodeDecodeError:
        raise Refusal(
            ErrorCode.SKILL_IMPORT_INCOMPATIBLE, f"{file.path} of the bundle is no UTF-8 text."
        ) from None


def _staged(connection: Connection, bundle: DraftBundle, digest: str, now: datetime) -> StagedDraft:
    draft, interpretation, graph, report = (
        put_blob(connection, canonical_json(part).encode(), now)
        for part in (bundle.draft, bundle.interpretation, bundle.graph, bundle.lint)
    )
    return StagedDraft(
        content_hash=digest,
        draft_blob=draft,
        interpretation_blob=interpretation,
        graph_blob=graph,
        lint_blob=report,
    )


def _proposal(present: SkillImport, bundle: DraftBundle, now: datetime) -> SkillBundleProposal:
    draft = bundle.draft
    proposal_id = proposal_id_of(present.import_id)
    return SkillBundleProposal(
        proposal_id=proposal_id,
        owner_user_id=present.owner_user_id,
        interpretation_id=bundle.interpretation.interpretation_id,
        source_trace_ids=(present.import_id,),
        title=draft.title,
        proposed_skill_slug=draft.slug,
        trigger_phrases=draft.trigger_phrases,
        negative_triggers=draft.negative_triggers,
        draft_skill_path=f"system/learning/installed/{draft.slug}/{SKILL_MD}",
        draft_manifest_path=f"system/capabilities/manifests/{draft.capability_id}.json",
        draft_graph_ref=f"proposal:{proposal_id}#graph",
        content_hash=digest_of(canonical_json(draft)),
        proposal_state=ProposalState.INSTALLING_PRIVATE,
        ability_id=draft.capability_id,
        primary_capability_id=draft.capability_id,
        drafted_by="import",
        imported_from=present.origin,
        created_at=now,
        updated_at=now,
    )


def _install(present: SkillImport, proposal: SkillBundleProposal) -> ImportInstall:
    assert present.validation_run_id is not None, "the command has named them"
    assert present.saga_id is not None
    assert proposal.ability_id is not None
    correlation_id = skill_import_workflow_id(present.import_id)
    return ImportInstall(
        validation=ValidationRunInput(
            validation_run_id=present.validation_run_id,
            proposal_id=proposal.proposal_id,
            owner_user_id=present.owner_user_id,
            content_hash=proposal.content_hash,
            checks=REQUIRED_CHECKS,
            correlation_id=correlation_id,
        ),
        saga=InstallSagaInput(
            saga_id=present.saga_id,
            import_id=present.import_id,
            proposal_id=proposal.proposal_id,
            owner_user_id=present.owner_user_id,
            content_hash=proposal.content_hash,
            ability_id=proposal.ability_id,
            skill_slug=proposal.proposed_skill_slug,
            lane=present.lane,
            correlation_id=correlation_id,
            requested_at=present.record.updated_at,
        ),
    )


def _run_again(run: ValidationRun, proposal: SkillBundleProposal) -> ValidationRunInput:
    assert proposal.imported_from is not None, "only imports are validated here"
    return ValidationRunInput(
        validation_run_id=run.validation_run_id,
        proposal_id=run.proposal_id,
        owner_user_id=proposal.owner_user_id,
        content_hash=run.content_hash,
        checks=run.checks,
        correlation_id=skill_import_workflow_id(proposal.imported_from.import_id),
    )


def _entries_of(proposal: SkillBundleProposal, run: ValidationRunInput, now: datetime) -> JournalEntries:
    assert proposal.imported_from is not None, "only imports are validated here"
    import_id = proposal.imported_from.import_id
    return JournalEntries(
        skill_import_workflow_id(import_id), run.owner_user_id, run.correlation_id, now, import_id=import_id
    )


def _opened_run(request: ValidationRunInput, now: datetime) -> ValidationRun:
    return ValidationRun(
        validation_run_id=request.validation_run_id,
        proposal_id=request.proposal_id,
        run_kind=request.checks[-1],
        content_hash=request.content_hash,
        started_at=now,
        overall_result=OverallResult.PARTIAL,
        result_refs=tuple(f"{CHECK_REF}{check.value}" for check in request.checks),
    )
