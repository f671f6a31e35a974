"""Guesses of conditions about the result of a query in a database: its columns, its rows, and their order."""

import posixpath
from collections.abc import Iterator
from itertools import product

from contracts.learning.evidence import ConditionKind, ProofCondition
from domain.learning.conditions.condition_wording import condition
from domain.learning.conditions.conditions import finds_nothing, lines_of, objection
from domain.learning.conditions.file_conditions import Work
from domain.learning.conditions.orders import SEPARATORS, fields_of
from domain.learning.conditions.queries import Query, queries_in
from domain.learning.conditions.sort_orders import SortKey, SortOrder

_KINDS = ("floats", "text")
_LONGEST = 400


def query_conditions(path: str, work: Work) -> Iterator[ProofCondition]:
    """What follows from the last query that writes the file."""
    text = work.after.text(path) or ""
    written = [one for one in queries_in(work.commands) if posixpath.normpath(one.output) == path]
    if not written or not text.strip():
        return
    query, lines = written[-1], lines_of(text)
    separator = next((s for s in SEPARATORS if len(fields_of(lines[0], s)) == len(query.columns) > 1), "")
    header = [name.lower() for name in fields_of(lines[0], separator or "comma")]
    has_header = header == [name.lower() for name in query.columns]
    if has_header:
        yield condition(ConditionKind.HOLDS_TEXT, path, argument=lines[0][:_LONGEST])
    if 0 < len(query.argument) <= _LONGEST:
        rows = condition(ConditionKind.SELECTS, path, other=query.source, argument=query.argument)
        if not finds_nothing(rows, work.before, work.after):
            yield rows
    yield from _ordered(path, query, separator or "comma", int(has_header), work)


def _ordered(path: str, query: Query, separator: str, header: int, work: Work) -> Iterator[ProofCondition]:
    """The order by several columns; one by a single column is guessed from the lines."""
    if len(query.order) < 2:
        return
    for kinds in product(_KINDS, repeat=len(query.order)):
        keys = tuple(
            SortKey(place, place, kind, falls)
            for (place, falls), kind in zip(query.order, kinds, strict=True)
        )
        order = SortOrder(separator, keys, header)
        one = condition(ConditionKind.SORTED, path, argument=order.argument)
        if objection(one, work.before, work.after) is None:
            yield one
            return
