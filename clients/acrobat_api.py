"""The routes of the Acrobat adapter as typed calls (DOC3 §0.2F)."""

from clients.api_transport import ApiTransport, path_part
from contracts.adapters.acrobat import (
    AcrobatAdapterHealth,
    AcrobatCapability,
    AcrobatOperationResponse,
    AcrobatOutput,
    AcrobatSource,
    AcrobatSourceRef,
)
from contracts.learning.responses import DeletedResponse

_ROOT = "/api/adapters/acrobat"
_ROUTES = {
    AcrobatCapability.EXTRACT_TEXT: "extract-text",
    AcrobatCapability.EXTRACT_TABLES: "extract-tables",
    AcrobatCapability.OCR: "ocr",
    AcrobatCapability.REDACTION_PREP: "redaction-prep",
}


class AcrobatApi:
    """Operations on PDF documents. Every method may raise the errors of ``clients.api_transport``."""

    def __init__(self, http: ApiTransport) -> None:
        self._http = http

    def health(self) -> AcrobatAdapterHealth:
        """What can be done now."""
        return self._http.get(f"{_ROOT}/health", AcrobatAdapterHealth)

    def hand_in(self, content: bytes) -> AcrobatSource:
        """Hand in a document, which is kept for seven days."""
        headers = {"Content-Type": "application/pdf"}
        answer = self._http.send("POST", f"{_ROOT}/sources", content=content, headers=headers)
        return AcrobatSource.model_validate_json(answer.content)

    def operate(self, capability: AcrobatCapability, request: AcrobatSourceRef) -> AcrobatOperationResponse:
        """Ask for an operation; the same ``client_request_id`` again tells how it stands."""
        path = f"{_ROOT}/{_ROUTES[capability]}"
        # A key of the transport's own would make each request another one.
        return self._http.write("POST", path, AcrobatOperationResponse, request, request.client_request_id)

    def output(self, output_ref: str) -> AcrobatOutput:
        """Fetch what an operation found."""
        return self._http.get(f"{_ROOT}/outputs/{path_part(output_ref.rpartition('/')[2])}", AcrobatOutput)

    def forget(self, ref: str) -> DeletedResponse:
        """Forget a document or an output, by its reference or its digest."""
        path = f"{_ROOT}/artifacts/{path_part(ref.rpartition('/')[2])}"
        return self._http.write("DELETE", path, DeletedResponse)
