"""Temporary stack for the demo: ``apprentice up`` as a child process with its own data and ports."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from pydantic import ValidationError

from cli.platform.run_state import RunState
from cli.processes.child_launcher import tied_to_this_process

READY_WITHIN_SECONDS = 120.0
STOPPED_WITHIN_SECONDS = 45.0
_LOOK_AGAIN_SECONDS = 0.05
_OUTPUT_FILE = "up.log"

_FOREIGN = ("APPRENTICE_", "TEMPORAL_")
"""Settings of the person's own installation, which the demo must never touch."""


class StackFailed(Exception):
    """``apprentice up`` did not get ready; the text holds the last lines that it wrote."""


class DemoStack:
    """``apprentice up`` under ``data_dir``. As a context manager it is stopped however the block is left."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.log_dir = data_dir / "logs"
        self._ready_file = data_dir / "ready.json"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "DemoStack":
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def start(self) -> RunState:
        """Start everything and wait until it answers.

        Raises:
            StackFailed: it ended, or was not ready within two minutes.
        """
        self.log_dir.mkdir(parents=True, exist_ok=True)
        self._ready_file.unlink(missing_ok=True)
        command = [sys.executable, "-P", "-m", "cli.main", "up", "--data-dir", str(self.data_dir)]
        command += ["--api-port", "0", "--temporal-port", "0", "--ui-port", "0"]
        command += ["--ready-file", str(self._ready_file)]
        # Should the demo itself be killed, nothing of it goes on.
        command = tied_to_this_process(command)
        with (self.log_dir / _OUTPUT_FILE).open("ab") as output:
            # A session of its own: Ctrl-C reaches the demo alone, which then stops the rest in order.
            self._process = subprocess.Popen(
                command,
                cwd=self.data_dir,
                env=_own_environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        return self._wait_until_ready(self._process)

    def stop(self) -> None:
        """Stop everything; returns when nothing runs any more. Safe to repeat, and to be interrupted."""
        process = self._process
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOPPED_WITHIN_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._process = None

    def last_words(self, lines: int = 12) -> str:
        """The end of what ``apprentice up`` wrote."""
        try:
            text = (self.log_dir / _OUTPUT_FILE).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> RunState:
        give_up = time.monotonic() + READY_WITHIN_SECONDS
        while time.monotonic() < give_up:
            if process.poll() is not None:
                raise StackFailed(f"apprentice up ended with code {process.returncode}:\n{self.last_words()}")
            with contextlib.suppress(FileNotFoundError, ValidationError):
                return RunState.model_validate_json(self._ready_file.read_bytes())
            time.sleep(_LOOK_AGAIN_SECONDS)
        raise StackFailed(
            f"apprentice up was not ready within {READY_WITHIN_SECONDS:.0f} s:\n{self.last_words()}"
        )


def _own_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
