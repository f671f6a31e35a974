"""The stores that an invocation of a skill is written to, with traps before and after each commit."""

from typing import Any

from stores.skills.admission import SkillAdmission
from stores.skills.attempts import SkillAttempts
from stores.skills.services.ledger import Ledger
from tests.faults.traps import Traps

STEPS = {SkillAdmission: ("admit",), SkillAttempts: ("begin", "finish", "inspect"), Ledger: ("debit",)}
"""The commits that have traps: ``admit.before``, ``admit.after`` and the like."""


def trapped(store: type[Any], traps: Traps) -> type[Any]:
    """The store's class, which passes by the traps of its commits."""

    def passing(step: str) -> Any:
        commit = getattr(store, step)

        def passed(self: Any, *arguments: Any, **options: Any) -> Any:
            traps.come_by(f"{step}.before")
            answer = commit(self, *arguments, **options)
            traps.come_by(f"{step}.after")
            return answer

        return passed

    return type(f"Trapped{store.__name__}", (store,), {step: passing(step) for step in STEPS[store]})
