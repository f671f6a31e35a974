"""Pages of rows, newest first."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, func, select

DEFAULT_PAGE_SIZE = 25
MAX_PAGE_SIZE = 100


@dataclass(frozen=True)
class PageRequest:
    """Which page is wanted; pages count from 1."""

    page: int = 1
    page_size: int = DEFAULT_PAGE_SIZE


@dataclass(frozen=True)
class PageOfRows:
    """One page and how many rows there are in all."""

    rows: tuple[Any, ...]
    total: int


def fetch_page(connection: Connection, query: Select[*tuple[Any, ...]], wanted: PageRequest) -> PageOfRows:
    """Runs an ordered query for one page."""
    total = connection.scalar(select(func.count()).select_from(query.order_by(None).subquery()))
    rows = connection.execute(
        query.limit(wanted.page_size).offset((wanted.page - 1) * wanted.page_size)
    ).all()
    return PageOfRows(rows=tuple(rows), total=total or 0)
