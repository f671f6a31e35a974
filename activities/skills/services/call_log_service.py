"""``context.call_log``: entries of the call's log, on disk before anything that was asked for later (AM-19, AM-43)."""

import asyncio
from collections.abc import Mapping
from typing import Any

from activities.skills.services.offered import Asker, Method
from contracts.base import Contract
from skills.runtime.broker import BrokerRefused
from stores.skills.services.call_logs import CallLogFailed, CallLogs


class LogEntry(Contract):
    """One entry: any JSON object."""

    entry: dict[str, Any]


class CallLogService:
    """The call log of whoever asks; an invocation without a call has a log of its own."""

    def __init__(self, logs: CallLogs) -> None:
        self._logs = logs
        self.methods: Mapping[str, Method] = {"write": Method(LogEntry, self._write)}

    async def _write(self, asker: Asker, asked: LogEntry) -> None:
        try:
            await asyncio.to_thread(self._logs.write, asker.owner, asker.call_id, asked.entry)
        except CallLogFailed as error:
            raise BrokerRefused("UNAVAILABLE", f"{error}; what is not on record is not done") from None
