"""Options of the commands that list what one person owns: page, order and words, which the server cuts the list by."""

from typing import Annotated

import typer
from rich.table import Table

from cli.platform.invocation import Invocation
from contracts.platform.lists import Page

PageOption = Annotated[
    int | None, typer.Option(min=1, help="Which page; the whole list where none is named.")
]
PageSizeOption = Annotated[int | None, typer.Option(min=1, max=100, help="Entries a page.")]
OnePageOption = Annotated[int, typer.Option(min=1, help="Which page.")]
"""Of a list that is always answered page by page."""

SortOption = Annotated[
    str | None,
    typer.Option(help="A field to sort by, e.g. created_at; with - before it the other way round."),
]
SearchOption = Annotated[str | None, typer.Option(help="Only entries that hold these words.")]

ListQuery = dict[str, str | int | None]


def list_query(
    page: int | None, page_size: int | None, sort: str | None, search: str | None, **equal: str | None
) -> ListQuery:
    """The query of a list; what is ``None`` is not sent. ``equal`` are filters by the name of a field."""
    return {"page": page, "page_size": page_size, "sort": sort, "q": search, **equal}


def answer_list(
    call: Invocation, found: Page, table: Table, otherwise: str, query: ListQuery | None = None
) -> None:
    """End a command with one page of a list, and which page follows; without entries it says why.

    ``otherwise`` is said of a list that is empty: what to do about it. ``query`` is what was asked for.
    """
    if table.row_count:
        call.answer(table, *left_over(found))
    else:
        call.answer(none_of(found, query or {}, otherwise))


def none_of(found: Page, query: ListQuery, otherwise: str) -> str:
    """What to say of a list without entries: nothing on this page, nothing that matches, or ``otherwise``."""
    if found.total:
        return f"Nothing on this page; {found.total} in all."
    asked = {name for name, value in query.items() if value is not None} - {"page", "page_size", "sort"}
    return "Nothing matches." if asked else otherwise


def left_over(found: Page) -> list[str]:
    """A line about the pages that follow, if there are any."""
    more = found.total > found.page * found.page_size
    return [f"{found.total} in all; the next page: --page {found.page + 1}"] if more else []
