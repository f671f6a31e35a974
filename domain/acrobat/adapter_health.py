"""How the adapter is, by what is installed and whether it is switched on (DOC3 §0.2F "Behavior rules" 4, 5)."""

from datetime import datetime

from contracts.adapters.acrobat import AcrobatAdapterHealth, AcrobatAdapterState, AcrobatCapability

OCR_NOT_INSTALLED = "OCR_NOT_INSTALLED"
READER_NOT_CONFINED = "READER_NOT_CONFINED"
LIBRARIES_MISSING = "LIBRARIES_MISSING"
SERVER_DISABLED = "SERVER_DISABLED"

_WITHOUT_OCR = tuple(one for one in AcrobatCapability if one is not AcrobatCapability.OCR)


def adapter_health(
    *, reading: bool, recognition: bool, confinement: bool, enabled: bool, now: datetime
) -> AcrobatAdapterHealth:
    """What can be done, and what to do where not all of it can."""
    if not reading:
        return AcrobatAdapterHealth(
            adapter_state=AcrobatAdapterState.MISSING,
            reason_code=LIBRARIES_MISSING,
            next_action="Install pdfplumber where the service and its worker run.",
            last_checked_at=now,
        )
    if not enabled:
        return AcrobatAdapterHealth(
            adapter_state=AcrobatAdapterState.DISABLED,
            reason_code=SERVER_DISABLED,
            next_action="Switch the server Acrobat (PDF) on again, under Connectors or by apprentice mcp servers.",
            last_checked_at=now,
        )
    if not recognition:
        return AcrobatAdapterHealth(
            adapter_state=AcrobatAdapterState.DEGRADED,
            supported_capabilities=_WITHOUT_OCR,
            reason_code=OCR_NOT_INSTALLED,
            next_action="Install the extra ocr (apprentice[ocr]) to read text in pictures.",
            last_checked_at=now,
        )
    return AcrobatAdapterHealth(
        adapter_state=AcrobatAdapterState.HEALTHY if confinement else AcrobatAdapterState.DEGRADED,
        supported_capabilities=tuple(AcrobatCapability),
        reason_code=None if confinement else READER_NOT_CONFINED,
        next_action=None
        if confinement
        else "Run the worker on Linux 5.13 or newer: documents are read there apart.",
        last_checked_at=now,
    )
