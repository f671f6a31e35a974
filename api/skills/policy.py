"""Policy of skills: an owner's rules with allow, ask or deny and a reason (skills_interface.md "Routes")."""

from datetime import UTC, datetime

from fastapi import APIRouter

from api.platform.commands import AdminFrame
from api.platform.dependencies import Reader, ServicesDep
from contracts.skills.policy import PutSkillPolicyRequest, SkillPolicy

router = APIRouter(prefix="/api/skills/policy", tags=["skills"])


@router.get("", operation_id="skill_policy_get")
def get(caller: Reader, services: ServicesDep) -> SkillPolicy:
    """The caller's rules; those that hold for everybody are in docs/skills.md."""
    return services.skills.policies.get(caller.user_id)


@router.put("", operation_id="skill_policy_put")
async def put(body: PutSkillPolicyRequest, frame: AdminFrame) -> SkillPolicy:
    """Replaces the rules; they bind at once."""

    def act() -> SkillPolicy:
        return frame.services.skills.policies.put(
            frame.owner, body.rules, body.expected_version, frame.correlation_id, datetime.now(UTC)
        )

    return await frame.write_once(body, act, SkillPolicy)
