"""Results that may rightly be empty: what a filter or a comparison prints, where nothing fits or nothing is missing."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from domain.learning.commands.command_line import name_set
from domain.learning.commands.shell_grammar import SimpleCommand, UnreadableCommand, split_commands
from domain.learning.conditions.queries import queries_in

_FILTERS = name_set("grep egrep fgrep zgrep rg comm diff find")
_COUNTING = name_set("wc echo printf date sha256sum md5sum tar")
_AWKS = name_set("awk gawk mawk nawk")
_MOVING = name_set("mv cp")
_CHOOSES = re.compile(r"==|!=|[<>~]|\bif\b|&&|/[^/]+/")
_ALWAYS_PRINTS = re.compile(r"\b(?:BEGIN|END)\b|NR\s*==\s*1|NR\s*<\s*2|FNR\s*==\s*1")
_CHOOSING_SCRIPT = re.compile(r"\bfor\b[^\n]*\bin\b[^\n]*\bif\b|\bcontinue\b|\bWHERE\b", re.IGNORECASE)
_UNKNOWN = re.compile(r"\$\{[^}]*\}|\$\w+|\$\([^()]*\)|`[^`]*`")
_HERE = re.compile(r"^(?:\.{1,2}/)+")
_SCRIPTS = re.compile(r"python3?|perl|ruby|node|bash|sh|Rscript")


def may_be_empty(path: str, commands: Sequence[str], spoken: str = "") -> bool:
    """Whether the commands choose what goes into the file, so that nothing may be left.

    ``spoken`` is the text of the programs that the commands run.
    """
    written = [query for query in queries_in(commands) if _names(query.output, path)]
    if written:
        return written[-1].may_be_empty
    for number in range(len(commands) - 1, -1, -1):
        try:
            simple = split_commands(commands[number])
        except UnreadableCommand:
            continue
        for place in range(len(simple) - 1, -1, -1):
            one = simple[place]
            if any(r.writes and _names(r.target, path) for r in one.redirections):
                return _chooses(_pipeline(simple, place), commands[:number], spoken)
            if one.words and one.words[0] in _MOVING and _names(one.words[-1], path):
                return any(may_be_empty(word, commands[:number], spoken) for word in one.words[1:-1])
            if one.words and _SCRIPTS.fullmatch(one.words[0]) and any(_names(w, path) for w in one.words[1:]):
                return _CHOOSING_SCRIPT.search(spoken) is not None
    return False


def _pipeline(simple: Sequence[SimpleCommand], last: int) -> Sequence[SimpleCommand]:
    first = last
    while first > 0 and simple[first].fed_by_pipe:
        first -= 1
    return simple[first : last + 1]


def _chooses(stages: Sequence[SimpleCommand], before: Sequence[str], spoken: str) -> bool:
    """Whether a pipeline may print nothing: it chooses, and nothing after that prints whatever it is given."""
    empty = any(
        may_be_empty(word, before, spoken) for word in stages[0].words[1:] if not word.startswith("-")
    )
    for stage in stages:
        program = stage.words[0].rpartition("/")[2] if stage.words else ""
        words = stage.words[1:]
        if program in _COUNTING or (
            program in _FILTERS and any(re.fullmatch(r"-[a-zA-Z]*c", w) for w in words)
        ):
            empty = False
        elif program in _AWKS:
            script = next((word for word in words if "{" in word or _CHOOSES.search(word)), "")
            empty = not _ALWAYS_PRINTS.search(script) and (empty or _CHOOSES.search(script) is not None)
        elif program in _FILTERS or (
            (program == "join" and any(w.startswith("-v") for w in words))
            or (program == "uniq" and any(re.fullmatch(r"-[a-zA-Z]*[duD]", w) for w in words))
            or (program == "sed" and "-n" in words)
        ):
            empty = True
    return empty


def _names(word: str, path: str) -> bool:
    pattern = _HERE.sub("", _UNKNOWN.sub("*", word))
    return bool(pattern.strip("*")) and (fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}"))
