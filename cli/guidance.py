"""What a session waits for, and what to type next: what the service says it takes now, in words and commands."""

from dataclasses import dataclass

from contracts.learning.allowed_actions import LearnSessionView
from contracts.learning.commands import SessionCommand as C
from contracts.learning.session import LearningEntryMode, ObservationMode
from contracts.learning.session import LearnSessionState as S


@dataclass(frozen=True)
class Guidance:
    """In words what is waited for, and the next commands, best first, ready to be copied.

    ``not_yet`` says why a usual next step is not among them.
    """

    waits_for: str
    commands: tuple[str, ...] = ()
    not_yet: tuple[str, ...] = ()


_WAITS_FOR: dict[S, str] = {
    S.IDLE: "being armed",
    S.ARMED: "the first observed action (ends itself after the arm timeout, an hour by default)",
    S.CAPTURING: "your demonstration",
    S.PAUSED: "you to go on",
    S.STOPPED: "a proposal to be drafted",
    S.REVIEWING: "a proposal to be drafted",
    S.AWAITING_QUESTIONS: "your answers",
    S.DRAFTING_PROPOSAL: "validation",
    S.TESTING_PROPOSAL: "the running validation",
    S.READY_FOR_REVIEW: "your decision",
    S.INSTALLING_PRIVATE: "the running install",
    S.INSTALLED_PRIVATE: "nothing; it is installed for you alone",
    S.APPROVED: "nothing; it is installed",
    S.REJECTED: "nothing; it was turned down",
    S.CANCELLED: "nothing; it was cancelled",
    S.QUARANTINED: "a revision: it is kept away from use",
}

_COACHED: dict[S, str] = {
    S.ARMED: "the first receipt of the agent that you coach (ends itself after the arm timeout, an hour by default)",
    S.CAPTURING: "the agent's work, receipt by receipt",
}
"""Where an agent is coached, it does the work."""

_RECORD = "record terminal --session {id}"
_BESIDE: dict[S, tuple[str, ...]] = {
    S.IDLE: ("learn status {id}",),
    S.ARMED: (_RECORD,),
    S.CAPTURING: (_RECORD,),
    S.DRAFTING_PROPOSAL: ("learn files {id}",),
    S.TESTING_PROPOSAL: ("learn watch {id}",),
    S.READY_FOR_REVIEW: ("learn files {id}",),
    S.INSTALLING_PRIVATE: ("learn saga {id}",),
    S.INSTALLED_PRIVATE: ("abilities show {ability}",),
    S.APPROVED: ("abilities show {ability}", "abilities list"),
    S.REJECTED: ("learn create --clone-of {id}",),
    S.CANCELLED: ("learn create",),
}
"""What is typed beside the session's own commands: to look, to record, to begin another one."""

_TYPED: dict[C, str] = {
    C.RESUME: "learn resume {id}",
    C.MARK: 'learn mark-goal "WHAT IT IS FOR" {id}',
    C.STOP: "learn stop {id}",
    C.START: "learn start {id}",
    C.GENERATE_PROPOSAL: "learn propose {id}",
    C.ANSWER_QUESTIONS: "learn answer {id}",
    C.APPROVE: "learn approve {id}",
    C.INSTALL: "learn install {id}",
    C.REJECT: 'learn reject --reason "WHY" {id}',
    C.VALIDATE: "learn validate {id}",
    C.REVISE: 'learn revise "WHAT TO CHANGE" {id}',
    C.CANCEL: "learn cancel {id}",
}
"""How each command is typed, the one that leads on furthest first."""

_ENOUGH = 3
"""How many of the session's commands are suggested; its refusals and ``--help`` name the others."""


_BY_AGENT = frozenset({LearningEntryMode.COACHING_AGENT, LearningEntryMode.AUTONOMOUS_AGENT_PRACTICE})


def guide(session: LearnSessionView) -> Guidance:
    """What ``session`` waits for and what to type next."""
    coached = session.entry_mode is LearningEntryMode.COACHING_AGENT
    waits_for = (_COACHED if coached else {}).get(session.state) or _WAITS_FOR[session.state]
    # Where an agent does the work, or nothing is watched, there is nothing that a person would record.
    records = session.entry_mode not in _BY_AGENT and session.observation_mode is not ObservationMode.NONE
    beside = (one for one in _BESIDE.get(session.state, ()) if records or one != _RECORD)
    own = [typed for command, typed in _TYPED.items() if command in session.allowed_actions]
    ability = session.ability_id or "ABILITY_ID"
    commands = (
        f"apprentice {command.format(id=session.learn_session_id, ability=ability)}"
        for command in (*beside, *own[:_ENOUGH])
    )
    return Guidance(waits_for, tuple(commands), _not_yet(session))


def _not_yet(session: LearnSessionView) -> tuple[str, ...]:
    by_reason: dict[str, list[str]] = {}
    for refused in session.refused_actions:
        by_reason.setdefault(refused.reason, []).append(refused.action.value)
    return tuple(f"{', '.join(actions)}: {reason}" for reason, actions in by_reason.items())
