"""``apprentice import``: bring skill bundles from elsewhere, see what was found in them, decide about them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel
from rich.console import RenderableType
from rich.text import Text

from cli.platform.acceptance import AcceptOption, acceptance
from cli.platform.invocation import Invocation, NothingToDo, api_command
from cli.platform.list_options import OnePageOption, answer_list
from cli.platform.output import ExitCode, facts, listing, unproved_list
from clients.apprentice.imports import ImportApi
from contracts.imports.compatibility import SkillCompatibilityReport
from contracts.imports.import_record import (
    FAILED,
    ImportedSkillRecord,
    RetryKind,
    SkillImportSource,
    SkillImportState,
    SourceRefKind,
)
from contracts.imports.requests import (
    ImportNextStep,
    ImportOverlap,
    ImportTargetScope,
    SkillImportApproveRequest,
    SkillImportDiscardRequest,
    SkillImportInstallPrivateRequest,
    SkillImportRejectRequest,
    SkillImportRetryRequest,
    SkillImportScanRequest,
    SkillImportStageRequest,
)
from contracts.imports.scanning import ScanHold, ScanOverride
from contracts.imports.uploads import MOST_UPLOAD_BYTES, SkillImportUploadMetadata, TempArtifactRef

app = typer.Typer(no_args_is_help=True, help="Bring skill bundles from elsewhere: check, review, decide.")

_File = Annotated[Path, typer.Argument(help="The ZIP archive of the skill's folder.", metavar="FILE.zip")]
_Import = Annotated[str, typer.Argument(help="The id of the import.", metavar="IMPORT")]
_Source = Annotated[SkillImportSource, typer.Option(help="Where the bundle comes from.")]
_Pack = Annotated[str | None, typer.Option(help="The pack that it shall belong to.")]
_Override = Annotated[
    str | None,
    typer.Option(
        "--override", help="Why you go on in spite of what the scan found; it is recorded with your name."
    ),
]
_Skill = Annotated[
    str | None,
    typer.Option(
        "--skill", help="The folder in the archive of the skill to import; the shallowest by default."
    ),
]
_Note = Annotated[str | None, typer.Option(help="Why; it is kept with the receipt.")]


@api_command(app, "add")
def add(
    call: Invocation,
    file: _File,
    source: _Source = SkillImportSource.MANUAL_UPLOAD,
    pack: _Pack = None,
    skill: _Skill = None,
) -> None:
    """Upload a bundle, scan it, and say what was found."""
    kept = _uploaded(call, file, source, pack)
    _scan(call, kept.temp_artifact_ref, source, skill)


@api_command(app, "upload")
def upload(
    call: Invocation, file: _File, source: _Source = SkillImportSource.MANUAL_UPLOAD, pack: _Pack = None
) -> None:
    """Upload a bundle; it is kept for 24 hours."""
    kept = _uploaded(call, file, source, pack)
    call.answer(
        facts(
            [
                ("upload", kept.temp_artifact_ref),
                ("bytes", str(kept.byte_size)),
                ("SHA-256", kept.content_hash_sha256),
                ("expires", f"{kept.expires_at:%Y-%m-%d %H:%M} UTC"),
            ]
        ),
        f"Scan it: apprentice import scan {kept.temp_artifact_ref}",
    )


@api_command(app, "delete-upload")
def delete_upload(
    call: Invocation, ref: Annotated[str, typer.Argument(help="The handle of the upload.", metavar="UPLOAD")]
) -> None:
    """Delete an upload."""
    ImportApi(call.api.http).delete_upload(ref)
    call.answer("Deleted.")


@api_command(app, "scan")
def scan(
    call: Invocation,
    ref: Annotated[str, typer.Argument(help="The handle of the upload.", metavar="UPLOAD")],
    source: _Source = SkillImportSource.MANUAL_UPLOAD,
    skill: _Skill = None,
) -> None:
    """Unpack and scan an upload, and say what was found."""
    _scan(call, ref, source, skill)


@api_command(app, "stage")
def stage(
    call: Invocation,
    import_id: _Import,
    pack: _Pack = None,
    note: _Note = None,
    override: _Override = None,
) -> None:
    """Keep the files of a scanned bundle for review."""
    request = SkillImportStageRequest(
        import_id=import_id, requested_pack_id=pack, stage_notes=note, override_reason=override
    )
    found = ImportApi(call.api.http).stage(request)
    call.answer(
        _facts(found.import_record),
        *_overlapping(ImportApi(call.api.http).show(import_id).overlaps),
        *_next_of(found.next),
    )
    _fail_where_it_failed(found.import_record)


@api_command(app, "approve")
def approve(call: Invocation, import_id: _Import, note: _Note = None, override: _Override = None) -> None:
    """Approve a reviewed bundle without installing it: the import ends.

    To install it, type `apprentice import install IMPORT` in place of this. An approved import is not installed any
    more: scan its upload again, stage it, and install that.
    """
    request = SkillImportApproveRequest(import_id=import_id, approval_note=note, override_reason=override)
    _act(call, "approve", request)


@api_command(app, "reject")
def reject(
    call: Invocation,
    import_id: _Import,
    reason: Annotated[str, typer.Option(help="Why; it is kept with the receipt.")],
) -> None:
    """Turn a reviewed bundle down."""
    _act(call, "reject", SkillImportRejectRequest(import_id=import_id, reason=reason))


@api_command(app, "install")
def install(
    call: Invocation,
    import_id: _Import,
    scope: Annotated[ImportTargetScope, typer.Option(help="For whom.")] = ImportTargetScope.PRIVATE,
    override: _Override = None,
    accept_unproved: AcceptOption = False,
) -> None:
    """Install a reviewed bundle: show what nothing proves, check it, install it.

    It needs no `approve` before, which would end the import.
    """
    seen = ImportApi(call.api.http).show(import_id)
    accepted = acceptance(call, seen.unproved, seen.unproved_digest, accept_unproved)
    request = SkillImportInstallPrivateRequest(
        import_id=import_id, target_scope=scope, override_reason=override, **accepted
    )
    with call.busy("checking and installing"):
        _act(call, "install-private", request)


@api_command(app, "discard")
def discard(call: Invocation, import_id: _Import, note: _Note = None) -> None:
    """Drop an import. One of which a step has failed is set aside: it is listed no more, and can be retried still."""
    _act(call, "discard", SkillImportDiscardRequest(import_id=import_id, reason=note))


@api_command(app, "retry")
def retry(
    call: Invocation,
    import_id: _Import,
    kind: Annotated[RetryKind, typer.Argument(help="The step that failed.")],
) -> None:
    """Do a failed step again."""
    _act(call, "retry", SkillImportRetryRequest(import_id=import_id, retry_kind=kind))


@api_command(app, "show")
def show(call: Invocation, import_id: _Import) -> None:
    """Show one import, what was found in it, what nothing proves, and what comes next."""
    found = ImportApi(call.api.http).show(import_id)
    warned = [Text(f"! {one}", style="yellow") for one in found.warnings]
    listed = [unproved_list(found.unproved)] if found.unproved else []
    asked = _next_of(found.next)
    call.answer(
        _facts(found.import_record),
        *_findings(found.compatibility_report),
        *_held(found.held_up_by, found.override),
        *listed,
        *_overlapping(found.overlaps),
        *warned,
        *asked,
    )


@api_command(app, "list")
def list_imports(
    call: Invocation,
    page: OnePageOption = 1,
    state: Annotated[SkillImportState | None, typer.Option(help="Only in this state.")] = None,
    set_aside: Annotated[
        bool, typer.Option("--set-aside", help="Also those that were discarded after a step had failed.")
    ] = False,
) -> None:
    """List your imports, newest first."""
    wanted = state.value if state else None
    found = ImportApi(call.api.http).list(page, stage_state=wanted, set_aside=set_aside)
    table = listing("import", "skill", "state", "from", whole="import")
    for one in found.items:
        came_as = Text(one.original_filename or one.source.value)
        table.add_row(one.import_id, Text(one.skill_name), one.stage_state.value, came_as)
    answer_list(call, found, table, "No imports. Begin one with `apprentice import add FILE.zip`.")


def _uploaded(call: Invocation, file: Path, source: SkillImportSource, pack: str | None) -> TempArtifactRef:
    try:
        if file.stat().st_size > MOST_UPLOAD_BYTES:
            raise NothingToDo(f"{file} has more than {MOST_UPLOAD_BYTES} bytes, the most of an upload.")
        content = file.read_bytes()
    except OSError as error:
        raise NothingToDo(f"{file} cannot be read: {error.strerror or error}.") from None
    metadata = SkillImportUploadMetadata(source=source, requested_pack_id=pack)
    return ImportApi(call.api.http).upload(file.name, content, metadata).temp_artifact


def _scan(call: Invocation, ref: str, source: SkillImportSource, skill: str | None) -> None:
    request = SkillImportScanRequest(source=source, temp_artifact_ref=ref, skill_folder=skill)
    with call.busy("scanning"):
        found = ImportApi(call.api.http).scan(request)
    record = found.import_record
    report = found.compatibility_report
    call.answer(_facts(record), *_findings(report), *_next_of(found.next))
    if not report.compatible or report.requires_adapter:
        raise typer.Exit(ExitCode.FAILURE)


def _act(call: Invocation, action: str, request: BaseModel) -> None:
    found = ImportApi(call.api.http).act(action, request)
    record = found.import_record
    call.answer(_facts(record), *_next_of(found.next))
    _fail_where_it_failed(record)


def _fail_where_it_failed(record: ImportedSkillRecord) -> None:
    """Scripts see it by the exit status; an import that was set aside has done what was asked."""
    if record.stage_state in FAILED and record.set_aside_at is None:
        raise typer.Exit(ExitCode.FAILURE)


def _next_of(steps: Sequence[ImportNextStep]) -> list[Text]:
    """Each on a line of its own, since a command is copied."""
    return [Text(f"{one.what}: {one.command}") for one in steps]


def _facts(record: ImportedSkillRecord) -> RenderableType:
    lines = [
        ("import", record.import_id),
        ("skill", record.skill_name),
        ("state", record.stage_state.value),
        ("file", record.original_filename or ""),
        ("upload", record.source_ref if record.source_ref_kind is SourceRefKind.TEMP_ARTIFACT else ""),
        ("pack", record.skill_pack or ""),
        ("last error", record.last_error_code or ""),
        ("which is", record.last_error or ""),
        ("set aside", f"{record.set_aside_at:%Y-%m-%d %H:%M} UTC" if record.set_aside_at else ""),
    ]
    return facts([(name, value) for name, value in lines if value])


def _overlapping(overlaps: Sequence[ImportOverlap]) -> list[Text]:
    """What the skill would stand beside: whoever installs it should know what agents are routed to now."""
    return [
        Text(f"Overlaps “{one.title}” ({one.ability_id}), which answers: {'; '.join(one.triggers)}")
        for one in overlaps
    ]


def _held(held: ScanHold | None, override: ScanOverride | None) -> list[Text]:
    """What holds the import up, or who went on in spite of it."""
    if override is not None:
        who = f"{override.by_user_id} ({override.scope.value}), {override.at:%Y-%m-%d %H:%M} UTC"
        return [Text(f"Overridden by {who}: {override.reason} [{', '.join(override.codes)}]")]
    if held is None:
        return []
    if not held.only_obstacle:
        return [Text(f"Held up by {', '.join(held.codes)} and by other errors, which no override mends.")]
    return [
        Text(f"Held up by {', '.join(held.codes)}; --override REASON needs the scope {held.needs.value}.")
    ]


_COLOURS = {"error": "red", "warning": "yellow", "info": "dim"}


def _findings(report: SkillCompatibilityReport | None) -> list[RenderableType]:
    if report is None:
        return []
    judged = "compatible" if report.compatible else "not compatible"
    if report.requires_adapter:
        judged += ", needs an adapter"
    shown: list[RenderableType] = [Text(f"{judged}; findings: {len(report.findings)}")]
    for one in report.findings:
        place = f" ({one.path_hint})" if one.path_hint else ""
        line = Text(f"{one.severity.value:8}", style=_COLOURS[one.severity.value])
        shown.append(line.append(f"{one.code}{place}: {one.message}", style="default"))
    return shown
