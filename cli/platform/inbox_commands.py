"""``apprentice inbox``: everything that waits for a person, and what was sent to them."""

import json
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from cli.platform.invocation import Invocation, api_command
from cli.platform.list_options import OnePageOption, left_over, none_of
from cli.platform.output import facts
from clients.apprentice.inbox import InboxApi
from contracts.platform.inbox import InboxItem, InboxKind
from domain.platform.visible_text import visible

_app = typer.Typer()

_COLOURS = {
    InboxKind.APPROVAL: "yellow",
    InboxKind.CONFIRMATION: "yellow",
    InboxKind.QUESTION: "cyan",
    InboxKind.REVIEW: "cyan",
    InboxKind.MESSAGE: "default",
    InboxKind.CHECK_IN: "default",
    InboxKind.ESCALATION: "red",
    InboxKind.APPROVED_CONTENT: "green",
}


@api_command(_app, "inbox")
def inbox(
    call: Invocation,
    kind: Annotated[InboxKind | None, typer.Option(help="Only of this kind.")] = None,
    page: OnePageOption = 1,
    page_size: Annotated[int, typer.Option(min=1, max=100, help="Items a page.")] = 25,
) -> None:
    """List what waits for you or was sent to you, newest first."""
    found = InboxApi(call.api.http).items(page, page_size, kind)
    if not found.items:
        call.answer(none_of(found, {}, "Nothing waits for you."))
        return
    parts: list[RenderableType] = []
    for one in found.items:
        parts += _shown(one)
    call.answer(*parts, *left_over(found))


def _shown(one: InboxItem) -> list[RenderableType]:
    head = Text()
    head.append(one.kind.value.replace("_", "-").ljust(17), style=_COLOURS[one.kind])
    head.append(visible(one.title))
    until = f"{one.expires_at:%Y-%m-%d %H:%M} UTC" if one.expires_at is not None else None
    text = " · ".join(" ".join(line.split()) for line in visible(one.text).splitlines() if line.strip())
    given = visible(json.dumps(one.arguments, ensure_ascii=False)) if one.arguments is not None else None
    return [
        head,
        facts([("says", text), ("gets", given), ("waits until", until), ("to do", one.next_action)]),
    ]
