"""Handlers in Python and JavaScript: what their confined process is started with, and their first message (AM-31)."""

import shutil
import sys
from pathlib import Path
from typing import Any

from contracts.skills.manifest import SkillBackend, ToolRecord
from host import namespaces
from host.sandbox.launch_order import Order
from skills.runtime.confined import Confinement
from skills.runtime.local_programs import SEARCH_PATH
from skills.runtime.skill_copy import RunFolders
from skills.runtime.skill_run import SkillRun, failed

MAX_LOG_BYTES = 65_536
"""How much is kept of what a handler prints: the first and the last half of it."""

_MEBIBYTE = 1024 * 1024
_PROCESSES, _OPEN_FILES = 64, 128
_NODE_HOST = Path(__file__).with_name("handler_host.js")


def confinement_of(run: SkillRun, folders: RunFolders) -> Confinement:
    """How the handler of a run is started."""
    order = base_order(run.tool, folders)
    if run.tool.backend is SkillBackend.NODE:
        order = _with_node(order, run.tool, folders)
    else:
        order["readable"] += _interpreter()
    return Confinement(order, MAX_LOG_BYTES, namespaces_only=run.manifest.required_isolation == "namespaces")


def base_order(tool: ToolRecord, folders: RunFolders) -> Order:
    """What every process of a run has in common: its folders and its limits."""
    resources = tool.resources
    return Order(
        isolation="",
        root=str(folders.work),
        root_bytes=resources.disk_mb * _MEBIBYTE,
        working_folder=".",
        temporary_folder=".tmp",
        program="",
        arguments=[],
        environment={},
        readable=[str(folders.skill)],
        programs=[],
        cpu_seconds=resources.cpu_seconds,
        memory_bytes=resources.memory_mb * _MEBIBYTE,
        data_bytes=0,
        file_bytes=resources.disk_mb * _MEBIBYTE,
        processes=_PROCESSES,
        open_files=_OPEN_FILES,
    )


def first_message(run: SkillRun, folders: RunFolders) -> dict[str, Any]:
    """The message with which a handler begins."""
    call, operator = run.call, run.operator
    return {
        "folder": str(folders.skill),
        "entrypoint": run.tool.entrypoint,
        "entry": run.entry,
        "params": run.params,
        "invocation_id": run.invocation_id,
        "idempotency_key": run.idempotency_key,
        "call": {
            "id": call.id if call else None,
            "caller_id": call.caller_id if call else None,
            "transcript": call.transcript if call else None,
        },
        "operator": {"name": operator.name, "telegram_id": operator.telegram_id},
    }


def _interpreter() -> list[str]:
    """Where the standard library lies, unless every command sees it anyway."""
    prefix = Path(sys.base_prefix).resolve()
    return [] if any(prefix.is_relative_to(folder) for folder in namespaces.SYSTEM_FOLDERS) else [str(prefix)]


def _with_node(order: Order, tool: ToolRecord, folders: RunFolders) -> Order:
    found = shutil.which("node", path=SEARCH_PATH)
    if found is None:
        raise failed("ISOLATION_UNAVAILABLE", "Node is not installed here, and this skill's handler needs it")
    node = str(Path(found).resolve())
    host = folders.skill.parent / "host" / _NODE_HOST.name
    host.parent.mkdir(mode=0o755)
    host.write_bytes(_NODE_HOST.read_bytes())
    memory = tool.resources.memory_mb
    return {
        **order,
        "program": node,
        "arguments": ["node", f"--max-old-space-size={memory}", str(host)],
        # Node does not start where its library's settings are there and closed.
        "environment": {"OPENSSL_CONF": "/dev/null"},
        "readable": [*order["readable"], str(host.parent)],
        "programs": [node],
        # Node reserves address space that it never uses: what it writes is bounded instead.
        "memory_bytes": 1 << 40,
        "data_bytes": (memory + 192) * _MEBIBYTE,
    }
