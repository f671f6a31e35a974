"""Trigger test: would a text find an import, or an ability? Asked of the runtime's own matcher (DOC3 §0C.20)."""

from fastapi import APIRouter

from api.platform.dependencies import Reader, ServicesDep
from api.services import Services
from contracts.abilities.lookup import Fit
from contracts.errors import ErrorCode, Refusal
from contracts.imports.requests import SkillTriggerTestRequest, SkillTriggerTestResponse
from domain.abilities.trigger_tests import decoys
from domain.imports.trigger_match import import_candidate, trigger_match

router = APIRouter(prefix="/api/skills/trigger-test", tags=["imports"])


@router.post("", operation_id="skill_trigger_test")
def trigger_test(
    body: SkillTriggerTestRequest, caller: Reader, services: ServicesDep
) -> SkillTriggerTestResponse:
    """Whether an agent that is asked this would be routed to the candidate, beside what is installed, and why.

    An import is judged as it would stand at first: in its owner's private lane. It changes nothing.
    """
    if body.import_id is not None:
        return _of_import(body, body.import_id, caller.user_id, services)
    ability_id = body.ability_id or ""
    why = services.abilities.explain_match(
        body.trigger_text, ability_id, caller.user_id, body.project_id, services.decide_fit
    )
    return SkillTriggerTestResponse(
        matched=why.fit is Fit.YES,
        candidate_ability_id=ability_id,
        score=why.score,
        reasons=why.fit_reasons or why.match_reasons,
        rejection_reasons=why.rejection_reasons,
    )


def _of_import(
    body: SkillTriggerTestRequest, import_id: str, owner: str, services: Services
) -> SkillTriggerTestResponse:
    present = services.imports.store.owned(import_id, owner)
    front = services.imports.store.front(present)
    if front is None:
        raise Refusal(
            ErrorCode.INVALID_SKILL_IMPORT_TRANSITION,
            "No skill was read from this import, so nothing can be asked of it; see its report.",
            current_state=present.state.value,
        )
    found = trigger_match(
        body.trigger_text,
        import_candidate(front, owner),
        services.abilities.indexed(),
        project_id=body.project_id,
        beside=lambda entries, without: services.abilities.beside((*decoys(), *entries), without),
    )
    return SkillTriggerTestResponse(
        matched=found.matched,
        candidate_import_id=import_id,
        score=found.score,
        reasons=found.reasons,
        rejection_reasons=found.rejection_reasons,
    )
