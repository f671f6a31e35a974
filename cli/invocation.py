"""What every command that talks to the service shares: its options, its client, its errors as exit codes."""

import inspect
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Concatenate, NamedTuple, ParamSpec, cast

import typer
from pydantic import BaseModel, ValidationError
from rich.console import Console, RenderableType

from cli.connection import TOKEN_VARIABLE, URL_VARIABLE, find_connection
from cli.learn_views import print_parts, session_view
from cli.output import ExitCode, JsonFlag, fail
from cli.terminal import TerminalConsole, harmless
from clients.api_transport import ApiAnswerUnreadable, ApiFailure, ApiRefusal, ApiUnreachable
from clients.apprentice_api import ApprenticeApi
from contracts.errors import ErrorCode
from contracts.learning.allowed_actions import LearnSessionView
from contracts.learning.session import LearnSession

P = ParamSpec("P")

SessionArgument = Annotated[
    str | None,
    typer.Argument(
        help="The session's id. Left out: your one session that is not at rest.", metavar="SESSION"
    ),
]

_API_URL = Annotated[
    str | None, typer.Option("--api-url", help=f"The service's address (or {URL_VARIABLE}).")
]
_TOKEN = Annotated[str | None, typer.Option("--token", help=f"Your access token (or {TOKEN_VARIABLE}).")]

_NOT_READY = frozenset({ErrorCode.TEMPORAL_UNAVAILABLE.value})
"""Refusals that only say that the service is not ready now."""


class NothingToDo(Exception):
    """A command that cannot be carried out as typed; the text says what to type instead."""


@dataclass(frozen=True)
class Invocation:
    """One command under way: the client it calls, and where and how it answers."""

    api: ApprenticeApi
    json: bool
    out: Console

    def show(self, *parts: RenderableType) -> None:
        """Print for people; nothing with ``--json``."""
        if not self.json:
            print_parts(self.out, parts)

    def answer(self, *parts: RenderableType) -> None:
        """End a command: the newest answer's body with ``--json``, else ``parts``."""
        if self.json:
            typer.echo(harmless(self.api.last_body))
        else:
            self.show(*parts)

    def answer_with(self, model: BaseModel, *parts: RenderableType) -> None:
        """End a command whose answer is ``model`` and not the newest body."""
        if self.json:
            typer.echo(harmless(model.model_dump_json(exclude_none=True)))
        else:
            self.show(*parts)

    def answer_session(self, session: LearnSession) -> None:
        """End a command by showing the session it acted on, as it takes commands now."""
        if self.json:
            self.answer()
            return
        view = session if isinstance(session, LearnSessionView) else self.session(session.learn_session_id)
        self.show(session_view(view, self.temporal_url(f"learn-session/{view.learn_session_id}")))

    @contextmanager
    def busy(self, doing: str) -> Generator[None]:
        """Show that something is going on while the block runs."""
        if self.json or not self.out.is_terminal:
            yield
        else:
            with self.out.status(doing):
                yield

    def line(self, text: str) -> None:
        """Print one line at once, as it is, with or without ``--json``."""
        typer.echo(harmless(text))

    def session(self, given: str | None) -> LearnSessionView:
        """Read the named session, or the caller's active one.

        Raises:
            NothingToDo: no id was given and every session is at rest.
        """
        if given:
            return self.api.learn.session(given)
        found = self.api.learn.active_session()
        if found is None:
            raise NothingToDo(
                "you have no session under way. Begin one with `apprentice learn create`, "
                "or name one of `apprentice learn list`."
            )
        return found

    def session_id(self, given: str | None) -> str:
        """The named session's id, or the active one's; see :meth:`session`."""
        return given or self.session(None).learn_session_id

    def proposal_of(self, given: str | None) -> tuple[LearnSession, str]:
        """A session and its proposal's id.

        Raises:
            NothingToDo: the session has no proposal yet.
        """
        session = self.session(given)
        if session.proposal_id is None:
            raise NothingToDo(
                f"session {session.learn_session_id} is {session.state.value} and has no proposal yet. "
                f"Draft one with `apprentice learn propose {session.learn_session_id}`."
            )
        return session, session.proposal_id

    def temporal_url(self, workflow_id: str) -> str | None:
        """The deep link into the Temporal UI, when there is one."""
        if self.json:
            return None
        try:
            return self.api.workflow_link(workflow_id).temporal_ui_url
        except ApiFailure:
            return None


