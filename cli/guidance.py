"""What a session waits for and the command that moves it on: one table for every place that shows it."""

from dataclasses import dataclass

from contracts.learning.session import LearningEntryMode, LearnSession
from contracts.learning.session import LearnSessionState as S


@dataclass(frozen=True)
class Guidance:
    """In words what is waited for, and the next commands, best first, ready to be copied."""

    waits_for: str
    commands: tuple[str, ...] = ()


_GUIDANCE: dict[S, Guidance] = {
    S.IDLE: Guidance("being armed", ("learn status {id}",)),
    S.ARMED: Guidance(
        "the first observed action (ends itself after the arm timeout, an hour by default)",
        ("record terminal --session {id}", "learn start {id}", "learn cancel {id}"),
    ),
    S.CAPTURING: Guidance(
        "your demonstration",
        ("record terminal --session {id}", 'learn mark-goal "WHAT IT IS FOR" {id}', "learn stop {id}"),
    ),
    S.PAUSED: Guidance("you to go on", ("learn resume {id}", "learn stop {id}")),
    S.STOPPED: Guidance("a proposal to be drafted", ("learn propose {id}",)),
    S.REVIEWING: Guidance("a proposal to be drafted", ("learn propose {id}",)),
    S.AWAITING_QUESTIONS: Guidance("your answers", ("learn answer {id}",)),
    S.DRAFTING_PROPOSAL: Guidance("validation", ("learn validate {id}", "learn files {id}")),
    S.TESTING_PROPOSAL: Guidance("the running validation", ("learn watch {id}",)),
    S.READY_FOR_REVIEW: Guidance(
        "your decision",
        (
            "learn files {id}",
            "learn approve {id}",
            "learn install {id}",
            'learn reject --reason "WHY" {id}',
        ),
    ),
    S.INSTALLING_PRIVATE: Guidance("the running install", ("learn saga {id}",)),
    S.INSTALLED_PRIVATE: Guidance(
        "nothing; it is installed for you alone", ("abilities show {ability}", "learn approve {id}")
    ),
    S.APPROVED: Guidance("nothing; it is installed", ("abilities show {ability}", "abilities list")),
    S.REJECTED: Guidance("nothing; it was turned down", ("learn create --clone-of {id}",)),
    S.CANCELLED: Guidance("nothing; it was cancelled", ("learn create",)),
    S.QUARANTINED: Guidance(
        "a revision: it is kept away from use", ('learn revise "WHAT TO CHANGE" {id}', "learn cancel {id}")
    ),
}


_COACHED: dict[S, Guidance] = {
    S.ARMED: Guidance(
        "the first receipt of the agent that you coach (ends itself after the arm timeout, an hour by default)",
        ("learn start {id}", "learn cancel {id}"),
    ),
    S.CAPTURING: Guidance("the agent's work, receipt by receipt", ("learn stop {id}",)),
}
"""Where an agent is coached, it does the work: there is nothing to record."""


def guide(session: LearnSession) -> Guidance:
    """What ``session`` waits for and what to type next."""
    coached = session.entry_mode is LearningEntryMode.COACHING_AGENT
    known = (_COACHED if coached else _GUIDANCE).get(session.state) or _GUIDANCE[session.state]
    ability = session.ability_id or "ABILITY_ID"
    commands = (
        f"apprentice {command.format(id=session.learn_session_id, ability=ability)}"
        for command in known.commands
    )
    return Guidance(known.waits_for, tuple(commands))
