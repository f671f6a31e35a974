"""The session that a ``learn`` command acts on: the one named, else the caller's latest that takes it."""

from typing import Annotated

import typer

from cli.learning.views import guide, session_view
from cli.platform.invocation import Invocation, NothingToDo
from contracts.learning.session import LearnSession
from contracts.learning.state_machine import SessionCommand
from contracts.learning.views.allowed_actions import LearnSessionView
from contracts.workflow_ids import learn_session_id

SessionArgument = Annotated[
    str | None,
    typer.Argument(
        help="The session's id. Left out: your session that is under way, else the latest that takes the command.",
        metavar="SESSION",
    ),
]


def read_session(
    call: Invocation, given: str | None, command: SessionCommand | None = None
) -> LearnSessionView:
    """Read the named session, or the caller's that is under way, else the latest that takes ``command``.

    Without ``command``, for what only reads, the latest of all serves.

    Raises:
        NothingToDo: no id was given and no session takes the command.
    """
    if given:
        return call.api.learn.session(given)
    found = call.api.learn.latest_session(command)
    if found is None:
        what = "no session yet" if command is None else "no session under way, and none takes this command"
        raise NothingToDo(
            f"you have {what}. Begin one with `apprentice learn create`, "
            "or name one of `apprentice learn list`."
        )
    return found


def session_id_of(call: Invocation, given: str | None, command: SessionCommand | None = None) -> str:
    """The named session's id, or that of the one which :func:`read_session` finds."""
    return given or read_session(call, None, command).learn_session_id


def proposal_of(
    call: Invocation, given: str | None, command: SessionCommand | None = None
) -> tuple[LearnSession, str]:
    """A session and its proposal's id.

    Raises:
        NothingToDo: the session has no proposal yet.
    """
    session = read_session(call, given, command)
    if session.proposal_id is None:
        following = "".join(f" Next: `{next_one}`." for next_one in guide(session).commands[:1])
        raise NothingToDo(
            f"session {session.learn_session_id} is {session.state.value} and has no proposal.{following}"
        )
    return session, session.proposal_id


def answer_session(call: Invocation, session: LearnSession) -> None:
    """End a command by showing the session it acted on, as it takes commands now."""
    if call.json:
        call.answer()
        return
    view = (
        session if isinstance(session, LearnSessionView) else call.api.learn.session(session.learn_session_id)
    )
    call.show(session_view(view, call.temporal_url(learn_session_id(view.learn_session_id))))