def api_command(
    app: typer.Typer, name: str
) -> Callable[[Callable[Concatenate[Invocation, P], None]], Callable[P, None]]:
    """Register a command that talks to the service under ``name``.

    The function gets the invocation as its first argument; ``--api-url``, ``--token`` and ``--json`` are
    added to its own options, and what goes wrong becomes a sentence and an exit code.
    """

    def register(function: Callable[Concatenate[Invocation, P], None]) -> Callable[P, None]:
        def run(*args: P.args, **kwargs: P.kwargs) -> None:
            options = _Options(*(kwargs.pop(one.name) for one in _SHARED))
            with reporting_errors():
                connection = find_connection(options.api_url, options.token)
                with ApprenticeApi(connection.api_url, connection.token) as api:
                    function(Invocation(api, options.as_json, _console()), *args, **kwargs)

        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        run.__name__, run.__doc__ = function.__name__, function.__doc__
        run.__signature__ = inspect.Signature([*own, *_SHARED])  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in (*own, *_SHARED)}
        app.command(name)(run)
        return run

    return register


class _Options(NamedTuple):
    api_url: Any
    token: Any
    as_json: Any


def _shared(name: str, default: object, annotation: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


_SHARED = (
    _shared("api_url", None, _API_URL),
    _shared("token", None, _TOKEN),
    _shared("as_json", False, JsonFlag),
)


@contextmanager
def reporting_errors() -> Generator[None]:
    """Turn what goes wrong between a command and the service into a sentence and an exit code."""
    from config.origins import SettingsError

    try:
        yield
    except ApiRefusal as refusal:
        fail(_sentence(refusal), ExitCode.NOT_READY if refusal.code in _NOT_READY else ExitCode.REFUSED)
    except ApiUnreachable as error:
        fail(str(error), ExitCode.NOT_READY)
    except ApiAnswerUnreadable as error:
        fail(str(error), ExitCode.FAILURE)
    except ValidationError as error:
        problems = (
            ": ".join(filter(None, (".".join(map(str, one["loc"])), one["msg"]))) for one in error.errors()
        )
        fail("the service would not take this: " + "; ".join(problems), ExitCode.USAGE)
    except (NothingToDo, SettingsError) as error:
        fail(str(error), ExitCode.USAGE)


_ADVICE = {
    ErrorCode.UNAUTHENTICATED.value: "Name a valid token with --token or APPRENTICE_TOKEN. Where `apprentice up` runs, "
    "name none: the token in its data directory (admin_token) is used then.",
    ErrorCode.LEARN_SESSION_ALREADY_ACTIVE.value: "See it with `apprentice learn status`, or end it with "
    "`apprentice learn cancel`.",
    ErrorCode.LEARN_SESSION_NOT_FOUND.value: "`apprentice learn list` shows yours.",
    ErrorCode.ABILITY_NOT_FOUND.value: "`apprentice abilities list` shows yours.",
    ErrorCode.VALIDATION_REQUIRED.value: "Run `apprentice learn validate`.",
    ErrorCode.MCP_SERVER_NOT_FOUND.value: "`apprentice mcp servers list` shows yours.",
    ErrorCode.MCP_TOOL_NOT_FOUND.value: "`apprentice mcp tools list SERVER` shows them, `apprentice mcp smoke-test "
    "SERVER` finds new ones.",
    ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND.value: "`apprentice mcp profiles list` shows yours.",
    ErrorCode.MCP_DISPATCH_NOT_FOUND.value: "`apprentice mcp calls` shows yours.",
    ErrorCode.MCP_GRANT_NOT_FOUND.value: "`apprentice mcp grants list` shows yours.",
}


def _sentence(refusal: ApiRefusal) -> str:
    lines = [f"{refusal.message} ({refusal.code})"]
    allowed = refusal.extra.get("allowed")
    if isinstance(allowed, list) and allowed:
        lines.append("It takes now: " + ", ".join(str(one) for one in cast("list[object]", allowed)) + ".")
    places = _places(refusal.extra.get("fields"), refusal.message)
    if places:
        lines.append(f"Look at: {places}.")
    if refusal.code in _ADVICE:
        lines.append(_ADVICE[refusal.code])
    lines.append(f"Correlation id {refusal.correlation_id}.")
    return "\n".join(lines)


def _places(fields: object, message: str) -> str:
    """What is wrong where, beyond what the sentence says already."""
    said: list[str] = []
    for one in cast("list[object]", fields) if isinstance(fields, list) else []:
        if isinstance(one, dict):
            field = cast("dict[str, object]", one)
            said.append(": ".join(str(field[name]) for name in ("path", "problem") if name in field))
        else:
            said.append(str(one))
    return "; ".join(place for place in said if place not in message)


def _console() -> Console:
    # A pipe has no width; what is cut there could not be searched.
    return TerminalConsole(highlight=False, width=None if sys.stdout.isatty() else 200)
