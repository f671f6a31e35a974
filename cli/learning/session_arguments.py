"""The session that a ``learn`` command acts on: the one named, else the caller's active one."""

from typing import Annotated

import typer

from cli.learning.views import guide, session_view
from cli.platform.invocation import Invocation, NothingToDo
from contracts.learning.session import LearnSession
from contracts.learning.views.allowed_actions import LearnSessionView
from contracts.workflow_ids import learn_session_id

SessionArgument = Annotated[
    str | None,
    typer.Argument(
        help="The session's id. Left out: your one session that is not at rest.", metavar="SESSION"
    ),
]


def read_session(call: Invocation, given: str | None) -> LearnSessionView:
    """Read the named session, or the caller's active one.

    Raises:
        NothingToDo: no id was given and every session is at rest.
    """
    if given:
        return call.api.learn.session(given)
    found = call.api.learn.active_session()
    if found is None:
        raise NothingToDo(
            "you have no session under way. Begin one with `apprentice learn create`, "
            "or name one of `apprentice learn list`."
        )
    return found


def session_id_of(call: Invocation, given: str | None) -> str:
    """The named session's id, or the active one's; see :func:`read_session`."""
    return given or read_session(call, None).learn_session_id


def proposal_of(call: Invocation, given: str | None) -> tuple[LearnSession, str]:
    """A session and its proposal's id.

    Raises:
        NothingToDo: the session has no proposal yet.
    """
    session = read_session(call, given)
    if session.proposal_id is None:
        following = "".join(f" Next: `{command}`." for command in guide(session).commands[:1])
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
