"""``apprentice skills content``: approve content for publishing, and take an approval back."""

import json
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import Group
from rich.text import Text

from cli.platform.invocation import Invocation, NothingToDo, api_command
from cli.platform.json_arguments import read_object
from cli.platform.output import facts
from clients.apprentice.skills import SkillApi
from contracts.plain_problems import problem_sentence
from contracts.skills.publishing import MAX_TOKEN_SECONDS, ApproveContentRequest
from domain.platform.visible_text import visible

app = typer.Typer(no_args_is_help=True, help="Approve content for publishing, and revoke an approval.")

_EXAMPLE = '{"content_id": "…", "script": "…"}'


@api_command(app, "approve")
def approve(
    call: Invocation,
    content: Annotated[
        str, typer.Argument(help="The content as JSON; - or @FILE reads it.", metavar="CONTENT")
    ],
    platforms: Annotated[list[str], typer.Option("--platform", help="For this platform; repeat it.")],
    seconds: Annotated[
        int, typer.Option("--for", min=1, max=MAX_TOKEN_SECONDS, help="How long it is good for, in seconds.")
    ] = 3_600,
    yes: Annotated[bool, typer.Option("--yes", help="Approve what is shown, without asking.")] = False,
) -> None:
    """Approve exactly this content; the token is good for one publication. Needs the scope approve."""
    given = {"content": read_object(content, "CONTENT", _EXAMPLE), "platforms": platforms, "ttl": seconds}
    try:
        request = ApproveContentRequest.model_validate_json(json.dumps(given))
    except ValidationError as error:
        raise NothingToDo(f"{problem_sentence(error, whole='CONTENT')}.") from None
    shown = request.content.model_dump(mode="json", exclude_none=True)
    call.show(Text(visible(json.dumps(shown, indent=2, ensure_ascii=False))))
    if not yes:
        if call.json:
            raise NothingToDo("with --json say --yes, once you have seen the content.")
        typer.confirm(f"May it be published on {', '.join(request.platforms)}?", abort=True)
    token = SkillApi(call.api.http).approve_content(request)
    call.answer(
        Group(
            facts(
                [
                    ("approval", token.jti),
                    ("content", token.content_id),
                    ("good for", ", ".join(token.platforms)),
                    ("until", f"{token.expires_at:%Y-%m-%d %H:%M:%S} UTC"),
                    ("take back", f"apprentice skills content revoke {token.jti}"),
                ]
            ),
            Text("approval_token for publish-content", style="dim"),
            Text(token.approval_token, overflow="fold"),
        )
    )


@api_command(app, "revoke")
def revoke(
    call: Invocation, approval: Annotated[str, typer.Argument(help="Its id.", metavar="APPROVAL")]
) -> None:
    """Have an approval count no more; what was published with it stays published."""
    done = SkillApi(call.api.http).revoke_approval(approval)
    call.answer(f"[red]revoked[/] at {done.revoked_at:%Y-%m-%d %H:%M:%S} UTC; nothing is published with it.")
