"""``apprentice demo``: teaches, proves, installs and finds one ability on a temporary stack."""

import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from cli.demo.lesson import Lesson, LessonFailed
from cli.demo.stack import DemoStack, StackFailed
from cli.platform.output import ExitCode, JsonFlag, fail
from cli.platform.story import Story
from clients.apprentice.api import ApprenticeApi
from clients.apprentice.transport import ApiFailure
from recorders.spool import RecorderError, SpoolError

_WIDTH_WHEN_PIPED = 120
_PREFIX = "apprentice-demo-"
_TRACEBACK = "demo.log"


class _Stopped(BaseException):
    """Somebody stopped the demo.

    Not ``KeyboardInterrupt``: where one is raised inside ``exec`` (any import of a dataclass), CPython
    remembers it and lets the process die of SIGINT at its end, however well it was handled.
    """


def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Stay up afterwards, until Ctrl-C.")] = False,
    data_dir: Annotated[
        Path | None, typer.Option(help="Where to keep everything (default: a temporary folder).")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Watch an ability being taught, proved, installed and found again, for real, in about a minute."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH_WHEN_PIPED
    story = Story(console, as_json=as_json)
    with _folder(data_dir, keep=keep) as folder, _stoppable():
        stack = DemoStack(folder)
        problem: str | None = None
        facts: dict[str, object] = {}
        started = time.monotonic()
        try:
            with stack:
                facts = _tell(story, stack)
                if keep:
                    _stay(story, stack, facts)
                with story.step("Stop everything"):
                    stack.stop()
        except _Stopped:
            problem = "stopped by Ctrl-C"
        except (ApiFailure, StackFailed, LessonFailed, RecorderError, SpoolError, OSError) as error:
            problem = str(error)
        except Exception as error:
            problem = f"{type(error).__name__}: {error} (where: {_TRACEBACK} among the logs)"
            (stack.log_dir / _TRACEBACK).write_text(traceback.format_exc(), encoding="utf-8")
        seconds = round(time.monotonic() - started, 1)
        if problem is None:
            kept = f" Its data is in {folder}." if keep or data_dir else ""
            story.say(
                Text.from_markup(f"\n[green]Nothing is left running.[/] The demo took {seconds:.0f} s.{kept}")
            )
            story.end(ok=True, seconds=seconds, **facts)
            return
        lasting = keep or data_dir is not None
        logs = stack.log_dir if lasting else _kept_logs(stack.log_dir)
        story.end(ok=False, seconds=seconds, problem=problem, logs=str(logs))
    fail(
        f"{problem}\nEverything the demo started is stopped. Its logs are in {logs}.\n"
        "Next: `apprentice doctor` checks what the application needs; then run the demo again.",
        ExitCode.FAILURE,
    )


def _tell(story: Story, stack: DemoStack) -> dict[str, object]:
    story.say(
        Text.from_markup(
            "[bold]Apprentice demo[/]: a task is shown once in a shell; an ability comes of it.\n"
        )
    )
    with story.step("Start Temporal, the worker, the API and the console", takes_long=True) as step:
        state = stack.start()
        step.say(f"API {state.api_url}  ·  console {state.console_url}")
        if state.temporal_ui_url:
            step.say(f"Temporal UI {state.temporal_ui_url}")
        step.facts.update(api_url=state.api_url, temporal_ui_url=state.temporal_ui_url)
    with ApprenticeApi(state.api_url, state.admin_token) as api:
        taught = Lesson(api, story, stack.data_dir / "demonstration", state).teach()
    return {**taught, "console_url": state.console_url}


def _stay(story: Story, stack: DemoStack, facts: dict[str, object]) -> None:
    try:
        story.say(
            Text.from_markup("\n[bold]Still running.[/] In another terminal:"),
            Text(f"  export APPRENTICE_DATA_DIR={stack.data_dir}", style="cyan"),
            Text("  apprentice abilities list", style="cyan"),
            Text(f"  apprentice learn status {facts['session_id']}", style="cyan"),
            Text(f"The console is at {facts['console_url']}; its token is in {stack.data_dir}/admin_token."),
            Text.from_markup("Ctrl-C stops it."),
        )
        while True:
            time.sleep(1)
    except _Stopped:
        story.say("")


@contextmanager
def _folder(given: Path | None, *, keep: bool) -> Generator[Path]:
    """The demo's data directory; a temporary one is removed at the end, unless it is to be kept."""
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
        yield given.absolute()
    elif keep:
        yield Path(tempfile.mkdtemp(prefix=_PREFIX))
    else:
        with tempfile.TemporaryDirectory(prefix=_PREFIX) as name:
            yield Path(name)


def _kept_logs(log_dir: Path) -> Path:
    """Where the logs can be read after the data directory is gone."""
    kept = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}logs-"))
    if log_dir.is_dir():
        shutil.copytree(log_dir, kept, dirs_exist_ok=True)
    return kept


@contextmanager
def _stoppable() -> Generator[None]:
    """Let Ctrl-C and SIGTERM end the demo in order, so that nothing is left running."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise _Stopped

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
