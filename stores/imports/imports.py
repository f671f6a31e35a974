"""Store of skill imports: every change is one transaction with its transition, its receipt, and the command's key."""

from collections.abc import Mapping
from datetime import datetime

from pydantic import BaseModel
from sqlalchemy import Connection, delete, insert, select
from uuid_utils import uuid7

from contracts.abilities.availability import UnprovedAcceptance
from contracts.base import clipped
from contracts.errors import ErrorCode, Refusal
from contracts.imports.compatibility import SkillCompatibilityReport
from contracts.imports.import_record import (
    TERMINAL,
    ImportedSkillRecord,
    RetryKind,
    SkillImportSource,
    SkillImportTransition,
    SourceRefKind,
    TransitionActor,
)
from contracts.imports.import_record import SkillImportState as S
from contracts.imports.import_rules import (
    DONE,
    WORKING,
    is_legal,
    move_of,
    objection,
    overridden,
    sets_aside,
    upload_expired,
)
from contracts.imports.import_work import (
    ImportCommand,
    ImportOrder,
    ImportOutcome,
    ImportReceipt,
    SkillImport,
    StoredUpload,
    WorkDone,
    WorkSettled,
)
from contracts.imports.portable_frontmatter import PortableSkillFrontmatter
from contracts.learning.lifecycle import LearningReceiptKind as Receipt
from contracts.learning.validation import unproved_digest
from contracts.platform.commands import CommitKey
from contracts.workflow_ids import skill_import_workflow_id
from stores.imports.import_installs import follow_install, proposal_id_of
from stores.imports.import_tables import IMPORTS, UPLOADS, skill_import_files, skill_imports
from stores.imports.installed_names import require_dependencies, require_no_quarantine
from stores.platform.answers import recalled, remember
from stores.platform.blobs import get_blob, put_blob, read_blob
from stores.platform.canonical import canonical_json
from stores.platform.database import Database, PageRequest, text_at
from stores.platform.document_table import DocumentPage
from stores.platform.journal.journal import IMPORT_TRANSITIONS, JournalEntries, append

BUNDLE_PREFIX = "materialized-bundle/"
REPORT_PREFIX = "compatibility-report/"
UNNAMED = "unnamed"
"""The name of a skill whose bundle has not been read."""

_RECEIPTS: Mapping[ImportCommand, Receipt] = {
    ImportCommand.SCAN: Receipt.IMPORT_SCAN_REQUESTED,
    ImportCommand.STAGE: Receipt.IMPORT_STAGE_REQUESTED,
    ImportCommand.INSTALL: Receipt.IMPORT_INSTALL_REQUESTED,
    ImportCommand.RETRY: Receipt.IMPORT_RETRIED,
    ImportCommand.APPROVE: Receipt.IMPORT_APPROVED,
    ImportCommand.REJECT: Receipt.IMPORT_REJECTED,
    ImportCommand.DISCARD: Receipt.IMPORT_DISCARDED,
}

_ENDS: Mapping[S, Receipt] = {
    S.SCAN_COMPLETE: Receipt.IMPORT_SCANNED,
    S.READY_FOR_REVIEW: Receipt.IMPORT_STAGED,
    S.INSTALLED_PRIVATE: Receipt.IMPORT_INSTALLED,
    S.EXPIRED: Receipt.IMPORT_EXPIRED,
}
"""The receipts of work that ended; every other end is a failure."""


