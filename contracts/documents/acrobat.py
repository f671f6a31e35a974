"""Requests and responses of PDF operations (DOC3 §0.2F): text, tables, character recognition, redaction preparation."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from contracts.base import Contract, Sha256, Text120, Text240, Text500, UtcTime, Uuid, VersionedContract

MAX_SOURCE_BYTES = 32 * 1024 * 1024
"""The largest document that is taken: 32 MiB."""

MAX_PAGES = 2_000
"""The most pages that a document may have."""


class AcrobatCapability(StrEnum):
    """What can be done with a document; each is a tool of the server of the same name."""

    EXTRACT_TEXT = "extract_text"
    EXTRACT_TABLES = "extract_tables"
    OCR = "ocr"
    REDACTION_PREP = "redaction_prep"


class AcrobatAdapterState(StrEnum):
    """Whether documents can be worked on: ``degraded`` when some can, ``missing`` when none can."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    DISABLED = "disabled"
    MISSING = "missing"


class AcrobatAdapterHealth(VersionedContract):
    """How the adapter is. What is not in ``supported_capabilities`` is refused, so offer no button for it."""

    adapter_state: AcrobatAdapterState
    supported_capabilities: tuple[AcrobatCapability, ...] = ()
    reason_code: Text120 | None = None
    next_action: Text240 | None = Field(default=None, description="What to do; none when all is well.")
    last_checked_at: UtcTime | None = None


class AcrobatSourceKind(StrEnum):
    """What a reference names. Paths of files are never taken."""

    DOCUMENT_REF = "document_ref"
    TEMP_ARTIFACT_REF = "temp_artifact_ref"
    MATERIALIZED_BUNDLE = "materialized_bundle"


Text40 = Annotated[str, StringConstraints(max_length=40)]

PageRange = Annotated[
    str, StringConstraints(max_length=120, pattern=r"^\s*\d{1,6}(-\d{0,6})?(\s*,\s*\d{1,6}(-\d{0,6})?)*\s*$")
]
"""Pages counted from one, such as ``1-3,5`` or ``10-`` for the tenth and all after it."""


class AcrobatSourceRef(VersionedContract):
    """The document that an operation reads."""

    source_ref_kind: AcrobatSourceKind
    source_ref: Annotated[str, StringConstraints(min_length=1, max_length=240)]
    page_range: PageRange | None = Field(default=None, description="Every page when left out.")
    data_class: Annotated[str, StringConstraints(max_length=80)] | None = Field(
        default=None, description="What kind of data the document holds; policy may ask first because of it."
    )
    client_request_id: Text120 | None = None


class AcrobatExtractTextRequest(AcrobatSourceRef):
    """Asks for the text of each page."""

    capability: Literal[AcrobatCapability.EXTRACT_TEXT] = AcrobatCapability.EXTRACT_TEXT
    ocr_fallback: bool = Field(default=False, description="Recognise the text of pages that hold none.")


class AcrobatTableMode(StrEnum):
    """How tables are found.

    ``auto``: by lines and the edges of filled boxes. ``strict``: by drawn lines alone.
    ``layout_preserving``: by how words stand below one another, for tables without lines.
    """

    AUTO = "auto"
    STRICT = "strict"
    LAYOUT_PRESERVING = "layout_preserving"


class AcrobatExtractTablesRequest(AcrobatSourceRef):
    """Asks for the tables of each page."""

    capability: Literal[AcrobatCapability.EXTRACT_TABLES] = AcrobatCapability.EXTRACT_TABLES
    table_mode: AcrobatTableMode = AcrobatTableMode.AUTO


class AcrobatOCRRequest(AcrobatSourceRef):
    """Asks for the text in the pictures of each page."""

    capability: Literal[AcrobatCapability.OCR] = AcrobatCapability.OCR
    language_hint: Text40 | None = None


class AcrobatRedactionPrepRequest(AcrobatSourceRef):
    """Asks where a document holds what should be blacked out. It always waits for a person's approval."""

    capability: Literal[AcrobatCapability.REDACTION_PREP] = AcrobatCapability.REDACTION_PREP
    pattern_set: tuple[Annotated[str, StringConstraints(min_length=1, max_length=120)], ...] = Field(
        default=(),
        max_length=50,
        description="Kinds (email, phone, ssn, iban, credit_card) and texts to look for; all kinds when empty.",
    )


class AcrobatOperationStatus(StrEnum):
    """How an operation stands. ``degraded``: done, or going on, with what ``warning_codes`` say."""

    OK = "ok"
    DEGRADED = "degraded"
    BLOCKED = "blocked"
    FAILED = "failed"


class AcrobatOperationResponse(VersionedContract):
    """What came of an operation; its id is that of the call in the gateway."""

    operation_id: Uuid
    capability: AcrobatCapability
    status: AcrobatOperationStatus
    output_ref: Text240 | None = None
    warning_codes: tuple[Text120, ...] = ()
    receipt_id: Uuid | None = None
    error_code: Text120 | None = None
    error_message: Text500 | None = None
    next_action: Text240 | None = Field(default=None, description="What to do; none when it is done.")


class AcrobatSource(VersionedContract):
    """A document that was handed in. It is deleted when its time is over."""

    temp_artifact_ref: Text240
    digest: Sha256
    size_bytes: int = Field(ge=1, le=MAX_SOURCE_BYTES)
    created_at: UtcTime
    expires_at: UtcTime


Box = tuple[float, float, float, float]
"""Left, top, right, bottom in points (1/72 inch) from the upper left corner of the page."""


class AcrobatPageText(Contract):
    """The text of a page."""

    page: int = Field(ge=1)
    text: str
    recognised: bool = Field(default=False, description="Read from a picture of the page.")


class AcrobatTable(Contract):
    """A table: its cells, row by row."""

    page: int = Field(ge=1)
    box: Box
    rows: tuple[tuple[str | None, ...], ...]


class AcrobatRedactionKind(StrEnum):
    """What a place holds; ``literal`` is a text that the request named."""

    EMAIL = "email"
    PHONE = "phone"
    SSN = "ssn"
    IBAN = "iban"
    CREDIT_CARD = "credit_card"
    LITERAL = "literal"


class AcrobatRedactionCandidate(Contract):
    """A place to look at. ``hint`` shows the shape of what stands there and at most four of its characters."""

    candidate_id: Text40
    page: int = Field(ge=1)
    boxes: tuple[Box, ...] = Field(description="One a line that it runs over.")
    kind: AcrobatRedactionKind
    literal_index: int | None = Field(default=None, ge=0, description="Which of ``pattern_set`` it is.")
    hint: Text120
    checked: bool = Field(description="Its check digits are right, where its kind has any.")
    recognised: bool = Field(default=False, description="Found in a picture: the box is that of its line.")


class AcrobatOutput(VersionedContract):
    """What an operation found. Of redaction preparation it is a bundle to review; no document is changed."""

    capability: AcrobatCapability
    source_digest: Sha256
    page_count: int = Field(ge=1, le=MAX_PAGES)
    pages_read: tuple[int, ...]
    warning_codes: tuple[Text120, ...] = ()
    text: tuple[AcrobatPageText, ...] = ()
    tables: tuple[AcrobatTable, ...] = ()
    candidates: tuple[AcrobatRedactionCandidate, ...] = ()
