"""What random walks may choose from: the way on from a state, another request under an old key, an ability's life."""

from typing import Any

from tests.model.driver import NOBODY, Sent
from tests.model.reference import ModelSession

OTHER_VALUES: dict[str, Any] = {
    "step_label": "Yet another",
    "goal_description": "Something else",
    "ask_before_build": None,
    "answers": [{"question_id": NOBODY, "answer_text": "Otherwise"}],
    "install_lane": "approved_workspace",
    "revision_instructions": "otherwise",
}
OF_ABILITY = (
    "activate",
    "deactivate",
    "quarantine",
    "unquarantine",
    "promote-shared",
    "demote-private",
    "archive",
    "rollback",
)
"""The commands on an ability, as their paths end."""

BODIES_OF_ABILITY: dict[str, tuple[Any, ...]] = {
    "quarantine": ({"reason": "It went wrong"},),
    "unquarantine": (None, {"reason": "It was right"}),
    "rollback": (None, {"to_version": 1}, {"to_version": 2}, {"to_version": 99}),
}
"""What is said with those that take a body."""

OTHER_FIELDS = {"sessions": "project_id", "validate": "run_label", "approve": "approval_note"}
"""How another valid request to the same path differs, by its fields or the end of its path."""


def may_change(sent: Sent) -> bool:
    """Whether there is another valid request to its path; a trim's depends on the events that are left."""
    return sent.method == "POST" and not sent.path.endswith("/trim")


def changed(sent: Sent) -> Any:
    """The body of another request than ``sent``, valid on the same path."""
    body = dict(sent.body or {})
    for name, other in OTHER_VALUES.items():
        if name in body:
            return {**body, name: other}
    last = sent.path.rsplit("/", 1)[-1]
    return {**body, OTHER_FIELDS.get(last, "reason"): "another request"}


def leads_on(session: ModelSession) -> tuple[str, ...]:
    """Commands that lead on from where the session is."""
    ready = ("install", "approve", "reject") if session.proven else ("validate",)
    onward: dict[str, tuple[str, ...]] = {
        "armed": ("observe",) if session.watches else ("stop",),
        "capturing": ("stop",) if session.events else ("observe",),
        "paused": ("resume",),
        "stopped": ("generate-proposal",) if session.events else ("cancel",),
        "awaiting_questions": ("answer-questions",),
        "drafting_proposal": ("revise",) if session.spoiled else ("validate",),
        "testing_proposal": ("cancel",),
        "ready_for_review": ready,
        "installed_private": ("approve",),
        "quarantined": ("revise", "cancel"),
    }
    return onward[session.state]
