"""``apprentice categories``: groups of abilities, proposals and more."""

from typing import Annotated

import typer
from rich.text import Text

from cli.platform.invocation import Invocation, NothingToDo, api_command
from cli.platform.list_options import (
    PageOption,
    PageSizeOption,
    SearchOption,
    SortOption,
    answer_list,
    list_query,
)
from cli.platform.output import listing
from contracts.abilities.categories import (
    DEFAULT_COLOR,
    AssignItemRequest,
    Category,
    CategoryItemKind,
    CategoryRequest,
)

app = typer.Typer(no_args_is_help=True, help="Group abilities, proposals and more.")

_Named = Annotated[str, typer.Argument(help="The category's title or id.", metavar="CATEGORY")]
_Color = Annotated[str, typer.Option(help="As six hexadecimal digits, e.g. #2563EB.")]
_Kind = Annotated[CategoryItemKind, typer.Option(help="What the item is.")]
_Item = Annotated[str, typer.Argument(help="The item's id.", metavar="ITEM")]


@api_command(app, "list")
def list_categories(
    call: Invocation,
    page: PageOption = None,
    page_size: PageSizeOption = None,
    sort: SortOption = None,
    search: SearchOption = None,
) -> None:
    """List your categories."""
    query = list_query(page, page_size, sort, search)
    found = call.api.categories.categories(**query)
    table = listing("category", "title", "color", whole="category")
    for category in found.categories:
        table.add_row(category.category_id, Text(category.title), Text(category.color, style=category.color))
    answer_list(call, found, table, "No categories yet. Next: `apprentice categories create TITLE`.", query)


@api_command(app, "create")
def create(
    call: Invocation,
    title: Annotated[str, typer.Argument(help="At most 80 characters.")],
    color: _Color = DEFAULT_COLOR,
) -> None:
    """Make a category."""
    made = call.api.categories.create(CategoryRequest(title=title, color=color))
    call.answer(
        Text(f"Category {made.title} is there. Next: `apprentice categories assign '{made.title}' …`.")
    )


@api_command(app, "change")
def change(
    call: Invocation,
    category: _Named,
    title: Annotated[str | None, typer.Option(help="The new title.")] = None,
    color: Annotated[str | None, typer.Option(help="The new colour.")] = None,
) -> None:
    """Give a category another title or colour."""
    known = _find(call, category)
    request = CategoryRequest(title=title or known.title, color=color or known.color)
    changed = call.api.categories.change(known.category_id, request)
    call.answer(Text(f"It is {changed.title} in {changed.color} now."))


@api_command(app, "delete")
def delete(call: Invocation, category: _Named) -> None:
    """Delete a category; what was in it stays."""
    known = _find(call, category)
    call.api.categories.delete(known.category_id)
    call.answer(Text(f"Category {known.title} is deleted; nothing that was in it is."))


@api_command(app, "items")
def items(call: Invocation, category: _Named) -> None:
    """List what is in a category."""
    known = _find(call, category)
    found = call.api.categories.items(known.category_id)
    if not found.items:
        call.answer(Text(f"Nothing is in {known.title} yet."))
        return
    table = listing("kind", "item", "since")
    for item in found.items:
        since = item.assigned_at.strftime("%Y-%m-%d %H:%M")
        table.add_row(item.item_kind.value, Text(item.item_id), since)
    call.answer(table)


@api_command(app, "assign")
def assign(
    call: Invocation, category: _Named, item: _Item, kind: _Kind = CategoryItemKind.LEARNED_ABILITY
) -> None:
    """Put an item into a category."""
    known = _find(call, category)
    call.api.categories.assign(known.category_id, AssignItemRequest(item_kind=kind, item_id=item))
    call.answer(Text(f"{item} is in {known.title}."))


@api_command(app, "remove")
def remove(
    call: Invocation, category: _Named, item: _Item, kind: _Kind = CategoryItemKind.LEARNED_ABILITY
) -> None:
    """Take an item out of a category."""
    known = _find(call, category)
    call.api.categories.remove(known.category_id, kind, item)
    call.answer(Text(f"{item} is not in {known.title} any more."))


def _find(call: Invocation, named: str) -> Category:
    # As the service, which takes no second title that differs in capitals alone.
    wanted = named.casefold()
    for category in call.api.categories.categories().categories:
        if wanted in (category.category_id, category.title.casefold()):
            return category
    raise NothingToDo(f"You have no category called {named}. Next: `apprentice categories list`.")
