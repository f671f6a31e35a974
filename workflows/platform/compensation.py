"""A stack of undos, for sagas."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from temporalio import workflow

Step = TypeVar("Step")


class CompensationStack(Generic[Step]):
    """Undos are pushed before their step runs, and run in reverse, each whatever became of the others."""

    def __init__(self, undo: Callable[[Step], Awaitable[None]]) -> None:
        """``undo`` undoes one step and must do nothing where the step never happened."""
        self._undo = undo
        self._steps: list[Step] = []

    def push(self, step: Step) -> None:
        """Registers a step that is about to run."""
        self._steps.append(step)

    async def unwind(self) -> tuple[Step, ...]:
        """Undoes everything in reverse, even while being cancelled. Returns the steps whose undo failed."""
        return await asyncio.shield(self._unwind())

    async def _unwind(self) -> tuple[Step, ...]:
        failed: list[Step] = []
        while self._steps:
            step = self._steps.pop()
            try:
                await self._undo(step)
            except Exception as error:
                workflow.logger.error("undo failed", extra={"step": str(step), "error": str(error)})
                failed.append(step)
        return tuple(failed)
