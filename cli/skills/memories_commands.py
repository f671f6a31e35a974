"""``apprentice memories``: what skills remember of you, their check-ins, and answers to their questions."""

from typing import Annotated

import typer
from pydantic import ValidationError
from rich.markup import escape

from cli.platform.invocation import Invocation, NothingToDo, api_command
from cli.platform.list_options import OnePageOption, answer_list
from cli.platform.output import listing
from clients.apprentice.memory import MemoryApi
from contracts.inbox.items import AnswerRequest
from contracts.memory.goals import GoalState, MoveGoalRequest
from contracts.memory.memory import MemoryKind

app = typer.Typer(no_args_is_help=True, help="What skills remember of you: list, facts, check-ins, erase.")


@api_command(app, "list")
def list_memories(
    call: Invocation,
    kind: Annotated[MemoryKind | None, typer.Option(help="Memories or events alone.")] = None,
    page: OnePageOption = 1,
) -> None:
    """List memories and events, newest first."""
    found = MemoryApi(call.api.http).list(page, kind)
    table = listing("id", "at", "kind", "text", whole="id")
    for one in found.memories:
        table.add_row(one.memory_id, f"{one.at:%Y-%m-%d %H:%M}", one.kind.value, escape(one.text))
    nothing = "Nothing is remembered. Skills such as store-memory-item do that."
    answer_list(call, found, table, nothing, {"kind": kind})


@api_command(app, "facts")
def list_facts(
    call: Invocation,
    subject: Annotated[str | None, typer.Option(help="Facts of this subject alone.")] = None,
    page: OnePageOption = 1,
) -> None:
    """List facts, the latest changed first."""
    found = MemoryApi(call.api.http).facts(page, subject)
    table = listing("id", "fact", "version", "holds", whole="id")
    for one in found.facts:
        holds = "yes" if one.valid_to is None else f"until {one.valid_to:%Y-%m-%d %H:%M}"
        table.add_row(one.fact_id, escape(one.text), str(one.version), holds)
    nothing = "No facts are known. The skill upsert-world-fact asserts them."
    answer_list(call, found, table, nothing, {"subject": subject})


@api_command(app, "check-ins")
def list_check_ins(call: Invocation, page: OnePageOption = 1) -> None:
    """List check-ins, the next due first."""
    found = MemoryApi(call.api.http).check_ins(page)
    table = listing("id", "due", "state", "text", whole="id")
    for one in found.check_ins:
        table.add_row(one.check_in_id, f"{one.due_at:%Y-%m-%d %H:%M}", one.state.value, escape(one.text))
    answer_list(call, found, table, "No check-ins. The skill schedule-check-in makes one.")


@api_command(app, "cancel-check-in")
def cancel_check_in(
    call: Invocation, check_in: Annotated[str, typer.Argument(help="Its id.", metavar="CHECK_IN")]
) -> None:
    """Cancel a check-in that has not fired."""
    done = MemoryApi(call.api.http).cancel_check_in(check_in)
    call.answer(f"The check-in is {done.state.value}.")


@api_command(app, "goals")
def list_goals(call: Invocation, page: OnePageOption = 1) -> None:
    """List goals, the latest changed first; candidates are suggestions of skills."""
    found = MemoryApi(call.api.http).goals(page)
    table = listing("id", "state", "title", "reason", whole="id")
    for one in found.goals:
        table.add_row(one.goal_id, one.state.value, escape(one.title), escape(one.reason))
    answer_list(call, found, table, "No goals. The skill propose-small-adjustments suggests some.")


@api_command(app, "move-goal")
def move_goal(
    call: Invocation,
    goal: Annotated[str, typer.Argument(help="Its id.", metavar="GOAL")],
    state: Annotated[GoalState, typer.Argument(help="What it becomes.", metavar="STATE")],
) -> None:
    """Take a goal up, complete or drop it."""
    done = MemoryApi(call.api.http).move_goal(goal, MoveGoalRequest(state=state))
    call.answer(f"The goal is {done.state.value}.")


@api_command(app, "erase")
def erase(
    call: Invocation,
    memory: Annotated[str, typer.Argument(help="Id of a memory, an event or a fact.", metavar="ID")],
) -> None:
    """Erase a memory, an event or a fact for good."""
    done = MemoryApi(call.api.http).erase(memory)
    call.answer(f"The {done.kind.value} is erased.")


@api_command(app, "answer")
def answer(
    call: Invocation,
    item: Annotated[str, typer.Argument(help="Id of the question.", metavar="ITEM")],
    words: Annotated[str, typer.Argument(help="What you answer.", metavar="ANSWER")],
) -> None:
    """Answer a question of a skill, which goes on with it."""
    try:
        request = AnswerRequest(answer=words)
    except ValidationError:
        raise NothingToDo("An answer has 1 to 4000 characters.") from None
    done = MemoryApi(call.api.http).answer(item, request)
    call.answer(f"The question is {done.state.value}; the skill goes on with it.")