class SkillImports:
    """The imports of all users. Safe to share between threads; every change may be tried again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, import_id: str) -> SkillImport | None:
        """An import of any owner; None before its scan was asked for."""
        with self._database.read() as connection:
            return IMPORTS.find(connection, import_id)

    def owned(self, import_id: str, owner: str) -> SkillImport:
        """The owner's import.

        Raises:
            Refusal: ``SKILL_IMPORT_NOT_FOUND``.
        """
        with self._database.read() as connection:
            return IMPORTS.owned(connection, import_id, owner)

    def page(
        self, owner: str, wanted: PageRequest, state: S | None, *, set_aside: bool = False
    ) -> DocumentPage[SkillImport]:
        """The owner's imports, newest first; those that were set aside only where they are asked for."""
        table = skill_imports.c
        where = [table.owner == owner]
        if state is not None:
            where.append(table.state == state.value)
        newest_first = (table.created_at.desc(), table.import_id.desc())
        with self._database.read() as connection:
            if not set_aside:
                where.append(text_at(connection, table.body, "record.set_aside_at").is_(None))
            return IMPORTS.page(connection, wanted, *where, order_by=newest_first)

    def report(self, present: SkillImport) -> SkillCompatibilityReport | None:
        """What the newest scan found; None before one has ended."""
        if present.report_blob is None:
            return None
        with self._database.read() as connection:
            return read_blob(connection, present.report_blob, SkillCompatibilityReport)

    def front(self, present: SkillImport) -> PortableSkillFrontmatter | None:
        """What the skill says of itself; None where no scan has read it."""
        if present.front_blob is None:
            return None
        with self._database.read() as connection:
            return read_blob(connection, present.front_blob, PortableSkillFrontmatter)

    def files(self, import_id: str) -> dict[str, bytes]:
        """The staged files by their paths; none before the bundle is staged."""
        table = skill_import_files.c
        with self._database.read() as connection:
            rows = connection.execute(
                select(table.path, table.digest).where(table.import_id == import_id).order_by(table.path)
            )
            return {path: get_blob(connection, digest) for path, digest in rows}

    def not_over(self) -> tuple[SkillImport, ...]:
        """Every import that has not ended, for the worker to start the workflows that Temporal has lost."""
        table = skill_imports.c
        going_on = [state.value for state in S if state not in TERMINAL]
        with self._database.read() as connection:
            return IMPORTS.all(connection, table.state.in_(going_on), order_by=(table.import_id,))

    def recall(self, key: CommitKey) -> ImportOutcome | None:
        """What an earlier command with this key came to, with the import as it stands.

        Raises:
            Refusal: ``IDEMPOTENCY_KEY_REUSED``.
        """
        with self._database.read() as connection:
            receipt = recalled(connection, key, ImportReceipt)
            if receipt is None:
                return None
            return ImportOutcome(receipt=receipt, present=IMPORTS.get(connection, receipt.import_id))

    def command(self, order: ImportOrder) -> ImportOutcome:
        """Takes one command; repeated under its key it answers what it came to.

        Raises:
            Refusal: ``SKILL_IMPORT_NOT_FOUND``, ``INVALID_SKILL_IMPORT_TRANSITION``, ``SKILL_IMPORT_UPLOAD_EXPIRED``,
                ``SKILL_IMPORT_INCOMPATIBLE``, ``SKILL_IMPORT_NEEDS_ADAPTER``, ``SKILL_IMPORT_OVERRIDE_REQUIRED``,
                ``FORBIDDEN``, ``IDEMPOTENCY_KEY_REUSED``.
        """
        assert order.at is not None, "the workflow sets the time"
        with self._database.write() as connection:
            known = recalled(connection, order.commit_key, ImportReceipt)
            if known is not None:
                return ImportOutcome(receipt=known, present=IMPORTS.get(connection, known.import_id))
            if order.command is ImportCommand.SCAN:
                present, entries = _opened(connection, order, order.at)
                receipt_id = _receipt(entries, _RECEIPTS[order.command], order.note or UNNAMED)
            else:
                present, entries, receipt_id = command_within(connection, order, order.at)
            append(connection, entries.drafts)
            receipt = ImportReceipt(
                import_id=present.import_id, receipt_id=receipt_id, saga_id=present.saga_id
            )
            remember(connection, order.commit_key, receipt, order.at)
            return ImportOutcome(receipt=receipt, present=present)

    def settle(self, settled: WorkSettled) -> SkillImport:
        """Moves an import on by what its work came to; nothing where it is no longer at that work."""
        with self._database.write() as connection:
            present, entries = settle_within(connection, settled)
            append(connection, entries.drafts)
            return present

    def keep_found(self, found: BaseModel, now: datetime) -> str:
        """Keeps what a scan found and returns its digest; an import refers to it when its scan is settled."""
        with self._database.write() as connection:
            return put_blob(connection, canonical_json(found).encode(), now)

    def keep_files(self, import_id: str, files: Mapping[str, bytes], now: datetime) -> str:
        """Keeps the files of a staged bundle, all or none, in the place of those kept before; their reference."""
        with self._database.write() as connection:
            connection.execute(delete(skill_import_files).where(skill_import_files.c.import_id == import_id))
            rows = [
                {
                    "import_id": import_id,
                    "path": path,
                    "digest": put_blob(connection, content, now),
                    "size_bytes": len(content),
                }
                for path, content in sorted(files.items())
            ]
            if rows:
                connection.execute(insert(skill_import_files), rows)
        return f"{BUNDLE_PREFIX}{import_id}"


