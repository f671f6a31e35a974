"""Activities of skill imports: take a command, scan a bundle, stage it, install it, and record what came of it."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple, Protocol

from temporalio import activity

from activities.platform.context import heartbeats
from activities.platform.refusals import as_application_errors, refusing
from contracts.abilities.lookup import TRIGGER_TESTS_PATH
from contracts.errors import ErrorCode, Refusal
from contracts.imports.compatibility import SkillCompatibilityReport
from contracts.imports.import_work import (
    ImportInstall,
    ImportOrder,
    ImportOutcome,
    ImportSeen,
    ImportStart,
    ImportValidated,
    ImportWork,
    SkillImport,
    WorkDone,
    WorkSettled,
)
from contracts.imports.portable_frontmatter import PortableSkillFrontmatter
from contracts.imports.scanning import ScanHold
from domain.imports.import_draft import missing_trigger_cases
from domain.imports.unproved import unproved_of, unrehearsed_of
from stores.imports.import_installs import ImportInstalls
from stores.imports.imports import SkillImports
from stores.imports.uploads import BundleUploads


class ScannedBundle(NamedTuple):
    """What reading an archive came to.

    ``error_code`` and ``error`` are of an archive that was refused; ``files`` are those of the skill, by their
    paths below its folder.
    """

    report: SkillCompatibilityReport
    skill_name: str | None = None
    files: Mapping[str, bytes] | None = None
    front: PortableSkillFrontmatter | None = None
    held: ScanHold | None = None
    error_code: str | None = None
    error: str | None = None


class BundleReading(Protocol):
    """Unpacks and reads an archive: the same content gives the same answer."""

    def __call__(self, present: SkillImport, archive: bytes) -> ScannedBundle:
        """Reads ``archive``, which was uploaded for the import ``present``."""
        ...


class ImportActivities:
    """Scanning and staging read the upload afresh, and write nothing but blobs until they are settled."""

    def __init__(
        self,
        imports: SkillImports,
        installs: ImportInstalls,
        uploads: BundleUploads,
        read: BundleReading,
        written: Callable[[], None],
    ) -> None:
        """``written`` is called after each commit, to have the files projected."""
        self._imports = imports
        self._installs = installs
        self._uploads = uploads
        self._read_bundle = read
        self._written = written

    @activity.defn
    @refusing
    def read_import(self, start: ImportStart) -> ImportSeen:
        """The import as the store has it."""
        return ImportSeen(present=self._imports.find(start.import_id))

    @activity.defn
    @refusing
    def command_import(self, order: ImportOrder) -> ImportOutcome:
        """Takes one command; a repeated one answers what the first came to."""
        outcome = self._imports.command(order)
        self._written()
        return outcome

    @activity.defn
    @refusing
    def settle_import(self, settled: WorkSettled) -> SkillImport:
        """Moves the import on by what its work came to."""
        present = self._imports.settle(settled)
        self._written()
        return present

    @activity.defn
    async def scan_bundle(self, work: ImportWork) -> WorkDone:
        """Unpacks, reads and scans the upload; keeps the report."""
        async with heartbeats():
            return await asyncio.to_thread(self._scan, work)

    @activity.defn
    async def stage_bundle(self, work: ImportWork) -> WorkDone:
        """Keeps the files of the bundle as they were scanned."""
        async with heartbeats():
            return await asyncio.to_thread(self._stage, work)

    @activity.defn
    @refusing
    def prepare_install(self, work: ImportWork) -> ImportInstall:
        """Drafts the staged bundle, so that it can be validated and installed as a learned skill is."""
        prepared = self._installs.prepare(work)
        self._written()
        return prepared

    @activity.defn
    @refusing
    def keep_validation(self, done: ImportValidated) -> None:
        """Keeps what the validation of an import's draft came to."""
        self._installs.validated(done)
        self._written()

    def _scan(self, work: ImportWork) -> WorkDone:
        with as_application_errors():
            _, scanned = self._scanned(work)
            report_blob = self._imports.keep_found(scanned.report, work.at)
            front = self._imports.keep_found(scanned.front, work.at) if scanned.front is not None else None
        return WorkDone(
            skill_name=scanned.skill_name,
            report_blob=report_blob,
            front_blob=front,
            compatible=scanned.report.compatible,
            requires_adapter=scanned.report.requires_adapter,
            held=scanned.held,
            suggested_pack_id=scanned.report.suggested_pack_id,
            error_code=scanned.error_code,
            error=scanned.error,
        )

    def _stage(self, work: ImportWork) -> WorkDone:
        with as_application_errors():
            present, scanned = self._scanned(work)
            if scanned.error_code is not None or scanned.files is None:
                return WorkDone(
                    error_code=scanned.error_code or ErrorCode.SKILL_IMPORT_INCOMPATIBLE.value,
                    error=scanned.error or "The bundle holds no skill.",
                )
            bundle_ref = self._imports.keep_files(present.import_id, scanned.files, work.at)
        unproved = unproved_of(unrehearsed_of(present.import_id, scanned.files))
        return WorkDone(
            bundle_ref=bundle_ref, unproved=unproved, missing_cases=_missing_cases(present.import_id, scanned)
        )

    def _scanned(self, work: ImportWork) -> tuple[SkillImport, ScannedBundle]:
        present = self._imports.find(work.import_id)
        if present is None:
            raise Refusal(ErrorCode.SKILL_IMPORT_NOT_FOUND, "There is no such import.")
        return present, self._read_bundle(present, self._content(present, work.at))

    def _content(self, present: SkillImport, at: datetime) -> bytes:
        return self._uploads.content(present.upload_ref, at)


def _missing_cases(import_id: str, scanned: ScannedBundle) -> str | None:
    own = (scanned.files or {}).get(TRIGGER_TESTS_PATH)
    if scanned.front is None:
        return None
    cases = own.decode(errors="replace") if own is not None else None
    return missing_trigger_cases(import_id, scanned.front, cases)
