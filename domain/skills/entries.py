"""Catalog entries: a skill's folder as it is listed, with what it costs at most and what to do next."""

from collections.abc import Sequence
from datetime import datetime

from contracts.skills.catalog import SkillEntry, SkillRecord, SkillState
from domain.skills.retrying import total_timeout_ms
from domain.skills.versions import NOTICE, served

NO_SUCH_SKILL = "There is no skill of this name; `apprentice skills list` names those there are."
"""The refusal of a name; it does not repeat the name, which may be a secret in the wrong place."""

_NEXT = {
    SkillState.AWAITING_APPROVAL: "Look at it and approve it: apprentice skills approve {name}",
    SkillState.MALFORMED: "Mend the folder, then: apprentice skills reload",
    SkillState.QUARANTINED: "See its runs: apprentice skills runs --skill {name}",
}

_OF_THE_MANIFEST = (
    "function_name",
    "version",
    "description",
    "category",
    "agent_roles",
    "capabilities",
    "confirmation_required",
    "confirmation_prompt",
    "input_schema",
    "output_schema",
    "input_schema_id",
    "output_schema_id",
    "side_effect_tags",
    "safety_level",
    "life_areas",
    "preconditions",
    "effects",
    "observables",
    "timeout_ms",
    "max_attempts",
    "cache_ttl_ms",
    "permissions",
)


def catalog_entry(
    record: SkillRecord, others: Sequence[SkillRecord] = (), now: datetime | None = None
) -> SkillEntry:
    """A folder as it is listed; ``others`` are the folders among which its versions are looked for.

    Of a folder that nobody approved there is its name, and nothing of its content.
    """
    manifest = record.manifest
    entry = SkillEntry(
        name=record.name,
        root=record.root,
        state=record.state,
        reason=record.reason,
        digest=record.digest,
        next_action=_NEXT[record.state].format(name=record.name) if record.state in _NEXT else None,
    )
    if manifest is None:
        return entry
    same = [one for one in others if one.name == record.name and one.state is SkillState.READY] or [record]
    warnings = ()
    if manifest.deprecated_since is not None:
        warnings = (f"Deprecated; served until {manifest.deprecated_since + NOTICE:%Y-%m-%d}.",)
    return entry.changed(
        **{name: getattr(manifest, name) for name in _OF_THE_MANIFEST},
        versions=tuple(
            one.manifest.version for one in served(same, now or record.seen_at) if one.manifest is not None
        ),
        total_timeout_ms=total_timeout_ms(manifest),
        warnings=warnings,
    )