def settle_within(connection: Connection, settled: WorkSettled) -> tuple[SkillImport, JournalEntries]:
    """``SkillImports.settle`` within a transaction; what it says is for the caller to append."""
    done, now = settled.done, settled.at
    present = IMPORTS.get(connection, settled.import_id, lock=True)
    entries = _entries(present, now)
    if WORKING.get(present.state) is not settled.kind:
        return present, entries
    well, failed = DONE[settled.kind]
    to = S.EXPIRED if done.expired else failed if done.error_code else well
    if not is_legal(present.state, to):
        to = failed
    changed = _with_work(present, settled.kind, done, failed=to is failed)
    reason = done.error or done.error_code or f"{settled.kind.value} is done"
    changed = _moved(entries, changed, to, TransitionActor.SYSTEM, reason, now)
    if settled.kind is RetryKind.INSTALL:
        follow_install(connection, entries, changed, installed=to is well)
    _receipt(entries, _ENDS.get(to, Receipt.IMPORT_FAILED), reason)
    return _written(connection, present, changed), entries


def _opened(connection: Connection, order: ImportOrder, now: datetime) -> tuple[SkillImport, JournalEntries]:
    """A new import of an upload, being scanned."""
    if IMPORTS.find(connection, order.import_id) is not None:
        raise Refusal(ErrorCode.CONFLICT, "This import exists already; scan the upload as a new one.")
    upload = UPLOADS.owned(connection, order.upload_ref or "", order.owner_user_id, lock=True)
    if upload.expires_at <= now:
        raise upload_expired()
    pending = _new(order, upload, now)
    entries = _entries(pending, now)
    uploaded = _moved(entries, pending, S.UPLOADED, TransitionActor.USER, "uploaded", now)
    scanning = _moved(entries, uploaded, S.SCANNING, TransitionActor.USER, "scan requested", now)
    opened = scanning.changed(version=1)
    IMPORTS.add(connection, opened)
    return opened, entries


def _new(order: ImportOrder, upload: StoredUpload, now: datetime) -> SkillImport:
    record = ImportedSkillRecord(
        import_id=order.import_id,
        source=order.source or SkillImportSource.MANUAL_UPLOAD,
        skill_name=UNNAMED,
        source_ref_kind=SourceRefKind.TEMP_ARTIFACT,
        source_ref=upload.upload_ref,
        original_filename=upload.artifact.original_filename,
        stage_state=S.UPLOAD_PENDING,
        skill_pack=upload.metadata.requested_pack_id,
        created_at=now,
        updated_at=now,
    )
    return SkillImport(
        record=record,
        asked_pack_id=upload.metadata.requested_pack_id,
        owner_user_id=order.owner_user_id,
        upload_ref=upload.upload_ref,
        skill_folder=order.skill_folder,
        upload_expires_at=upload.expires_at,
        archive_sha256=upload.artifact.content_hash_sha256,
        correlation_id=order.correlation_id,
    )


def command_within(
    connection: Connection, order: ImportOrder, now: datetime
) -> tuple[SkillImport, JournalEntries, str]:
    """``SkillImports.command`` on an import that exists, within a transaction: with its entries and its receipt's id.

    Raises:
        Refusal: as ``SkillImports.command``.
    """
    present = IMPORTS.owned(connection, order.import_id, order.owner_user_id, lock=True)
    refusal = objection(present, order, now)
    if refusal is not None:
        raise refusal
    entries = JournalEntries(
        skill_import_workflow_id(present.import_id),
        present.owner_user_id,
        order.correlation_id,
        now,
        import_id=present.import_id,
    )
    if sets_aside(present.state, order.command):
        aside = present.changed(record=present.record.changed(set_aside_at=now))
        receipt = _receipt(entries, _RECEIPTS[order.command], order.note or present.record.skill_name)
        return _written(connection, present, aside), entries, receipt
    present = present.changed(pack_install_id=order.pack_install_id)
    move = move_of(order)
    changed = present.changed(retried=None)
    if order.command is ImportCommand.RETRY:
        count = present.record.retry_count + 1
        changed = present.changed(
            retried=order.retry_kind,
            record=present.record.changed(
                retry_count=count, last_error_code=None, last_error=None, set_aside_at=None
            ),
        )
    elif order.requested_pack_id is not None:
        changed = changed.changed(
            asked_pack_id=order.requested_pack_id,
            record=changed.record.changed(skill_pack=order.requested_pack_id),
        )
    if order.target_scope is not None:
        changed = changed.changed(target_scope=order.target_scope)
    if move.to is S.INSTALL_QUEUED:
        require_no_quarantine(connection, present)
        if order.pack_install_id is None:
            require_dependencies(connection, present)
        changed = _queued(changed, order, now)
    reason = order.note or order.command.value
    changed = overridden(changed, order, now)
    if changed.override is not None and present.override is None:
        reason = f"override of {', '.join(changed.override.codes)}: {changed.override.reason}"
        _receipt(entries, Receipt.IMPORT_OVERRIDDEN, reason)
    changed = _moved(entries, changed, move.to, move.actor, reason, now)
    written = _written(connection, present, changed)
    return (
        written,
        entries,
        _receipt(entries, _RECEIPTS[order.command], order.note or present.record.skill_name),
    )


