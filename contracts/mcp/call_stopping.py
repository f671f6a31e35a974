"""Stopping the calls that run or wait for an ability which goes out of use."""

from contracts.base import Contract, Text160, Text500, UtcTime


class StopCallsOrder(Contract):
    """Gives up an ability's calls, as far as they were asked for until ``until``."""

    ability_id: Text160
    by: Text160
    reason: Text500
    until: UtcTime
