"""``apprentice pdf``: text, tables, recognised text and redaction preparation of a PDF document."""

from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import typer
from rich.table import Table
from rich.text import Text

from cli.platform.invocation import Invocation, NothingToDo, api_command
from cli.platform.output import ExitCode, fail, listing, write_json
from cli.platform.own_words import own_words
from clients.apprentice.mcp import AcrobatApi
from contracts.documents.acrobat import (
    MAX_SOURCE_BYTES,
    AcrobatCapability,
    AcrobatExtractTablesRequest,
    AcrobatExtractTextRequest,
    AcrobatOCRRequest,
    AcrobatOperationResponse,
    AcrobatOperationStatus,
    AcrobatOutput,
    AcrobatRedactionPrepRequest,
    AcrobatSourceKind,
    AcrobatTableMode,
)

app = typer.Typer(no_args_is_help=True, help="Read PDF documents: text, tables, pictures, redaction.")

_File = Annotated[
    Path, typer.Argument(help="The PDF document; it is handed in and kept for seven days, see --forget.")
]
_Pages = Annotated[str | None, typer.Option(help="Such as 1-3,5 or 10-.")]
_Forget = Annotated[
    bool, typer.Option("--forget", help="Forget the document, and what was found, once that is printed.")
]
_DataClass = Annotated[str | None, typer.Option(help="What kind of data it holds, for policy.")]
_Request = Annotated[
    str | None, typer.Option("--request", help="The name of a request made before: tells how it stands now.")
]


@api_command(app, "health")
def health(call: Invocation) -> None:
    """Say what can be done with documents now."""
    found = AcrobatApi(call.api.http).health()
    can = ", ".join(one.value for one in found.supported_capabilities) or "nothing"
    call.answer(Text(f"{found.adapter_state.value}: {can}"), Text(own_words(found.next_action or "")))


@api_command(app, "text")
def text(
    call: Invocation,
    file: _File,
    pages: _Pages = None,
    ocr_fallback: Annotated[bool, typer.Option(help="Recognise pages that hold no text.")] = False,
    data_class: _DataClass = None,
    request: _Request = None,
    forget: _Forget = False,
) -> None:
    """Print the text of a document."""
    body = AcrobatExtractTextRequest(
        **_source(call, file, pages, data_class, request), ocr_fallback=ocr_fallback
    )
    _finish(call, AcrobatCapability.EXTRACT_TEXT, body, forget)


@api_command(app, "tables")
def tables(
    call: Invocation,
    file: _File,
    pages: _Pages = None,
    mode: Annotated[AcrobatTableMode, typer.Option(help="How tables are found.")] = AcrobatTableMode.AUTO,
    data_class: _DataClass = None,
    request: _Request = None,
    forget: _Forget = False,
) -> None:
    """Print the tables of a document."""
    body = AcrobatExtractTablesRequest(**_source(call, file, pages, data_class, request), table_mode=mode)
    _finish(call, AcrobatCapability.EXTRACT_TABLES, body, forget)


@api_command(app, "ocr")
def ocr(
    call: Invocation,
    file: _File,
    pages: _Pages = None,
    language: Annotated[str | None, typer.Option(help="A hint, such as en.")] = None,
    data_class: _DataClass = None,
    request: _Request = None,
    forget: _Forget = False,
) -> None:
    """Print the text in the pictures of a document."""
    body = AcrobatOCRRequest(**_source(call, file, pages, data_class, request), language_hint=language)
    _finish(call, AcrobatCapability.OCR, body, forget)


@api_command(app, "redaction-prep")
def redaction_prep(
    call: Invocation,
    file: _File,
    find: Annotated[
        list[str] | None,
        typer.Option(help="A kind (email, phone, ssn, iban, credit_card) or a text; repeat it. All kinds."),
    ] = None,
    pages: _Pages = None,
    data_class: _DataClass = None,
    request: _Request = None,
    forget: _Forget = False,
) -> None:
    """List what should be blacked out, once a person has approved that; the document stays as it is."""
    body = AcrobatRedactionPrepRequest(
        **_source(call, file, pages, data_class, request), pattern_set=tuple(find or ())
    )
    _finish(call, AcrobatCapability.REDACTION_PREP, body, forget)


