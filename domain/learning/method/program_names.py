"""Tells names within a program text (variables, columns, fields, labels) from the values that it holds.

Read by the signs of the language alone: what stands in a string, a pattern or a comment is a value, any other word is
a name. In sed, where everything is a pattern or a text, only labels are names.
"""

import posixpath
import re
from collections.abc import Mapping

from domain.learning.commands.command_line import name_set

_LANGUAGES: Mapping[str, frozenset[str]] = {
    "awk": name_set("awk gawk mawk nawk"),
    "sed": name_set("sed gsed"),
    "sql": name_set("sqlite3 psql mysql mariadb duckdb"),
    "jq": name_set("jq gojq"),
    "python": name_set("python python2 python3"),
}
_EXTENSIONS = {".awk": "awk", ".sed": "sed", ".sql": "sql", ".jq": "jq", ".py": "python"}
_QUOTED = r'"(?:\\.|[^"\\\n])*"'
_COMMENT = r"\#[^\n]*"
_PATTERN = r"(?:(?<=[(,{};!&|~=\n])|(?<=[(,{};!&|~=\n] )|\A)/(?:\\.|\[[^\]]*\]|[^/\\\n])+/"
_LONG_STRINGS = r'"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\''
_IN_SQL = r"'(?:''|[^'])*'|--[^\n]*|/\*.*?\*/|(?:=|<>|(?i:\blike|\bin)\s*\()\s*\"[^\"\n]*\""
_STRINGS = {
    "awk": f"{_QUOTED}|{_PATTERN}|{_COMMENT}",
    "jq": f"{_QUOTED}|{_COMMENT}",
    "python": rf"{_LONG_STRINGS}|{_QUOTED}|'(?:\\.|[^'\\\n])*'|{_COMMENT}",
    "sql": _IN_SQL,
}
"""What holds values: strings, patterns, comments; a name in quotes of SQL is a text where something is compared."""
_VALUES = {language: re.compile(pattern, re.DOTALL) for language, pattern in _STRINGS.items()}
_NAME = re.compile(r"[^\W\d]\w*")
_LABEL = re.compile(r"(?:\A|[;{}\n])[ \t]*(?:[\d$,~!]|/(?:\\.|[^/\\\n])*/)*[ \t]*[:btT][ \t]*\Z")
_AFTER_LABEL = re.compile(r"[ \t]*(?:[;}\n]|\Z)")
_IMPORT = re.compile(r"(?:\A|\n)[ \t]*\.import[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"']+)[ \t]+[\"']?\w*\Z")
_DOT_COMMAND = re.compile(r"(?:\A|\n)[ \t]*\.[a-z]+[ \t][^\n]*\Z")


def language_of(program: str) -> str | None:
    """The language of the texts that a program is given; ``None`` where it is none that is known here."""
    return next((language for language, programs in _LANGUAGES.items() if program in programs), None)


def language_of_file(path: str) -> str | None:
    """The language of a program file, by its extension."""
    return _EXTENSIONS.get(posixpath.splitext(path)[1].lower())


def may_be_name(value: str) -> bool:
    """Whether a value looks like a name of a program."""
    return _NAME.fullmatch(value) is not None


def is_name(language: str, text: str, start: int, end: int) -> bool:
    """Whether what stands there in a program text is a name, or a piece of one, and no value."""
    if language == "sed":
        return _LABEL.search(text, 0, start) is not None and _AFTER_LABEL.match(text, end) is not None
    if language == "sql" and _DOT_COMMAND.search(text, 0, start):
        return _IMPORT.search(text, 0, start) is not None
    return not any(one.start() < start and end <= one.end() for one in _VALUES[language].finditer(text))
