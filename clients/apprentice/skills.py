"""Typed API calls: executable skills, their invocations and policy (skills_interface.md "Routes")."""

import json
from typing import Any

from clients.apprentice.transport import ApiRoutes, path_part
from contracts.skills.catalog import (
    ApproveSkillRequest,
    ApproveSkillResponse,
    ReloadSkillsRequest,
    ReloadSkillsResponse,
    SkillDetailResponse,
    SkillListResponse,
)
from contracts.skills.invocation import (
    CancelInvocationRequest,
    ConfirmInvocationRequest,
    InvocationListResponse,
    InvocationStatus,
    InvocationView,
    InvokeSkillRequest,
)
from contracts.skills.policy import PutSkillPolicyRequest, SkillPolicy
from contracts.skills.publishing import ApprovalToken, ApproveContentRequest, RevokedApproval
from contracts.skills.selection import FindSkillsRequest, FindSkillsResponse

_SKILLS = "/api/skills"


class SkillApi(ApiRoutes):
    """The catalog, invocations and policy of skills."""

    def catalog(self, page: int = 1, page_size: int = 100) -> SkillListResponse:
        """List the catalog by name."""
        return self._http.get(_SKILLS, SkillListResponse, page=page, page_size=page_size)

    def show(self, name: str) -> SkillDetailResponse:
        """Read one skill."""
        return self._http.get(f"{_SKILLS}/{path_part(name)}", SkillDetailResponse)

    def openai_tools(self) -> list[dict[str, Any]]:
        """Every skill that may be run, as a tool definition of the OpenAI form."""
        tools: list[dict[str, Any]] = json.loads(self._http.send("GET", f"{_SKILLS}/openai-tools").text)
        return tools

    def find(self, request: FindSkillsRequest) -> FindSkillsResponse:
        """Find the skills and learned abilities that fit a step of a plan."""
        return self._http.write("POST", f"{_SKILLS}/find", FindSkillsResponse, request)

    def reload(self) -> ReloadSkillsResponse:
        """Read the roots again."""
        return self._http.write("POST", f"{_SKILLS}/reload", ReloadSkillsResponse, ReloadSkillsRequest())

    def approve(self, name: str, request: ApproveSkillRequest) -> ApproveSkillResponse:
        """Put a folder on the allowlist; without its digest, see what would be."""
        path = f"{_SKILLS}/{path_part(name)}/approve"
        return self._http.write("POST", path, ApproveSkillResponse, request)

    def folder(self, invocation_id: str) -> bytes:
        """Fetch the folder that a script of a learned ability made, as a gzip'd tar archive."""
        return self._http.download(f"{_SKILLS}/invocations/{path_part(invocation_id)}/folder")

    def invoke(self, name: str, request: InvokeSkillRequest, *, wait_seconds: int = 0) -> InvocationView:
        """Ask for one invocation, and wait for its end at most so long."""
        path = f"{_SKILLS}/{path_part(name)}/invocations"
        return self._http.write("POST", path, InvocationView, request, wait_seconds=wait_seconds)

    def invocations(
        self,
        page: int = 1,
        page_size: int = 25,
        skill: str | None = None,
        status: InvocationStatus | None = None,
    ) -> InvocationListResponse:
        """List invocations, newest first."""
        return self._http.get(
            f"{_SKILLS}/invocations",
            InvocationListResponse,
            page=page,
            page_size=page_size,
            skill=skill,
            status=status.value if status is not None else None,
        )

    def invocation(self, invocation_id: str) -> InvocationView:
        """Read one invocation."""
        return self._http.get(f"{_SKILLS}/invocations/{path_part(invocation_id)}", InvocationView)

    def confirm(self, invocation_id: str, request: ConfirmInvocationRequest) -> InvocationView:
        """Confirm or refuse one that waits."""
        path = f"{_SKILLS}/invocations/{path_part(invocation_id)}/confirm"
        return self._http.write("POST", path, InvocationView, request)

    def cancel(self, invocation_id: str, request: CancelInvocationRequest) -> InvocationView:
        """Give one up."""
        path = f"{_SKILLS}/invocations/{path_part(invocation_id)}/cancel"
        return self._http.write("POST", path, InvocationView, request)

    def approve_content(self, request: ApproveContentRequest) -> ApprovalToken:
        """Approve content for publishing."""
        return self._http.write("POST", f"{_SKILLS}/approval-tokens", ApprovalToken, request)

    def revoke_approval(self, jti: str) -> RevokedApproval:
        """Have an approval count no more."""
        path = f"{_SKILLS}/approval-tokens/{path_part(jti)}"
        return self._http.write("DELETE", path, RevokedApproval)

    def policy(self) -> SkillPolicy:
        """Read the rules."""
        return self._http.get(f"{_SKILLS}/policy", SkillPolicy)

    def put_policy(self, request: PutSkillPolicyRequest) -> SkillPolicy:
        """Replace the rules."""
        return self._http.write("PUT", f"{_SKILLS}/policy", SkillPolicy, request)
