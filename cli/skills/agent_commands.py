"""``apprentice agents``: agents that skills work for."""

from typing import Annotated

import typer
from pydantic import ValidationError
from rich.markup import escape

from cli.platform.invocation import Invocation, NothingToDo, api_command
from cli.platform.list_options import OnePageOption, answer_list
from cli.platform.output import facts, listing
from clients.apprentice.agents import AgentApi
from contracts.plain_problems import problem_sentence
from contracts.skills.agents import CreateAgentRequest

app = typer.Typer(no_args_is_help=True, help="Agents that skills work for: create, list.")


@api_command(app, "create")
def create(
    call: Invocation,
    name: Annotated[str, typer.Option(help="What it is called.")],
    owner: Annotated[str | None, typer.Option(help="Whose it is; you, when left out.")] = None,
    wallet: Annotated[
        str | None, typer.Option(help="The address of its wallet, which is there already.")
    ] = None,
    capability: Annotated[
        list[str] | None, typer.Option(help="What it can do; give it once for each.")
    ] = None,
) -> None:
    """Make an agent, with the status active."""
    try:
        request = CreateAgentRequest(
            name=name, owner_user_id=owner, wallet_address=wallet, capabilities=tuple(capability or ())
        )
    except ValidationError as error:
        raise NothingToDo(f"{problem_sentence(error, whole='the agent')}.") from None
    made = AgentApi(call.api.http).create(request)
    call.answer(
        facts(
            [
                ("agent", made.agent_id),
                ("name", escape(made.name)),
                ("status", made.status.value),
                ("owner", escape(made.owner_user_id)),
                ("wallet", made.wallet_address or "none"),
            ]
        )
    )


@api_command(app, "list")
def list_agents(call: Invocation, page: OnePageOption = 1) -> None:
    """List every agent, newest first."""
    found = AgentApi(call.api.http).list(page)
    table = listing("agent", "name", "status", "owner", "holds", whole="agent")
    for one in found.agents:
        row = (one.agent_id, escape(one.name), one.status.value, escape(one.owner_user_id))
        table.add_row(*row, str(one.wallet_balance))
    answer_list(call, found, table, "No agents. Make one with `apprentice agents create --name NAME`.")
