"""Reads the multipart form of an upload as it comes: the file ``bundle``, and ``metadata`` as JSON.

DOC3 §0C.20, lines 3465-3484. The file goes to an unnamed temporary file; a form that is too large is refused as soon
as that is seen.
"""

import hashlib
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import NamedTuple

import anyio.to_thread
from fastapi import Request
from pydantic import ValidationError
from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from api.platform.middleware import repeated_name
from contracts.errors import ErrorCode, Refusal
from contracts.imports.uploads import MOST_UPLOAD_BYTES, SkillImportUploadMetadata
from contracts.plain_problems import field_problems

MULTIPART = "multipart/form-data"
ARCHIVE_TYPES = frozenset({"application/zip", "application/x-zip-compressed", "application/octet-stream"})
"""Accepted types of the file; the last only because the extension is checked as well."""

EXTENSIONS = (".zip", ".skillbundle.zip")

_METADATA_BYTES = 64 * 1024
_FRAME_BYTES = _METADATA_BYTES + 16 * 1024
"""What a form may be larger than its file: metadata, boundaries and the headers of its parts."""

_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_LENGTH = re.compile(r"[0-9]{1,18}")
_UNFIT = re.compile(r"[\x00-\x1f\x7f]")


class UploadedFile(NamedTuple):
    """The file of an upload, read whole, with its digest, and what was said with it."""

    filename: str
    content: bytes
    digest: str
    metadata: SkillImportUploadMetadata


class _TooLarge(Exception):
    pass


async def read_upload(request: Request) -> UploadedFile:
    """Reads and checks the form.

    Raises:
        Refusal: ``SKILL_IMPORT_FILE_TOO_LARGE``, ``SKILL_IMPORT_ARCHIVE_REQUIRED``,
            ``SKILL_IMPORT_UNSUPPORTED_MIME``, ``SKILL_IMPORT_UNSUPPORTED_EXTENSION``; ``VALIDATION_FAILED`` for
            metadata that does not fit, or a form that cannot be read.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != MULTIPART:
        raise Refusal(
            ErrorCode.SKILL_IMPORT_ARCHIVE_REQUIRED,
            "Send multipart/form-data with the archive in the part bundle.",
        )
    announced = request.headers.get("content-length", "0")
    if not _LENGTH.fullmatch(announced) or int(announced) > MOST_UPLOAD_BYTES + _FRAME_BYTES:
        raise _too_large()
    async with _form(request) as form:
        metadata = _metadata(form.getlist("metadata"))
        file = _file(form)
        name = _filename(file)
        content = await file.read()
    if not content.startswith(_ZIP_STARTS):
        raise _archive_required("The file is no ZIP archive")
    # A tenth of a gigabyte takes a third of a second, in which nobody else would be answered.
    digest = await anyio.to_thread.run_sync(hashlib.sha256, content)
    return UploadedFile(name, content, digest.hexdigest(), metadata)


@asynccontextmanager
async def _form(request: Request) -> AsyncGenerator[FormData]:
    parser = MultiPartParser(
        Headers(raw=request.headers.raw),
        _counted(request),
        max_files=1,
        max_fields=1,
        max_part_size=_METADATA_BYTES,
    )
    try:
        form = await parser.parse()
    except _TooLarge:
        raise _too_large() from None
    except MultiPartException as error:
        raise _invalid(f"cannot be read as a form with one file: {error.message}") from None
    except (UnicodeDecodeError, LookupError):
        raise _invalid("names its parts in no known encoding") from None
    try:
        yield form
    finally:
        await form.close()


async def _counted(request: Request) -> AsyncGenerator[bytes]:
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > MOST_UPLOAD_BYTES + _FRAME_BYTES:
            raise _TooLarge
        yield chunk


def _file(form: FormData) -> UploadFile:
    unknown = set(form.keys()) - {"bundle", "metadata"}
    if unknown:
        raise _invalid("has a part that is neither bundle nor metadata")
    file = form.get("bundle")
    if not isinstance(file, UploadFile) or not file.size:
        raise _archive_required("The file is missing or empty")
    if file.size > MOST_UPLOAD_BYTES:
        raise _too_large()
    return file


def _filename(file: UploadFile) -> str:
    """The name without folders; it is shown to people and never used as a path.

    Raises:
        Refusal: ``SKILL_IMPORT_UNSUPPORTED_EXTENSION``, ``SKILL_IMPORT_UNSUPPORTED_MIME``.
    """
    name = _UNFIT.sub("", (file.filename or "").replace("\\", "/").rsplit("/", 1)[-1])[-240:]
    kind = (file.content_type or "").partition(";")[0].strip().lower()
    if kind not in ARCHIVE_TYPES:
        raise Refusal(
            ErrorCode.SKILL_IMPORT_UNSUPPORTED_MIME,
            f"The file must be one of: {', '.join(sorted(ARCHIVE_TYPES))}.",
            accepted=sorted(ARCHIVE_TYPES),
        )
    if not name.lower().endswith(EXTENSIONS) or name.lower() in EXTENSIONS:
        raise Refusal(
            ErrorCode.SKILL_IMPORT_UNSUPPORTED_EXTENSION,
            f"The file's name must end with one of: {', '.join(EXTENSIONS)}.",
            accepted=list(EXTENSIONS),
        )
    return name


def _metadata(given: list[UploadFile | str]) -> SkillImportUploadMetadata:
    if not given:
        return SkillImportUploadMetadata()
    text = given[0]
    if not isinstance(text, str):
        raise _invalid("must be JSON text, and no file", "metadata")
    problem = repeated_name(text.encode("utf-8", "surrogatepass"))
    if problem is not None:
        raise _invalid(problem, "metadata")
    try:
        return SkillImportUploadMetadata.model_validate_json(text)
    except ValidationError as error:
        fields = [one._asdict() for one in field_problems(error, whole="metadata", under=("metadata",))]
        shown = [one if _is_known(one["path"]) else {**one, "path": "metadata"} for one in fields]
        raise Refusal(
            ErrorCode.VALIDATION_FAILED, f"metadata: {shown[0]['problem']}"[:240], fields=shown
        ) from None


def _is_known(path: str) -> bool:
    """Whether a path is of a field that there is: other names may hold what should not be repeated."""
    name = path.split(".")[1] if "." in path else ""
    return name in SkillImportUploadMetadata.model_fields


def _invalid(problem: str, path: str = "body") -> Refusal:
    problem = problem[:200]
    return Refusal(
        ErrorCode.VALIDATION_FAILED, f"{path}: {problem}"[:240], fields=[{"path": path, "problem": problem}]
    )


def _archive_required(what: str) -> Refusal:
    return Refusal(
        ErrorCode.SKILL_IMPORT_ARCHIVE_REQUIRED,
        f"{what}; pack the skill's folder as a ZIP archive and send that (multipart/form-data, in the part bundle).",
    )


def _too_large() -> Refusal:
    return Refusal(
        ErrorCode.SKILL_IMPORT_FILE_TOO_LARGE,
        f"An upload may have at most {MOST_UPLOAD_BYTES} bytes; leave out what the skill does not need.",
        limit_bytes=MOST_UPLOAD_BYTES,
    )
