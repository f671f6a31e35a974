"""Queries typed into sqlite3: the file that a ``SELECT`` writes, its columns, filter and order, and the rows meant.

Only queries on one table that was imported from a file are read; of another one nothing is known.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from domain.learning.commands.command_line import name_set
from domain.learning.commands.shell_grammar import UnreadableCommand, split_commands
from domain.learning.conditions.orders import SEPARATORS

_CLIENTS = name_set("sqlite3 duckdb")
_OUTPUT = re.compile(r"\.(output|once)(?:\s+(?:-\w+\s+)*[\"']?([^\s\"']+)[\"']?)?\s*$")
_IMPORT = re.compile(
    r"\.import\s+(?:--?(?:csv|v|schema \w+|skip \d+)\s+)*[\"']?([^\s\"']+)[\"']?\s+[\"']?(\w+)[\"']?"
)
_SELECT = re.compile(
    r"SELECT\s+(?P<distinct>DISTINCT\s+)?(?P<columns>.+?)\s+FROM\s+[\"']?(?P<table>\w+)[\"']?"
    r"(?:\s+WHERE\s+(?P<where>.+?))?(?:\s+GROUP\s+BY\s+(?P<group>.+?))?(?P<having>\s+HAVING\s+.+?)?"
    r"(?:\s+ORDER\s+BY\s+(?P<order>.+?))?(?P<limit>\s+LIMIT\s+.+)?",
    re.IGNORECASE | re.DOTALL,
)
_COLUMN = re.compile(
    r"(?:CAST\(\s*(\w+)\s+AS\s+\w+\s*\)|[\"`]?(\w+)[\"`]?)(?:\s+(?:AS\s+)?[\"`]?(\w+)[\"`]?)?", re.I
)
_NAMED = re.compile(r"\bAS\s+[\"`]?(\w+)[\"`]?$", re.IGNORECASE)
_FILTER = re.compile(
    r"(?:CAST\(\s*(?P<cast>\w+)\s+AS\s+\w+\s*\)|[\"`]?(?P<column>\w+)[\"`]?)\s*(?P<sign><=|>=|<>|!=|==|=|<|>)\s*"
    r"(?:'(?P<text>[^']*)'|(?P<number>-?\d+(?:\.\d+)?))",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SIGNS = {"==": "=", "!=": "<>"}
IN_WORDS = {
    "=": "is",
    "<>": "is not",
    "<": "is less than",
    "<=": "is at most",
    ">": "is more than",
    ">=": "is at least",
}
"""What stands between a column and a value in a sentence."""


_Row = tuple[float | str, ...]


@dataclass(frozen=True)
class Query:
    """A ``SELECT`` that writes a file: what its columns are called, and what is read of its other parts."""

    output: str
    source: str
    """The file that its table was imported from; empty where that is not known."""
    columns: tuple[str, ...]
    plain: Mapping[int, str]
    """The columns that are one of the table, by their place from 1."""
    filters: tuple[tuple[str, str, str], ...] | None
    """Column, sign and value of each; ``None`` where one is of another form, or where rows are left out otherwise."""
    order: tuple[tuple[int, bool], ...]
    """The columns that the rows are ordered by, with whether they fall; empty where one is not in the result."""
    is_distinct: bool
    may_be_empty: bool

    @property
    def argument(self) -> str:
        """What a condition needs of it; empty where the rows that are meant are not known."""
        if not (self.source and self.plain and self.filters is not None):
            return ""
        plain = {str(place): name for place, name in self.plain.items()}
        known = {
            "columns": plain,
            "of": len(self.columns),
            "where": self.filters,
            "distinct": self.is_distinct,
        }
        return json.dumps(known, ensure_ascii=False, separators=(",", ":"))


def queries_in(commands: Sequence[str]) -> tuple[Query, ...]:
    """The queries of all commands that write a file, in their order."""
    tables: dict[str, str] = {}
    return tuple(query for command in commands for query in _queries(command, tables))


def rows_selected(argument: str, source: str) -> Counter[_Row] | None:
    """The rows that a query is about, by its plain columns; ``None`` where the source has no such columns."""
    known = json.loads(argument)
    rows = _rows(source)
    names = rows[0] if rows else []
    wanted = [*known["columns"].values(), *(column for column, _, _ in known["where"])]
    if not {*wanted} <= {*names}:
        return None
    records = [dict(zip(names, row, strict=False)) for row in rows[1:]]
    kept = [one for one in records if all(_fits(one.get(c, ""), s, v) for c, s, v in known["where"])]
    found = Counter(tuple(_value(one.get(c, "")) for c in known["columns"].values()) for one in kept)
    return Counter(dict.fromkeys(found, 1)) if known["distinct"] else found


def rows_given(argument: str, result: str) -> Counter[_Row] | None:
    """The rows of a result by the plain columns of its query, without a header of these names; None for no table."""
    known = json.loads(argument)
    places = [int(place) for place in known["columns"]]
    rows = _rows(result, known["of"])
    if any(len(row) != known["of"] for row in rows):
        return None
    if rows and all(
        rows[0][place - 1].lower() == name.lower()
        for place, name in zip(places, known["columns"].values(), strict=True)
    ):
        rows = rows[1:]
    found = Counter(tuple(_value(row[place - 1]) for place in places) for row in rows)
    return Counter(dict.fromkeys(found, 1)) if known["distinct"] else found


def with_filters(argument: str, changed: Mapping[str, str]) -> str:
    """The argument with other values of its filters."""
    known = json.loads(argument)
    known["where"] = [[column, sign, changed.get(value, value)] for column, sign, value in known["where"]]
    return json.dumps(known, ensure_ascii=False, separators=(",", ":"))


def values_of(argument: str) -> list[str]:
    """The values that the filters compare with."""
    return [value for _, _, value in json.loads(argument)["where"]]


def in_words(argument: str, source: str) -> str:
    """What a result of the query holds, as a predicate."""
    known = json.loads(argument)
    columns = list(known["columns"].values())
    said = " and ".join(filter(None, (", ".join(columns[:-1]), columns[-1])))
    where = " and ".join(f"{column} {IN_WORDS[sign]} {value}" for column, sign, value in known["where"])
    once = ", each once" if known["distinct"] else ""
    return f"has the {said} of every row of {source}{f' where {where}' if where else ''}{once}, and no other"


def _queries(command: str, tables: dict[str, str]) -> Iterator[Query]:
    try:
        simple = split_commands(command)
    except UnreadableCommand:
        return
    for one in simple:
        if not one.words or one.words[0].rpartition("/")[2] not in _CLIENTS:
            continue
        written = next((r.target for r in one.redirections if r.writes), "")
        for text in (*one.words[1:], one.here_text or ""):
            yield from _of_text(text, written, tables)


def _of_text(text: str, written: str, tables: dict[str, str]) -> Iterator[Query]:
    target, once, statement = written, "", ""
    for line in text.splitlines():
        if not statement and line.lstrip().startswith("."):
            if imported := _IMPORT.match(line.strip()):
                tables[imported[2].lower()] = imported[1]
            elif output := _OUTPUT.match(line.strip()):
                name = "" if output[2] == "stdout" else output[2] or ""
                target, once = (target, name) if output[1] == "once" else (name or written, once)
            continue
        statement = f"{statement}\n{line}".strip()
        if statement.endswith(";") or line is text.splitlines()[-1]:
            found = _SELECT.fullmatch(statement.rstrip("; \n"))
            if found and (once or target):
                yield _query(found, once or target, tables)
            once, statement = "", ""


def _query(found: re.Match[str], output: str, tables: Mapping[str, str]) -> Query:
    written = _split(found["columns"], ",")
    plain: dict[int, str] = {}
    names: list[str] = []
    for place, one in enumerate(written, start=1):
        column, named = _COLUMN.fullmatch(one), _NAMED.search(one)
        names.append(named[1] if named else column[2] if column and column[2] else one)
        # A value that is called otherwise in the result is one of the table's all the same.
        if column:
            plain[place] = column[1] or column[2]
    conditions = _split(found["where"] or "", r"\sAND\s")
    filters = [_FILTER.fullmatch(one) for one in conditions]
    is_known = all(filters) and not (found["having"] or found["limit"])
    is_summed = any(re.match(r"(?i)(?:count|sum|avg|min|max|total|group_concat)\(", one) for one in written)
    return Query(
        output=output,
        source=tables.get(found["table"].lower(), ""),
        columns=tuple(names),
        plain=plain,
        filters=tuple(_filter(one) for one in filters if one) if is_known else None,
        order=tuple(_order(found["order"] or "", names)),
        is_distinct=bool(found["distinct"] or found["group"]),
        may_be_empty=bool(found["where"] or found["having"]) and not (is_summed and not found["group"]),
    )


def _filter(one: re.Match[str]) -> tuple[str, str, str]:
    value = one["number"] if one["text"] is None else one["text"]
    return one["cast"] or one["column"], _SIGNS.get(one["sign"], one["sign"]), value


def _order(order: str, names: Sequence[str]) -> list[tuple[int, bool]]:
    found: list[tuple[int, bool]] = []
    for one in _split(order, ","):
        term = re.fullmatch(r"[\"`]?(\w+)[\"`]?(?:\s+(ASC|DESC))?", one, re.IGNORECASE)
        if term is None:
            return []
        place = int(term[1]) if term[1].isdigit() else names.index(term[1]) + 1 if term[1] in names else 0
        if not place:
            return []
        found.append((place, (term[2] or "").upper() == "DESC"))
    return found


def _split(text: str, separator: str) -> list[str]:
    """The pieces of a text at a separator outside of brackets and quotes."""
    pieces, depth, low = list[str](), 0, 0
    quoted = ""
    matches = {match.start(): match.end() for match in re.finditer(separator, text, re.IGNORECASE)}
    for at, sign in enumerate(text):
        if quoted or sign in "'\"":
            quoted = "" if sign == quoted else quoted or sign
        depth += (sign == "(") - (sign == ")")
        if at in matches and depth == 0 and not quoted and at >= low:
            pieces.append(text[low:at])
            low = matches[at]
    return [one for piece in (*pieces, text[low:]) if (one := " ".join(piece.split()))]


def _rows(text: str, width: int = 0) -> list[list[str]]:
    """The rows of a text, divided by the sign that gives ``width`` fields, or most of them in the first row."""
    lines = text.splitlines()
    tables = [list(csv.reader(lines, delimiter=mark)) for mark in SEPARATORS.values() if mark]
    fitting = (table for table in tables if width and all(len(row) == width for row in table))
    return next(fitting, max(tables, key=lambda table: len(table[0]) if table else 0))


def _fits(given: str, sign: str, wanted: str) -> bool:
    one, other = _value(given), _value(wanted)
    if isinstance(one, float) and isinstance(other, float):
        less, equal = one < other, one == other
    else:
        less, equal = given < wanted, given == wanted
    return {
        "=": equal,
        "<>": not equal,
        "<": less,
        "<=": less or equal,
        ">": not (less or equal),
        ">=": not less,
    }[sign]


def _value(text: str) -> float | str:
    return float(text) if _NUMBER.fullmatch(text.strip()) else text
