"""Runs a script of a learned ability in the sandbox, on a copy of a folder (X-35)."""

import asyncio
import json
import os
import shutil
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from activities.learning.trial_activities import FOLDER_LIMITS, RESULT_LIMITS
from contracts.base import clipped, rfc3339
from contracts.errors import ErrorCode, Refusal
from contracts.learning.proposal import RehearsalCommand
from contracts.skills.invocation_work import InvocationOrder
from domain.learning.proof.trial import Trial
from domain.learning.redaction.redaction import redact
from domain.skills.learned.scripts import (
    MOST_CHANGES_SHOWN,
    MOST_OUTPUT_CHARS,
    MOST_SECONDS,
    SCRIPT_FAILED,
    command_of,
    failure_of,
)
from domain.skills.outcomes import outcome_of
from host.folder_archive import FolderTooLarge, UnsafeArchive, pack_folder, unpack_folder
from host.sandbox.launch_order import SandboxUnavailable
from skills.rehearsal.sandbox import SandboxLimits
from skills.rehearsal.trial import TrialReport, run_trial
from skills.runtime.runner import SkillFailure
from stores.learning.trials import KEPT, folder_digest
from stores.platform.blobs import BlobNotFoundError
from stores.platform.canonical import digest_of
from stores.skills.attempts import AttemptPlan, AttemptResult
from stores.skills.learned_scripts import LearnedScripts

Answer = dict[str, Any] | None
Failure = SkillFailure | None
End = tuple[Answer, Failure]

_LIMITS = SandboxLimits(wall_seconds=float(MOST_SECONDS - 10), cpu_seconds=MOST_SECONDS - 10)
"""Within the time that an attempt may take, with what is needed to copy and to pack."""


class LearnedScriptRuns:
    """One run after another, each in a sandbox and a folder of its own. Safe to share between activities."""

    def __init__(self, scripts: LearnedScripts, rehearsal_root: Path) -> None:
        """``rehearsal_root`` is where the sandboxes' temporary folders are made."""
        self._scripts = scripts
        self._root = rehearsal_root

    async def handle(self, plan: AttemptPlan, masked: Callable[[Answer, Failure], End]) -> AttemptResult:
        """One attempt; its end is waited for when it is cancelled, so that nothing of it is left behind.

        ``masked`` takes what this installation keeps secret out of an answer or a failure.
        """
        cancelled = threading.Event()
        order = plan.record.order
        running = asyncio.ensure_future(
            asyncio.to_thread(self._ran, order, json.loads(plan.params), cancelled)
        )
        try:
            answer, failure = await asyncio.shield(running)
        except asyncio.CancelledError:
            cancelled.set()
            await running
            raise
        answer, failure = await asyncio.to_thread(masked, answer, failure)
        # Nothing but a copy was written.
        outcome = outcome_of(plan.record.manifest, order.effect, answer, failure, acted=False)
        return AttemptResult(outcome=outcome, acted=False)

    def _ran(self, order: InvocationOrder, params: Mapping[str, Any], cancelled: threading.Event) -> End:
        try:
            scripts = self._present(order)
            return self._answer(order, scripts, params, cancelled)
        except Refusal as refusal:
            return None, SkillFailure(refusal.code.value, refusal.message)
        except SandboxUnavailable as unavailable:
            return None, SkillFailure("ISOLATION_UNAVAILABLE", clipped(str(unavailable), 240))
        except (FolderTooLarge, UnsafeArchive) as error:
            return None, SkillFailure(SCRIPT_FAILED, f"The folder cannot be copied: {error}.")
        except BlobNotFoundError:
            return None, SkillFailure("INVALID_INPUT", "The folder is kept no longer; hand it in again.")
        except OSError as error:
            # A full disk says nothing of the script.
            return None, SkillFailure("UNAVAILABLE", f"The copy cannot be worked on here: {error.strerror}.")

    def _present(self, order: InvocationOrder) -> dict[str, str]:
        """The scripts as they were when the call was let in.

        Raises:
            Refusal: the ability was quarantined, rolled back or taken out of use meanwhile.
        """
        assert order.learned is not None, "only calls of learned scripts come here"
        offered = self._scripts.offered(order.learned.ability_id, order.owner_user_id)
        if offered is None or offered.digest != order.digest:
            raise Refusal(
                ErrorCode.SKILL_NOT_FOUND,
                "The ability was changed or removed since the call was let in; ask again.",
            )
        return offered.scripts

    def _answer(
        self,
        order: InvocationOrder,
        scripts: Mapping[str, str],
        params: Mapping[str, Any],
        cancelled: threading.Event,
    ) -> End:
        name, now = params["script"], datetime.now(UTC)
        folder = _Folder(scripts)
        ref = params.get("folder")
        content = self._scripts.trials.content(folder_digest(ref)) if ref is not None else None
        line = command_of(f"{folder.hidden}/{name}", scripts[name], params.get("arguments", ()))
        command = RehearsalCommand(event_id=str(uuid4()), command=line, working_folder=".")
        report = run_trial(
            Trial((command,), ()),
            self._root,
            place=lambda work: folder.place(work, content),
            collect=folder.collect,
            cancelled=cancelled,
            progress=lambda _: None,
            limits=_LIMITS,
        )
        if not report.passed or report.result is None:
            return None, SkillFailure(_code(report), _why(name, report))
        if folder.unpackable is not None:
            return None, folder.unpackable
        printed = redact(report.outputs[0]).text
        changes = folder.changes
        return {
            "success": True,
            "message": f"scripts/{name} worked and changed {len(changes)} files of the copy.",
            "result": {
                "script": name,
                "output": printed[-MOST_OUTPUT_CHARS:],
                "changed": changes[:MOST_CHANGES_SHOWN],
                "changes": len(changes),
                "folder_digest": self._scripts.trials.keep_result(order.owner_user_id, report.result, now),
                "folder_kept_until": rfc3339(now + KEPT),
            },
        }, None


