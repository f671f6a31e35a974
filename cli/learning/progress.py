"""Watching what goes on after a command has answered: validation runs, installs, and the event stream."""

import json
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner

from cli.learning.views import saga_view, validation_view
from cli.platform.invocation import Invocation
from cli.platform.output import print_parts
from clients.apprentice.learning import LearnApi
from clients.apprentice.sse import ServerSentEvent
from contracts.learning.install import InstallSaga, SagaState
from contracts.learning.lifecycle import LearningLifecycleEvent
from contracts.learning.responses import ValidationRunsListResponse
from contracts.learning.session import LearnSessionState
from contracts.learning.validation import ValidationRun
from contracts.learning.views.allowed_actions import LearnSessionView

LOOK_AGAIN_SECONDS = 0.3
"""Poll interval of a watched run or install, in seconds."""

_UNDER_WAY = frozenset({SagaState.RUNNING, SagaState.COMPENSATING})


class Progress:
    """One picture: drawn anew in place on a terminal, printed once, at the end, anywhere else."""

    def __init__(self, live: Live | None = None) -> None:
        self._live = live
        self.last: RenderableType | None = None

    def draw(self, picture: RenderableType, doing: str | None = None) -> None:
        """Show ``picture``, with a spinner under it while something is being done."""
        self.last = picture
        if self._live is not None:
            self._live.update(Group(picture, Spinner("dots", f" {doing}")) if doing else picture)


@contextmanager
def progress(console: Console, *, shown: bool = True) -> Generator[Progress]:
    """Draw progress on ``console`` while the block runs."""
    if not shown:
        yield Progress()
        return
    if console.is_terminal:
        with Live(console=console, transient=True) as live:
            picture = Progress(live)
            yield picture
    else:
        picture = Progress()
        yield picture
    if picture.last is not None:
        print_parts(console, (picture.last,))


def wait_for_validation(
    api: LearnApi, proposal_id: str, run_id: str, picture: Progress
) -> tuple[ValidationRun, ValidationRunsListResponse]:
    """Read a run until it has ended; returns it and the answer it was last read from."""
    while True:
        listed = api.validation_runs(proposal_id)
        run = next((one for one in listed.runs if one.validation_run_id == run_id), None)
        if run is not None:
            over = run.completed_at is not None
            view = validation_view(run, listed.steps)
            picture.draw(view, None if over else "checking")
            if over:
                return run, listed
        time.sleep(LOOK_AGAIN_SECONDS)


def watch_newest_install(call: Invocation, session_id: str) -> InstallSaga | None:
    """Show the session's newest install until it has ended; nothing when there has been none."""
    saga_id = newest_saga_id(call.api.learn, session_id)
    if saga_id is None:
        return None
    with progress(call.out, shown=not call.json) as picture:
        while True:
            saga = call.api.learn.saga(saga_id)
            under_way = saga.state in _UNDER_WAY
            picture.draw(saga_view(saga), saga.state.value if under_way else None)
            if not under_way:
                return saga
            time.sleep(LOOK_AGAIN_SECONDS)


def show_newest_install(call: Invocation, session_id: str) -> None:
    """Show the steps of the session's newest install, for people."""
    saga_id = None if call.json else newest_saga_id(call.api.learn, session_id)
    if saga_id is not None:
        call.show(saga_view(call.api.learn.saga(saga_id)))


def newest_saga_id(api: LearnApi, session_id: str) -> str | None:
    """The id of the session's newest install, as its events tell."""
    newest: str | None = None
    for event in api.past_events(session_id):
        if event.event == LearningLifecycleEvent.INSTALL_STARTED.value:
            newest = cast("str | None", payload_of(event).get("saga_id")) or newest
    return newest


def payload_of(event: ServerSentEvent) -> dict[str, Any]:
    """What an event says beside its kind and its time; empty when it says nothing."""
    content = _parsed(event)
    payload = content.get("payload")
    return cast("dict[str, Any]", payload) if isinstance(payload, dict) else {}


def follow_events(call: Invocation, session_id: str, until: LearnSessionState | None) -> LearnSessionView:
    """Print a session's events until it is at rest, or has reached ``until``."""
    for event in call.api.learn.events(session_id):
        if call.json:
            call.line(json.dumps({"id": event.id, "event": event.event, "data": _parsed(event)}))
        else:
            call.line(event_line(event))
        if until is not None and call.api.learn.session(session_id).state is until:
            break
    return call.api.learn.session(session_id)


def event_line(event: ServerSentEvent) -> str:
    """One event on one line: when, what, and its facts."""
    content = _parsed(event)
    at = str(content.get("timestamp", ""))[11:19]
    said = payload_of(event).items()
    known = " ".join(
        f"{key}={value}" for key, value in said if isinstance(value, str | int | float) and value
    )
    return f"{at}  {event.event:32} {known}".rstrip()


def _parsed(event: ServerSentEvent) -> dict[str, Any]:
    try:
        content: object = json.loads(event.data)
    except ValueError:
        return {}
    if not isinstance(content, dict):
        return {}
    found = cast("dict[str, Any]", content)
    inner = found.get("data")
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else found
