"""What a new session starts from: an installed skill to improve, recent runs, or nothing."""

from dataclasses import dataclass

from api.own_keys import OWN_KEY_PREFIX
from api.services import Services
from contracts.errors import ErrorCode, Refusal
from contracts.learning.aggregate import CommitKey
from contracts.learning.create_session import CreateLearnSessionRequest
from contracts.learning.improvement import BaseSkill
from contracts.learning.session import LearningEntryMode
from contracts.learning.source_run import SourceRun

_WITHOUT_RUNS = frozenset({LearningEntryMode.IMPORT_SKILL, LearningEntryMode.AUTONOMOUS_AGENT_PRACTICE})


@dataclass(frozen=True)
class SessionOrigin:
    """The pinned base, and the runs to review."""

    base: BaseSkill | None = None
    runs: tuple[SourceRun, ...] = ()


def origin_of(services: Services, body: CreateLearnSessionRequest, key: CommitKey) -> SessionOrigin:
    """What the request starts from; nothing is looked up for a request that was carried out before.

    Raises:
        Refusal: ``VALIDATION_FAILED`` for an improvement of nothing, or runs where the mode takes none;
            ``ABILITY_NOT_FOUND``, ``FORBIDDEN``, ``RUN_NOT_ELIGIBLE``, ``INCOMPATIBLE_TRACES``.
    """
    improves = body.entry_mode is LearningEntryMode.IMPROVING_EXISTING_SKILL
    if improves and not body.target_skill_id:
        raise _wrong("target_skill_id", "name the ability to improve")
    if body.source_trace_ids and body.entry_mode in _WITHOUT_RUNS:
        raise _wrong("source_trace_ids", f"{body.entry_mode.value} takes no recent runs")
    if not improves and not body.source_trace_ids:
        return SessionOrigin()
    if not key.key.startswith(OWN_KEY_PREFIX) and services.sessions.recall(key) is not None:
        return SessionOrigin()
    owner = key.owner_user_id
    return SessionOrigin(
        base=services.bases.pin(body.target_skill_id, owner) if improves and body.target_skill_id else None,
        runs=services.recent_runs.choose(owner, body.source_trace_ids) if body.source_trace_ids else (),
    )


def _wrong(field: str, problem: str) -> Refusal:
    return Refusal(
        ErrorCode.VALIDATION_FAILED,
        f"{field}: {problem}.",
        fields=[{"path": f"body.{field}", "problem": problem}],
    )