@api_command(app, "forget")
def forget_it(
    call: Invocation,
    reference: Annotated[
        str,
        typer.Argument(
            help="Of a document or of what was found: temp-artifact/…, acrobat-output/… or a digest."
        ),
    ],
) -> None:
    """Forget a document that was handed in, or what was found in one."""
    AcrobatApi(call.api.http).forget(reference)
    call.answer(Text("It is forgotten: nobody can read it any more."))


def _source(
    call: Invocation, file: Path, pages: str | None, data_class: str | None, request: str | None
) -> dict[str, Any]:
    try:
        if file.stat().st_size > MAX_SOURCE_BYTES:
            raise NothingToDo(f"{file} is larger than 32 MiB. Hand in a part of it.")
        content = file.read_bytes()
    except OSError as error:
        raise NothingToDo(f"{file} cannot be read: {error.strerror}.") from None
    source = AcrobatApi(call.api.http).hand_in(content)
    return {
        "source_ref_kind": AcrobatSourceKind.TEMP_ARTIFACT_REF,
        "source_ref": source.temp_artifact_ref,
        "page_range": pages,
        "data_class": data_class,
        "client_request_id": request or f"pdf-{uuid4()}",
    }


def _finish(
    call: Invocation,
    capability: AcrobatCapability,
    body: AcrobatExtractTextRequest
    | AcrobatExtractTablesRequest
    | AcrobatOCRRequest
    | AcrobatRedactionPrepRequest,
    forget: bool,
) -> None:
    api = AcrobatApi(call.api.http)
    with call.busy("reading"):
        operation = api.operate(capability, body)
    output = api.output(operation.output_ref) if operation.output_ref else None
    if call.json:
        write_json({"operation": operation, "output": output})
    elif output is not None:
        call.show(*_shown(output))
    if forget and operation.output_ref:
        for ref in (body.source_ref, operation.output_ref):
            api.forget(ref)
    if output is None:
        fail(_not_done(operation, body.client_request_id), ExitCode.REFUSED)


def _not_done(operation: AcrobatOperationResponse, request: str | None) -> str:
    if operation.status is AcrobatOperationStatus.DEGRADED:
        return f"it goes on. Repeat the command with --request {request}."
    lines = [f"{operation.error_message} ({operation.error_code})", own_words(operation.next_action or "")]
    if operation.status is AcrobatOperationStatus.BLOCKED:
        lines.append(f"Once it is approved, repeat the command with --request {request}.")
    return "\n".join(line for line in lines if line)


def _shown(output: AcrobatOutput) -> list[Text | Table]:
    parts: list[Text | Table] = []
    for page in output.text:
        parts += [Text(f"— page {page.page}{' (recognised)' if page.recognised else ''} —", style="dim")]
        parts += [Text(page.text)]
    for number, found in enumerate(output.tables, 1):
        table = Table(title=f"table {number}, page {found.page}", title_justify="left", show_header=False)
        for row in found.rows:
            table.add_row(*(Text(cell or "") for cell in row))
        parts.append(table)
    if output.capability is AcrobatCapability.REDACTION_PREP:
        parts.append(_candidates(output))
    if output.warning_codes:
        parts.append(Text(f"Note: {', '.join(output.warning_codes)}", style="yellow"))
    return parts


def _candidates(output: AcrobatOutput) -> Text | Table:
    if not output.candidates:
        return Text("Nothing to black out was found.")
    table = listing("candidate", "page", "kind", "looks like", "left, top, right, bottom (pt)")
    for one in output.candidates:
        boxes = "; ".join(", ".join(f"{edge:.0f}" for edge in box) for box in one.boxes)
        table.add_row(one.candidate_id, str(one.page), one.kind.value, Text(one.hint), boxes)
    return table
