"""Accepting what no check could prove: the list is shown, and at a terminal asked about."""

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from cli.platform.invocation import Invocation, NothingToDo
from cli.platform.output import unproved_list
from contracts.abilities.availability import UnprovedStep

AcceptOption = Annotated[
    bool,
    typer.Option("--accept-unproved", help="Accept what no check could prove here; the list is shown first."),
]


def acceptance(
    call: Invocation, unproved: Sequence[UnprovedStep], digest: str | None, accepted: bool
) -> dict[str, Any]:
    """What a request says about the steps that are not proved.

    The acceptance names the list that was shown; the service refuses it for another one.
    """
    if not unproved:
        return {}
    call.show(unproved_list(unproved))
    if not accepted and not call.json and sys.stdin.isatty():
        accepted = typer.confirm("Nothing has shown that these work. Install it all the same?")
        if not accepted:
            raise NothingToDo("nothing was installed.")
    return {"accept_unproved": accepted, "unproved_digest": digest}