def _queued(present: SkillImport, order: ImportOrder, now: datetime) -> SkillImport:
    """The import with what a try of its install is known by; a retry keeps who accepted what is not proved."""
    accepted = present.accepted
    if order.command is ImportCommand.INSTALL:
        accepted = None
        if present.unproved:
            accepted = UnprovedAcceptance(
                steps=present.unproved,
                digest=unproved_digest(present.unproved),
                accepted_by=order.owner_user_id,
                accepted_at=now,
            )
    return present.changed(
        accepted=accepted,
        saga_id=str(uuid7()),
        validation_run_id=str(uuid7()),
        proposal_id=proposal_id_of(present.import_id),
    )


def _with_work(present: SkillImport, kind: RetryKind, done: WorkDone, *, failed: bool) -> SkillImport:
    """The import with what its work found; where that failed, with the failure counted."""
    record = present.record.changed(last_error_code=done.error_code, last_error=done.error)
    changed = present
    if kind is RetryKind.SCAN:
        record = record.changed(
            skill_name=done.skill_name or record.skill_name,
            requires_adapter=done.requires_adapter,
            skill_pack=record.skill_pack or done.suggested_pack_id,
        )
        if done.report_blob is not None:
            record = record.changed(compatibility_report_ref=f"{REPORT_PREFIX}{done.report_blob}")
        changed = changed.changed(
            report_blob=done.report_blob,
            front_blob=done.front_blob,
            compatible=done.compatible,
            held=done.held,
            override=None,
        )
    if done.bundle_ref is not None:
        record = record.changed(source_ref_kind=SourceRefKind.MATERIALIZED_BUNDLE, source_ref=done.bundle_ref)
        changed = changed.changed(unproved=done.unproved, missing_cases=done.missing_cases)
    if failed and present.retried is kind:
        times = present.failed_retries.get(kind, 0) + 1
        changed = changed.changed(failed_retries={**present.failed_retries, kind: times})
    return changed.changed(record=record)


def _moved(
    entries: JournalEntries, present: SkillImport, to: S, actor: TransitionActor, reason: str, now: datetime
) -> SkillImport:
    """The import in its next state, and the transition in the log."""
    assert is_legal(present.state, to), f"{present.state} does not lead to {to}"
    entries.add(
        IMPORT_TRANSITIONS,
        SkillImportTransition(
            import_id=present.import_id,
            from_state=present.state,
            to_state=to,
            actor=actor,
            reason=clipped(reason, 240),
            correlation_id=entries.correlation_id,
            created_at=now,
        ),
    )
    return present.changed(record=present.record.changed(stage_state=to, updated_at=now))


def _entries(present: SkillImport, now: datetime) -> JournalEntries:
    return JournalEntries(
        skill_import_workflow_id(present.import_id),
        present.owner_user_id,
        present.correlation_id,
        now,
        import_id=present.import_id,
    )


def _receipt(entries: JournalEntries, kind: Receipt, reason: str) -> str:
    """Collects a receipt; its id."""
    entries.receipt(kind, reason)
    receipt_id: str = entries.drafts[-1].document["receipt_id"]
    return receipt_id


def _written(connection: Connection, before: SkillImport, after: SkillImport) -> SkillImport:
    written = after.changed(version=before.version + 1)
    IMPORTS.compare_and_set(connection, written, before.version)
    return written


def new_import_id() -> str:
    """The id of an import that no key names."""
    return str(uuid7())
