"""Commands that call the API: common options, API address and token, error messages and exit codes."""

import inspect
import os
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, NamedTuple, ParamSpec, cast

import typer
from pydantic import BaseModel, ValidationError
from rich.console import Console, RenderableType

from cli.platform.option_names import OptionNames
from cli.platform.output import ExitCode, JsonFlag, TerminalConsole, fail, harmless, print_parts, tell_error
from cli.platform.run_state import RunState, read_run_state
from clients.apprentice.api import ApprenticeApi
from clients.apprentice.transport import ApiAnswerUnreadable, ApiFailure, ApiRefusal, ApiUnreachable
from contracts.errors import ErrorCode
from contracts.plain_problems import field_problems

if TYPE_CHECKING:
    from config.settings import Settings


URL_VARIABLE = "APPRENTICE_API_URL"
TOKEN_VARIABLE = "APPRENTICE_TOKEN"  # noqa: S105 - a name
READY_FILE_VARIABLE = "APPRENTICE_READY_FILE"
_FOLLOW_EVERY_SECONDS = 1.0
ADMIN_TOKEN_FILE = "admin_token"  # noqa: S105 - a name


@dataclass(frozen=True)
class Connection:
    """The service's address and the caller's token, if one was found."""

    api_url: str
    token: str | None


def find_connection(api_url: str | None, token: str | None) -> Connection:
    """Find the service: options, then the environment, then what is running here, then the settings.

    The admin token that ``apprentice up`` leaves on this machine is only ever sent to the service it
    belongs to: another address gets the token that was named, or none.

    Raises:
        SettingsError: nothing was named and the settings cannot be read.
    """
    named_url = api_url or os.environ.get(URL_VARIABLE)
    named_token = token or os.environ.get(TOKEN_VARIABLE)
    if named_url and named_token:
        return Connection(named_url, named_token)

    # The settings' library is only loaded where they are asked for: it costs a tenth of a second.
    from config.settings import load_settings

    settings = load_settings()
    state = running_here(settings)
    here = {settings.api_url, settings.local_api_url, state.api_url if state else ""}
    url = named_url or (state.api_url if state else settings.local_api_url)
    if not named_token and url.rstrip("/") in here:
        named_token = state.admin_token if state else _admin_token(settings.data_dir)
    return Connection(url, named_token)


def running_here(settings: "Settings") -> RunState | None:
    """What ``apprentice up`` wrote of the service that runs on this machine; None where none does."""
    named = os.environ.get(READY_FILE_VARIABLE)
    if not named:
        return read_run_state(settings.data_dir)
    try:
        return RunState.model_validate_json(Path(named).expanduser().read_bytes())
    except (OSError, ValidationError):
        return None


def _admin_token(data_dir: Path) -> str | None:
    try:
        return (data_dir / ADMIN_TOKEN_FILE).read_text(encoding="utf-8").strip() or None
    except OSError:
        return None


P = ParamSpec("P")

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

    @contextmanager
    def busy(self, doing: str, workflow_id: str | None = None) -> Generator[None]:
        """Show that something is going on while the block runs, with what the workflow's activity reports of it."""
        if self.json or not self.out.is_terminal:
            yield
            return
        with self.out.status(doing) as status, ExitStack() as stack:
            if workflow_id is not None:
                stack.enter_context(
                    self._following(workflow_id, lambda what: status.update(f"{doing} {what}"))
                )
            yield

    @contextmanager
    def _following(self, workflow_id: str, tell: Callable[[str], None]) -> Generator[None]:
        """Polls once a second what an activity of the workflow reports, while the block runs."""
        ended = Event()

        def follow() -> None:
            while not ended.wait(_FOLLOW_EVERY_SECONDS):
                with suppress(ApiFailure):
                    tell(self.api.workflow_link(workflow_id).doing or "")

        follower = Thread(target=follow, daemon=True)
        follower.start()
        try:
            yield
        finally:
            ended.set()
            follower.join()

    def line(self, text: str) -> None:
        """Print one line at once, as it is, with or without ``--json``."""
        typer.echo(harmless(text))

    def temporal_url(self, workflow_id: str) -> str | None:
        """The deep link into the Temporal UI, when there is one."""
        if self.json:
            return None
        try:
            return self.api.workflow_link(workflow_id).temporal_ui_url
        except ApiFailure:
            return None


