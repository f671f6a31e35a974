"""The draft of an imported skill: what a lesson's draft is to a demonstration, made of a bundle's files.

SKILL.md and its neighbours are installed as they came; beside them stand what every ability here has: a capability
manifest and trigger cases. A bundle's own ``tests/triggers.json`` is taken; without one, cases are made from its
triggers as for a learned skill (P-26).
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

from contracts.abilities.availability import IMPORTED_FAMILY
from contracts.abilities.capability_manifest import (
    CapabilityKind,
    CapabilityManifest,
    HealthProbe,
    LearningPolicy,
    RuntimeBinding,
    VerificationRule,
)
from contracts.abilities.control_surface import ControlSurface
from contracts.abilities.lookup import MIN_CASES_PER_KIND, TRIGGER_TESTS_PATH
from contracts.base import clipped
from contracts.imports.portable_frontmatter import PortableSkillFrontmatter
from contracts.learning.interpretation import (
    ProjectScope,
    SemanticWorkflowInterpretation,
    WorkflowGraph,
    WorkflowStep,
    WorkflowStepType,
)
from contracts.learning.proposal import DraftedFile, PackedFile, SkillDraft
from domain.abilities.trigger_tests import missing_cases
from domain.abilities.trigger_tests import trigger_cases as read_cases
from domain.imports.described_uses import MOST_USES
from domain.imports.unproved import unrehearsed_of
from domain.learning.drafting.triggers import trigger_cases

_PHRASE = 120
_ALIAS = 80


def capability_id_of(name: str) -> str:
    """The id of an imported skill's ability and capability."""
    return f"imported.{name}"


def imported_draft(
    import_id: str,
    front: PortableSkillFrontmatter,
    skill_md: str,
    packed: Sequence[PackedFile],
    own_cases: str | None = None,
) -> SkillDraft:
    """The draft of a bundle: ``packed`` are all its files but SKILL.md and its trigger cases."""
    phrases = phrases_of(front.triggers)
    negatives = phrases_of(front.negative_triggers)
    capability_id = capability_id_of(front.name)
    cases = own_cases
    if cases is None:
        made = trigger_cases(front.title, _asked(front.title, phrases), negatives)
        cases = _json([one.model_dump(mode="json") for one in made])
    manifest = _manifest(front, capability_id, phrases).model_dump(mode="json", exclude={"input_schema"})
    made_here = (
        DraftedFile(path=f"capabilities/{capability_id}.json", content=_json(manifest)),
        DraftedFile(path=TRIGGER_TESTS_PATH, content=cases),
    )
    own = {file.path for file in made_here}
    return SkillDraft(
        title=front.title,
        slug=front.name,
        description=front.description,
        trigger_phrases=phrases,
        negative_triggers=negatives,
        files=(DraftedFile(path="SKILL.md", content=skill_md), *made_here),
        packed=tuple(file for file in packed if file.path not in own),
        capability_id=capability_id,
        unrehearsed=unrehearsed_of(import_id, (file.path for file in packed)),
    )


def missing_trigger_cases(
    import_id: str, front: PortableSkillFrontmatter, own_cases: str | None
) -> str | None:
    """Which trigger cases the bundle is short of, in words; None where each kind has enough (P-26)."""
    draft = imported_draft(import_id, front, "", (), own_cases)
    missing = [one.details or "" for one in missing_cases(read_cases(draft))]
    return clipped(" ".join(missing), 240) if missing else None


def imported_interpretation(
    interpretation_id: str, proposal_id: str, front: PortableSkillFrontmatter, now: datetime
) -> SemanticWorkflowInterpretation:
    """What the skill says of itself; nobody has shown or confirmed any of it."""
    return SemanticWorkflowInterpretation(
        interpretation_id=interpretation_id,
        proposal_id=proposal_id,
        title=front.title,
        goal_summary=front.description or front.title,
        project_scope=ProjectScope.GLOBAL,
        preferred_control_surfaces=tuple(one.value for one in front.preferred_control_surfaces),
        written_by=IMPORTED_FAMILY,
        created_at=now,
    )


def imported_graph(import_id: str, title: str) -> WorkflowGraph:
    """The one step that is known of an imported skill."""
    step = WorkflowStep(
        step_id="skill-md", step_type=WorkflowStepType.REASONING, label="Read SKILL.md and follow it"
    )
    return WorkflowGraph(
        workflow_id=f"import:{import_id}", title=title, entry_step_id=step.step_id, steps=(step,)
    )


def _asked(title: str, phrases: Sequence[str]) -> tuple[str, ...]:
    """What cases are made of: the triggers, and where those are few the skill by its title, as people name it."""
    named = (title, f"use {title}", f"help me with {title}")
    every = tuple(dict.fromkeys((*phrases, *named)))
    return every[: max(MIN_CASES_PER_KIND, len(phrases))]


def phrases_of(triggers: Sequence[str]) -> tuple[str, ...]:
    """Trigger phrases as abilities have them: at most ``MOST_USES``, of at most 120 characters."""
    found = (clipped(one.strip(), _PHRASE) for one in triggers)
    return tuple(dict.fromkeys(one for one in found if one))[:MOST_USES]


def _manifest(
    front: PortableSkillFrontmatter, capability_id: str, phrases: Sequence[str]
) -> CapabilityManifest:
    """Its result is confirmed by a person, it is not taught further here, and it works under supervision."""
    return CapabilityManifest(
        capability_id=capability_id,
        family=IMPORTED_FAMILY,
        kind=CapabilityKind.WORKFLOW_PATTERN,
        title=front.title,
        origin_skill=front.name,
        aliases=tuple(one for one in phrases if len(one) <= _ALIAS),
        surface_order=front.preferred_control_surfaces or (ControlSurface.NATIVE_OPENCLAW_TOOL,),
        runtime_binding=RuntimeBinding(binding_kind="workflow_pattern", target=front.name),
        permissions=tuple(f"tool:{tool}" for tool in front.allowed_tools),
        requires_supervision=True,
        verification=(
            VerificationRule(kind="manual_confirmation", target="The person confirms the result."),
        ),
        health_probe=HealthProbe(kind="noop", target="none"),
        learning_policy=LearningPolicy(teach_mode_allowed=False),
    )


def _json(value: Mapping[str, object] | Sequence[object]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
