"""Finding rows by the words of what is in their JSON, on SQLite and PostgreSQL alike."""

from collections.abc import Sequence

from sqlalchemy import Column, ColumnElement, Connection, and_, cast, func, literal
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import Text

MAX_WORDS = 10
"""Words of a search beyond these are not looked at."""


def containing(
    connection: Connection, column: Column[str], fields: Sequence[str], search: str
) -> ColumnElement[bool]:
    """That every word of ``search`` is in one of the JSON's ``fields``, each named by its path with dots.

    Letters of ASCII match in either case; whether others do is up to the database. A list is searched as it
    is written.
    """
    parts = [func.coalesce(_text_at(connection, column, field), "") for field in fields]
    whole: ColumnElement[str] = parts[0]
    for part in parts[1:]:
        whole = whole.concat(" ").concat(part)
    words = search.casefold().split()[:MAX_WORDS]
    return and_(literal(True), *(func.lower(whole).contains(word, autoescape=True) for word in words))


def _text_at(connection: Connection, column: Column[str], field: str) -> ColumnElement[str]:
    if connection.dialect.name == "sqlite":
        return cast(func.json_extract(column, f"$.{field}"), Text)
    return func.jsonb_extract_path_text(cast(column, JSONB), *field.split("."))
