"""What the content scanner says of an imported bundle (DOC3 §0C.20, lines 3250-3264: one finding of the report)."""

from enum import StrEnum

from pydantic import Field

from contracts.base import Contract, Text120, Text240, Text400, Text1000, UtcTime, Uuid
from contracts.imports.compatibility import FindingSeverity
from contracts.platform.identity import Scope


class ScanCode(StrEnum):
    """What a finding is about. The names are stable: people filter and count by them."""

    PROMPT_INJECTION = "SCAN_PROMPT_INJECTION"
    CONCEALMENT = "SCAN_CONCEALMENT"
    CREDENTIAL_THEFT = "SCAN_CREDENTIAL_THEFT"
    CREDENTIAL_ACCESS = "SCAN_CREDENTIAL_ACCESS"
    DESTRUCTIVE = "SCAN_DESTRUCTIVE"
    DOWNLOAD_AND_RUN = "SCAN_DOWNLOAD_AND_RUN"
    ENCODED_PAYLOAD = "SCAN_ENCODED_PAYLOAD"
    OBFUSCATED_CODE = "SCAN_OBFUSCATED_CODE"
    FOREIGN_COMMANDS = "SCAN_FOREIGN_COMMANDS"
    FOREIGN_INSTRUCTIONS = "SCAN_FOREIGN_INSTRUCTIONS"
    HIDDEN_TEXT = "SCAN_HIDDEN_TEXT"
    BROAD_TOOLS = "SCAN_BROAD_TOOLS"
    PROGRAM_FILE = "SCAN_PROGRAM_FILE"
    UNKNOWN_BINARY = "SCAN_UNKNOWN_BINARY"
    EXFILTRATION = "SCAN_EXFILTRATION"
    PERSISTENCE = "SCAN_PERSISTENCE"
    SAFETY_DISABLED = "SCAN_SAFETY_DISABLED"
    REVERSE_SHELL = "SCAN_REVERSE_SHELL"
    NOT_SCANNED_WHOLE = "SCAN_NOT_SCANNED_WHOLE"


class ScanConfidence(StrEnum):
    """How sure a finding is that the bundle does what it says, and does not merely speak of it."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class ScanFinding(Contract):
    """One place in a bundle: what it does, how grave and how sure, its line and why it matters.

    ``line`` counts from 1; None for a file as a whole. ``quote`` is that line with unseen characters spelled out and
    secrets masked, clipped to 240 characters.
    """

    code: ScanCode
    severity: FindingSeverity
    confidence: ScanConfidence
    path: Text240
    line: int | None = Field(default=None, ge=1)
    quote: Text240 = ""
    why: Text400


class ScanHold(Contract):
    """What a person has to go on in spite of: the codes of a scan's errors and warnings, and the scope it takes.

    ``only_obstacle`` is false where something else makes the bundle incompatible too, which no override mends.
    """

    needs: Scope
    codes: tuple[Text120, ...]
    only_obstacle: bool = True


class OverrideAsked(Contract):
    """A wish to go on in spite of findings: why, and by which of their scopes."""

    reason: Text1000
    scope: Scope
    token_id: Uuid


class ScanOverride(Contract):
    """Who went on in spite of which findings, when, by which scope, and why."""

    by_user_id: Text120
    token_id: Uuid
    scope: Scope
    reason: Text1000
    codes: tuple[Text120, ...]
    at: UtcTime