class _Folder:
    """The copy that a script works on: made, and compared with what it was."""

    def __init__(self, scripts: Mapping[str, str]) -> None:
        self._scripts = scripts
        # A name that the folder cannot have: its own files are not taken for the scripts.
        self.hidden = f".scripts-{uuid4().hex}"
        self.changes: list[dict[str, str]] = []
        self.unpackable: SkillFailure | None = None
        """Why what was made of it cannot be handed out: it is too much, or no folder that can be packed."""
        self._before: dict[str, str] = {}

    def place(self, work: Path, content: bytes | None) -> None:
        """Fills the folder."""
        if content is not None:
            unpack_folder(content, work, FOLDER_LIMITS, links_out=True)
        self._before = _files(work)
        for name, text in self._scripts.items():
            path = work / self.hidden / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755)

    def collect(self, work: Path) -> bytes:
        """Packs what came of it, without the scripts; nothing, and says why, where it cannot be packed."""
        shutil.rmtree(work / self.hidden, ignore_errors=True)
        after = _files(work)
        for path in sorted(self._before.keys() | after.keys()):
            before, now = self._before.get(path), after.get(path)
            if before != now:
                change = "added" if before is None else "removed" if now is None else "changed"
                self.changes.append({"path": path[:400], "change": change})
        try:
            return pack_folder(work, RESULT_LIMITS)
        except FolderTooLarge as error:
            self.unpackable = _not_handed_out("OUTPUT_TOO_LARGE", error)
        except UnsafeArchive as error:
            self.unpackable = _not_handed_out("OUTPUT_INVALID", error)
        return b""


def _not_handed_out(code: str, error: Exception) -> SkillFailure:
    return SkillFailure(code, f"The resulting folder cannot be handed out: {error}.")


def _files(folder: Path) -> dict[str, str]:
    """Each file and link below a folder, with the digest of its content or the target of the link."""
    found: dict[str, str] = {}
    for place, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(place, name)
            if path.is_symlink():
                found[str(path.relative_to(folder))] = f"link {path.readlink()}"
            elif path.is_file():
                found[str(path.relative_to(folder))] = digest_of(path.read_bytes())
    return found


def _code(report: TrialReport) -> str:
    if report.session is None:
        # It was given up, and says nothing of the script.
        return SCRIPT_FAILED
    return failure_of(report.session.results[0].status, timed_out=report.session.outcome.timed_out)


def _why(name: str, report: TrialReport) -> str:
    details = report.commands[0].details or "it was stopped"
    return clipped(f"scripts/{name} failed: {details}", 1_000)
