"""Skills made for a test: a folder with a handler, and its run."""

import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import pytest

from contracts.skills.invocation import CallContext
from contracts.skills.manifest import (
    ResourceProfile,
    SkillBackend,
    SkillPermissions,
    ToolRecord,
)
from host.sandbox.launch_order import PRIVILEGED, SHARED, USER
from skills.runtime import confined
from skills.runtime.folder_digest import read_folder
from skills.runtime.runner import Operator, RanSkill, Service, SkillRun, run_skill
from tests.fixtures.skill_folders import HANDLER, manifest, write_skill

__all__ = ["HANDLER", "Recorder", "Trial", "manifest", "write_skill"]

OPERATOR = Operator(name="Olga", telegram_id="42")
CALL = CallContext(id="call-1", callerId="15550100", transcript="hello")


class Trial:
    """A skill's folder, run as often as a test wants."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.beats = 0

    def write(self, handler: str, name: str = "handler.py") -> None:
        """Writes the handler."""
        self.folder.mkdir(exist_ok=True)
        (self.folder / name).write_text(handler, encoding="utf-8")

    async def run(
        self,
        handler: str,
        params: dict[str, Any] | None = None,
        *,
        permissions: SkillPermissions | None = None,
        services: Mapping[str, Service] | None = None,
        resources: ResourceProfile | None = None,
        timeout_ms: int = 10_000,
        backend: SkillBackend = SkillBackend.PYTHON,
        entry: Literal["handle", "check"] = "handle",
        reads: frozenset[str] = frozenset(),
        **fields: Any,
    ) -> RanSkill:
        """Runs a handler once."""
        name = "handler.js" if backend is SkillBackend.NODE else "handler.py"
        self.write(handler, name)
        tool = ToolRecord(
            tool_id="trial.handler",
            backend=backend,
            entrypoint=name,
            resources=resources or ResourceProfile(),
        )
        asked = manifest(tools=(tool,), permissions=permissions or SkillPermissions(), **fields)
        run = SkillRun(
            manifest=asked,
            tool=tool,
            folder=self.folder,
            digest=read_folder(self.folder).digest,
            params=params or {},
            invocation_id="5f0c8a2e-0000-4000-8000-000000000001",
            idempotency_key="key-1",
            call=CALL,
            operator=OPERATOR,
            entry=entry,
            timeout_ms=timeout_ms,
            reads=reads,
        )
        return await run_skill(run, services or {}, self._beat)

    def _beat(self) -> None:
        self.beats += 1


@pytest.fixture(params=[None, pytest.param(SHARED, marks=pytest.mark.thorough)])
def isolation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """The best way to isolate that this host has, and the one without namespaces."""
    if request.param is not None:
        if why := unreachable_interpreter():
            pytest.skip(why)
        for ways in ((PRIVILEGED, USER, SHARED), (USER, SHARED)):
            monkeypatch.setitem(confined.known_ways, ways, request.param)
    return request.param


def unreachable_interpreter() -> str:
    """Why skills in Python cannot run here without namespaces; empty where they can."""
    folder = Path(sys.base_prefix).resolve()
    closed = [str(one) for one in (folder, *folder.parents) if not one.stat().st_mode & 0o001]
    return f"only root may pass through {closed[0]}" if os.geteuid() == 0 and closed else ""


@pytest.fixture
def trial(tmp_path: Path, isolating_host: None) -> Trial:
    """A skill in a folder of its own."""
    return Trial(tmp_path / "trial")


class Recorder:
    """A service that keeps what it is asked, and answers as it is told."""

    def __init__(self, answer: Callable[[str, dict[str, Any]], Awaitable[Any]] | None = None) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self._answer = answer

    async def __call__(self, method: str, arguments: dict[str, Any]) -> Any:
        self.asked.append((method, arguments))
        return None if self._answer is None else await self._answer(method, arguments)