def api_command(
    app: typer.Typer, name: str, fields: Mapping[str, str] | None = None
) -> Callable[[Callable[Concatenate[Invocation, P], None]], Callable[P, None]]:
    """Register a command that talks to the service under ``name``.

    The function gets the invocation as its first argument; ``--api-url``, ``--token`` and ``--json`` are
    added to its own options, and what goes wrong becomes a sentence and an exit code. ``fields`` says which of its
    parameters fills a field of the request that is named otherwise, so that a problem names the option.
    """

    def register(function: Callable[Concatenate[Invocation, P], None]) -> Callable[P, None]:
        def run(*args: P.args, **kwargs: P.kwargs) -> None:
            options = _Options(*(kwargs.pop(one.name) for one in _SHARED))
            with reporting_errors(OptionNames(own, fields or {})):
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
def reporting_errors(names: OptionNames | None = None) -> Generator[None]:
    """Turn what goes wrong between a command and the service into a sentence and an exit code.

    ``names`` are the command's options, by the fields of a request that they fill.
    """
    from config.origins import SettingsError

    names = names or OptionNames()

    try:
        yield
    except ApiRefusal as refusal:
        tell_error(
            refusal.code,
            refusal.message,
            retryable=refusal.retryable,
            further={**refusal.extra, "correlation_id": refusal.correlation_id},
        )
        fail(
            _sentence(refusal, names), ExitCode.NOT_READY if refusal.code in _NOT_READY else ExitCode.REFUSED
        )
    except ApiUnreachable as error:
        fail(str(error), ExitCode.NOT_READY)
    except ApiAnswerUnreadable as error:
        fail(str(error), ExitCode.FAILURE)
    except ValidationError as error:
        found = field_problems(error, whole="")
        problems = (": ".join(filter(None, (names.of(one.path), one.problem))) for one in found)
        fail("the service would not take this: " + "; ".join(problems), ExitCode.USAGE)
    except (NothingToDo, SettingsError) as error:
        fail(str(error), ExitCode.USAGE)


_ADVICE = {
    ErrorCode.UNAUTHENTICATED.value: "Name a valid token with --token or APPRENTICE_TOKEN. Where `apprentice up` runs, "
    "name none: the one in the file admin_token of its data directory is used then.",
    ErrorCode.LEARN_SESSION_ALREADY_ACTIVE.value: "See it with `apprentice learn status`.",
    ErrorCode.LEARN_SESSION_NOT_FOUND.value: "`apprentice learn list` shows yours.",
    ErrorCode.ABILITY_NOT_FOUND.value: "`apprentice abilities list` shows yours.",
    ErrorCode.MCP_SERVER_NOT_FOUND.value: "`apprentice mcp servers list` shows yours.",
    ErrorCode.MCP_TOOL_NOT_FOUND.value: "`apprentice mcp tools list SERVER` shows them, `apprentice mcp smoke-test "
    "SERVER` finds new ones.",
    ErrorCode.MCP_AUTH_PROFILE_NOT_FOUND.value: "`apprentice mcp profiles list` shows yours.",
    ErrorCode.MCP_DISPATCH_NOT_FOUND.value: "`apprentice mcp calls` shows yours.",
    ErrorCode.MCP_GRANT_NOT_FOUND.value: "`apprentice mcp grants list` shows yours.",
}


def _sentence(refusal: ApiRefusal, names: OptionNames) -> str:
    # Only a refusal needs them, and they load the state tables.
    from cli.platform.own_words import refusal_in_own_words, typed

    message = refusal_in_own_words(names.put_into(refusal.message), refusal.code)
    lines = [f"{message} ({refusal.code})"]
    allowed = refusal.extra.get("allowed")
    if isinstance(allowed, list) and allowed:
        lines.append("It takes now: " + ", ".join(typed(cast("list[object]", allowed), refusal.code)) + ".")
    places = _places(refusal.extra.get("fields"), message, names)
    if places:
        lines.append(f"Look at: {places}.")
    advice = _ADVICE.get(refusal.code, "")
    if advice and not (advice.startswith("`") and advice.split("`")[1] in message):
        lines.append(advice)
    lines.append(f"Correlation id {refusal.correlation_id}.")
    return "\n".join(lines)


def _places(fields: object, message: str, names: OptionNames) -> str:
    """What is wrong where, beyond what the sentence says already."""
    told: list[str] = []
    for one in cast("list[object]", fields) if isinstance(fields, list) else []:
        field = cast("dict[str, object]", one) if isinstance(one, dict) else {"path": one}
        path, problem = names.of(str(field.get("path", ""))), str(field.get("problem", "")).rstrip(".")
        if problem not in message:
            told.append(": ".join(filter(None, (path, problem))))
        elif path not in message:
            # A sentence that is the problem itself may leave open where it is.
            told.append(path)
    return "; ".join(dict.fromkeys(filter(None, told)))


def _console() -> Console:
    # A pipe has no width; what is cut there could not be searched.
    return TerminalConsole(highlight=False, width=None if sys.stdout.isatty() else 200)
