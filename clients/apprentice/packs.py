"""Typed API calls: packs of skills."""

from clients.apprentice.transport import ApiRoutes, path_part
from contracts.imports.pack_install import (
    SkillPackInstallCancelRequest,
    SkillPackInstallRequest,
    SkillPackInstallResponse,
)
from contracts.imports.pack_members import SkillPackDetailResponse, SkillPackPutRequest
from contracts.imports.packs import SkillPacksListResponse
from contracts.learning.responses import DeletedResponse

_PACKS = "/api/skills/packs"


class PackApi(ApiRoutes):
    """List, make or replace, show, delete, install."""

    def list(self) -> SkillPacksListResponse:
        """List them."""
        return self._http.get(_PACKS, SkillPacksListResponse)

    def put(self, request: SkillPackPutRequest) -> SkillPackDetailResponse:
        """Make one, or replace it."""
        return self._http.write("POST", _PACKS, SkillPackDetailResponse, request)

    def show(self, pack_id: str) -> SkillPackDetailResponse:
        """Read one, and what its install would do."""
        return self._http.get(f"{_PACKS}/{path_part(pack_id)}", SkillPackDetailResponse)

    def delete(self, pack_id: str) -> DeletedResponse:
        """Delete one."""
        return self._http.write("DELETE", f"{_PACKS}/{path_part(pack_id)}", DeletedResponse)

    def install(self, pack_id: str, request: SkillPackInstallRequest) -> SkillPackInstallResponse:
        """Open an install; it goes on by itself."""
        path = f"{_PACKS}/{path_part(pack_id)}/install"
        return self._http.write("POST", path, SkillPackInstallResponse, request)

    def install_of(self, pack_install_id: str) -> SkillPackInstallResponse:
        """Read one install."""
        path = f"{_PACKS}/installs/{path_part(pack_install_id)}"
        return self._http.get(path, SkillPackInstallResponse)

    def cancel(
        self, pack_install_id: str, request: SkillPackInstallCancelRequest
    ) -> SkillPackInstallResponse:
        """Give an install up."""
        path = f"{_PACKS}/installs/{path_part(pack_install_id)}/cancel"
        return self._http.write("POST", path, SkillPackInstallResponse, request)
