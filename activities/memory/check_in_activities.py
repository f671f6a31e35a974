"""The store's side of check-ins."""

from temporalio import activity

from activities.platform.refusals import refusing
from contracts.memory.check_ins import CheckInOrder, CheckInStanding
from stores.memory.check_ins import CheckIns


class CheckInActivities:
    """Safe to repeat: a check-in fires once, whoever asks how often."""

    def __init__(self, check_ins: CheckIns) -> None:
        self._check_ins = check_ins

    @activity.defn
    @refusing
    def read_check_in(self, order: CheckInOrder) -> CheckInStanding:
        """How a check-in stands."""
        return self._check_ins.standing(order.check_in_id)

    @activity.defn
    @refusing
    def fire_check_in(self, order: CheckInOrder) -> CheckInStanding:
        """Has a check-in that is due arrive in the inbox."""
        return self._check_ins.fire(order)
