"""Typed API calls: imports of skill bundles."""

from uuid import uuid4

from pydantic import BaseModel

from clients.apprentice.transport import IDEMPOTENCY_HEADER, ApiRoutes, path_part
from contracts.imports.requests import (
    SkillImportDetailResponse,
    SkillImportListResponse,
    SkillImportScanRequest,
    SkillImportScanResponse,
    SkillImportStageRequest,
    SkillImportStageResponse,
    SkillImportTerminalActionResponse,
)
from contracts.imports.uploads import (
    SkillImportDeleteUploadResponse,
    SkillImportUploadMetadata,
    SkillImportUploadResponse,
)

_IMPORT = "/api/skills/import"


class ImportApi(ApiRoutes):
    """Upload, scan, stage, decide, read."""

    def upload(
        self, name: str, content: bytes, metadata: SkillImportUploadMetadata
    ) -> SkillImportUploadResponse:
        """Hand in an archive, which is kept for 24 hours."""
        fields = {"metadata": metadata.model_dump_json(exclude_none=True)}
        answer = self._http.send(
            "POST",
            f"{_IMPORT}/uploads",
            files={"bundle": (name, content, "application/zip")},
            data=fields,
            headers={IDEMPOTENCY_HEADER: str(uuid4())},
        )
        return SkillImportUploadResponse.model_validate_json(answer.content, extra="ignore")

    def delete_upload(self, ref: str) -> SkillImportDeleteUploadResponse:
        """Delete an upload."""
        path = f"{_IMPORT}/uploads/{path_part(ref)}"
        return self._http.write("DELETE", path, SkillImportDeleteUploadResponse)

    def scan(self, request: SkillImportScanRequest) -> SkillImportScanResponse:
        """Open an import of an upload, and scan it."""
        return self._http.write("POST", f"{_IMPORT}/scan", SkillImportScanResponse, request)

    def stage(self, request: SkillImportStageRequest) -> SkillImportStageResponse:
        """Keep a scanned bundle for review."""
        return self._http.write("POST", f"{_IMPORT}/stage", SkillImportStageResponse, request)

    def act(self, action: str, request: BaseModel) -> SkillImportTerminalActionResponse:
        """Approve, reject, install-private, discard or retry."""
        path = f"{_IMPORT}/{path_part(action)}"
        return self._http.write("POST", path, SkillImportTerminalActionResponse, request)

    def show(self, import_id: str) -> SkillImportDetailResponse:
        """Read one."""
        return self._http.get(f"{_IMPORT}/{path_part(import_id)}", SkillImportDetailResponse)

    def list(
        self, page: int = 1, page_size: int = 25, stage_state: str | None = None, *, set_aside: bool = False
    ) -> SkillImportListResponse:
        """List them, newest first."""
        return self._http.get(
            f"{_IMPORT}/list",
            SkillImportListResponse,
            page=page,
            page_size=page_size,
            stage_state=stage_state,
            set_aside="true" if set_aside else None,
        )
