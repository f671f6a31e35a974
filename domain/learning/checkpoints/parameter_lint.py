"""Texts that speak of a parameter that there is not (rule CKP-008): a placeholder that nobody can fill in."""

import re
from collections.abc import Iterator, Sequence

from contracts.learning.interpretation import SemanticWorkflowInterpretation
from contracts.learning.proposal import LintFinding, LintSeverity, SkillDraft

_SKILL = "SKILL.md"
_PLACEHOLDER = re.compile(r"(?<![$\w{])\{([a-z][a-z0-9_]{0,39})\}")
_CODE = re.compile(r"^\s*```.*?^\s*```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
"""A command's own braces are no placeholders."""


def unknown_parameters(
    interpretation: SemanticWorkflowInterpretation, draft: SkillDraft | None
) -> Iterator[LintFinding]:
    """Texts that speak of a parameter that there is not, outside of what is set in code type."""
    known = {one.name for one in interpretation.parameters}
    texts = {
        "title": interpretation.title,
        "goal_summary": interpretation.goal_summary,
        **_numbered("use_conditions", interpretation.use_conditions),
        **_numbered("non_use_conditions", interpretation.non_use_conditions),
        **_numbered("success_conditions", interpretation.success_conditions),
        **{
            f"checkpoints/{c.checkpoint_id}": f"{c.goal} {c.success_condition}"
            for c in interpretation.checkpoints
        },
    }
    if draft is not None:
        markdown = next((f.content for f in draft.files if f.path == _SKILL), "")
        texts |= {
            "description": draft.description,
            **_numbered("trigger_phrases", draft.trigger_phrases),
            **_numbered("negative_triggers", draft.negative_triggers),
            _SKILL: _CODE.sub("", markdown),
        }
    for location, text in texts.items():
        if unknown := next((name for name in _PLACEHOLDER.findall(text) if name not in known), None):
            yield LintFinding(
                rule="CKP-008",
                severity=LintSeverity.WARNING,
                location=location,
                message=f"It speaks of {{{unknown}}}, which is no parameter.",
                suggestion="Write the name of a parameter between the braces, or the value itself.",
            )


def _numbered(name: str, texts: Sequence[str]) -> dict[str, str]:
    return {f"{name}/{position}": text for position, text in enumerate(texts)}
