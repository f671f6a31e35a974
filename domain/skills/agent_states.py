"""Which status of an agent may follow which (CH-47; the table of O-11)."""

from contracts.skills.agents import AgentStatus

_A, _B, _P, _E = AgentStatus.ACTIVE, AgentStatus.BUSY, AgentStatus.PAUSED, AgentStatus.ERROR

_FREELY = frozenset({(_A, _B), (_B, _A), (_A, _P), (_B, _P), (_P, _A)})
_WITH_REASON = frozenset({(_A, _E), (_B, _E), (_P, _E), (_E, _A), (_E, _P)})


def transition_problem(before: AgentStatus, after: AgentStatus, reason: str | None) -> str | None:
    """Why an agent may not go from one status to another, if so; the same status is always allowed."""
    if before is after or (before, after) in _FREELY:
        return None
    if (before, after) not in _WITH_REASON:
        allowed = sorted(b.value for a, b in _FREELY | _WITH_REASON if a is before)
        return f"From {before.value} an agent goes to {', '.join(allowed)}, not to {after.value}."
    if not (reason or "").strip():
        return f"From {before.value} to {after.value} needs a reason: state_updates.reason."
    return None
