"""Retries of an invocation: which code may be tried again, how often, and after which wait.

CH-62, CH-63, X-14, X-18, X-19 of skill_rows.md. The waits are those of 002 L684-703: 1, 2, 4 seconds, each with up to
a second of jitter.
"""

from contracts.backoff import Backoff
from contracts.learning.observation import ToolEffect
from contracts.skills.errors import SKILL_ERRORS, SkillErrorRule
from contracts.skills.manifest import SkillManifest

JITTER_MS = 1_000
"""The most that jitter adds to a wait."""

LONGEST_WAIT_MS = 3_600_000
"""The longest wait between two attempts, whatever the far side asks for: an hour, in which its rate is renewed."""

_WAITS = Backoff(first=1_000, cap=300_000)

_OUTCOME_NOT_HEARD = frozenset({"TIMEOUT", "NETWORK_ERROR", "VOICE_TIMEOUT"})
"""Codes after which nobody knows whether what was sent has arrived."""

UNKNOWN_CODE = SkillErrorRule(
    http_status=500, recovery="The skill does not say what this code means; see its documentation."
)
"""What holds for a code that neither the skill nor the documents declare."""


def rule_of(manifest: SkillManifest, code: str) -> SkillErrorRule:
    """What a code means for this skill: its own word first, then that of the documents (skill_rows.md section 2)."""
    return manifest.errors.get(code) or SKILL_ERRORS.get(code) or UNKNOWN_CODE


def delay_ms(attempt: int, random: float, retry_after_ms: int | None = None) -> int:
    """The wait in milliseconds after attempt number ``attempt`` (from 1) has failed; ``random`` is from 0 to 1.

    What the far side asks for (``Retry-After``) takes the place of the computed wait, and jitter is added to both.
    """
    wait = _WAITS.delay(attempt) if retry_after_ms is None else max(retry_after_ms, 0)
    return min(round(wait + JITTER_MS * random), LONGEST_WAIT_MS)


def attempts_allowed(manifest: SkillManifest, code: str) -> int:
    """How many attempts there are in all when one fails with this code.

    "N attempts" are N in all, "N retries" are N + 1, and where a skill has both the smaller counts (X-18).
    """
    rule = rule_of(manifest, code)
    if not rule.retryable:
        return 1
    if rule.retries is None:
        return manifest.max_attempts
    return min(manifest.max_attempts, rule.retries + 1)


def may_repeat(manifest: SkillManifest, effect: ToolEffect, code: str, *, acted: bool) -> bool:
    """Whether the runtime may make another attempt after this code, leaving aside how many there were (X-14).

    ``acted`` is whether the attempt began anything that may have had an effect; what is known not to have left does
    not count. A skill whose far side knows its key (``repeatable``) and a call that reads may always be repeated.
    """
    return rule_of(manifest, code).retryable and _is_safe(manifest, effect, acted)


def outcome_is_unknown(manifest: SkillManifest, effect: ToolEffect, code: str, *, acted: bool) -> bool:
    """Whether the effect may have happened unheard, so that a person has to decide (X-14)."""
    return code in _OUTCOME_NOT_HEARD and not _is_safe(manifest, effect, acted)


def _is_safe(manifest: SkillManifest, effect: ToolEffect, acted: bool) -> bool:
    return effect is ToolEffect.READ or manifest.repeatable or not acted


def total_timeout_ms(manifest: SkillManifest) -> int:
    """The longest that an invocation runs: all attempts, and the waits between them with all of their jitter (X-19)."""
    waits = sum(delay_ms(attempt, 1.0) for attempt in range(1, manifest.max_attempts))
    return manifest.max_attempts * manifest.timeout_ms + waits
