"""Programs, files, folders and hosts of a command line; unwraps ``sudo``, ``xargs``, ``bash -c``, ``find -exec``.

The risk of a command is classified by `command_safety`.
"""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from domain.learning.commands.shell_grammar import (
    Redirection,
    SimpleCommand,
    UnreadableCommand,
    split_commands,
)


def name_set(names: str) -> frozenset[str]:
    """A set of names from a text separated by white space."""
    return frozenset(names.split())


SHELLS = name_set("sh bash dash zsh ksh fish")
BUILTINS = name_set(
    """. : [ [[ ]] alias bg bind break builtin caller cd command compgen complete continue declare dirs
    disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local
    logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend
    test time times trap true type typeset ulimit umask unalias unset wait"""
)
"""Builtins and keywords of bash: no program is needed for them."""

_MAX_SCRIPTS = 4
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[.*?\])?\+?=.*", re.DOTALL)
_HIDDEN_IN_SCRIPT = re.compile(r"[$`]")
_HIDDEN_SCRIPT = re.compile(r"\$\w+|\$\{[^{}]*\}|\$\([^()]*\)|`[^`]*`")
_ONLY_LOOKS_UP = re.compile(r"-p?[vV]")
_WATCH_OPTIONS = frozenset({"-n", "--interval", "-q", "--equexit"})
# Wrapper: its options that take a value, and how many operands stand before the wrapped program.
_WRAPPERS: dict[str, tuple[frozenset[str], int]] = {
    name: (name_set(options), operands)
    for name, options, operands in (
        ("sudo", "-u -g -U -C -h -p -r -t -T -D -R --user --group", 0),
        ("doas", "-u -C", 0),
        ("env", "-u -C --unset --chdir", 0),
        ("nice", "-n", 0),
        ("ionice", "-c -n", 0),
        ("nohup", "", 0),
        ("setsid", "", 0),
        ("stdbuf", "-i -o -e", 0),
        ("time", "-f -o", 0),
        ("timeout", "-k -s --signal --kill-after", 1),
        ("flock", "-w -E", 1),
        ("chroot", "", 1),
        ("xargs", "-I -n -P -L -d -E -s -a", 0),
        ("command", "", 0),
        ("builtin", "", 0),
        ("exec", "-a", 0),
    )
}
_PRIVILEGE = frozenset({"sudo", "doas", "su", "pkexec"})


@dataclass(frozen=True)
class Call:
    """One program with its arguments; ``program`` has no folder, and is empty for a redirection alone."""

    program: str
    arguments: tuple[str, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    path: str = ""
    """The program as it was written."""
    is_privileged: bool = False
    """Whether it runs with another user's rights."""
    is_given_more: bool = False
    """Whether further arguments come from data (``xargs``, ``find -exec``)."""
    runs_unseen_text: bool = False
    """Whether it runs a script that is not part of the command line."""
    is_fed: bool = False
    """Whether a pipe, a here-document or a here-string gives its standard input."""
    is_expanded: bool = False
    """Whether the shell puts something into its words."""
    ends_loop: bool = False
    """Whether its redirections are those of a loop."""
    script: str | None = None
    """The text of a shell that it is given and runs, where that can be seen: its calls come next."""

    @property
    def operands(self) -> tuple[str, ...]:
        """The arguments without options."""
        if "--" in self.arguments:
            cut = self.arguments.index("--")
            return (*(a for a in self.arguments[:cut] if not a.startswith("-")), *self.arguments[cut + 1 :])
        return tuple(a for a in self.arguments if not a.startswith("-") or a == "-")

    def has_flag(self, letter: str, *long: str) -> bool:
        """Whether the short flag ``letter`` (alone or in a bundle) or one of the ``long`` ones is given."""
        bundled = re.compile(rf"-[A-Za-z0-9]*{re.escape(letter)}[A-Za-z0-9]*")
        return any(bundled.fullmatch(a) or a.partition("=")[0] in long for a in self.arguments)


def calls_in(command: str) -> tuple[Call, ...]:
    """Every call that ``command`` makes, a wrapper before what it wraps.

    Raises:
        UnreadableCommand: the command cannot be split.
    """
    return tuple(_calls(command, 0))


def _calls(text: str, depth: int) -> Iterator[Call]:
    if depth > _MAX_SCRIPTS:
        raise UnreadableCommand("the command is nested too deep to be judged")
    for simple in split_commands(text):
        yield from _unwrapped(simple, depth)


def _unwrapped(simple: SimpleCommand, depth: int) -> Iterator[Call]:
    calls, words = _wrappers(simple)
    name = _name_of(words[0]) if words else ""
    script = _script_of(name, words, simple) if words else None
    opened = script if script and not _HIDDEN_SCRIPT.fullmatch(script) else None
    if words:
        calls.append(
            Call(
                name,
                tuple(words[1:]),
                path=words[0],
                is_privileged=name in _PRIVILEGE or any(one.program in _PRIVILEGE for one in calls),
                is_given_more=any(one.program == "xargs" for one in calls),
                runs_unseen_text=script is not None
                and (script == "" or _HIDDEN_IN_SCRIPT.match(script) is not None),
                is_fed=simple.fed_by_pipe or simple.here_text is not None,
                is_expanded=simple.is_expanded,
                script=opened,
            )
        )
    elif simple.redirections and not calls:
        calls.append(Call("", ends_loop=simple.ends_loop))
    # What a script gives is that of its last command.
    behind = tuple(r for r in simple.redirections if r.writes) if opened is not None else ()
    for position, call in enumerate(calls):
        kept = tuple(r for r in simple.redirections if r not in behind) if position == 0 else ()
        yield replace(call, redirections=kept)
    if opened is not None:
        is_fed = calls[-1].is_fed and opened != simple.here_text
        for position, call in enumerate(_calls(opened, depth + 1)):
            yield replace(call, is_fed=True) if is_fed and position == 0 else call
    if behind:
        yield Call("", redirections=behind)
    if name == "find":
        yield from _found(words, depth)


def _wrappers(simple: SimpleCommand) -> tuple[list[Call], list[str]]:
    """The calls of wrappers, and the words of what they wrap."""
    words = list(simple.words)
    calls: list[Call] = []
    while True:
        while words and _ASSIGNMENT.fullmatch(words[0]):
            words.pop(0)
        name = _name_of(words[0]) if words else ""
        if name not in _WRAPPERS:
            return calls, words
        inner = _behind_wrapper(name, words)
        privileged = name in _PRIVILEGE or any(one.is_privileged for one in calls)
        calls.append(
            Call(name, tuple(words[1 : len(words) - len(inner)]), path=words[0], is_privileged=privileged)
        )
        words = ["sh", *inner] if name == "flock" and inner[:1] == ["-c"] else inner


def _name_of(word: str) -> str:
    return posixpath.basename(word.rstrip("/")) or word


def _behind_wrapper(name: str, words: list[str]) -> list[str]:
    if name == "command" and any(map(_ONLY_LOOKS_UP.fullmatch, words[1:2])):
        return []
    options, operands = _WRAPPERS[name]
    return _behind_options(words, options, takes_assignments=name in ("env", "sudo"))[operands:]


def _behind_options(
    words: list[str], with_value: frozenset[str], *, takes_assignments: bool = False
) -> list[str]:
    at = 1
    while at < len(words):
        word = words[at]
        if word == "--":
            return words[at + 1 :]
        if word.startswith("-") and word != "-":
            at += 2 if word in with_value else 1
        elif takes_assignments and _ASSIGNMENT.fullmatch(word):
            at += 1
        else:
            break
    return words[at:]


def _script_of(name: str, words: list[str], simple: SimpleCommand) -> str | None:
    """The shell script that a command runs; empty when it cannot be seen; None when there is none."""
    if name == "eval":
        return " ".join(words[1:])
    if name == "watch":
        return " ".join(_behind_options(words, _WATCH_OPTIONS)) or None
    if name == "trap":
        script, *signals = _behind_options(words, frozenset()) or [""]
        return script if signals and script not in ("", "-") else None
    inputs = (r.target for r in simple.redirections if r.operator == "<")
    if name in SHELLS | {"source", "."} and any(one.startswith("<(") for one in (*words[1:], *inputs)):
        return ""
    return _shell_script(words, simple) if name in SHELLS else None


def _shell_script(words: list[str], simple: SimpleCommand) -> str | None:
    for position, word in enumerate(words[1:], start=1):
        if re.fullmatch(r"-[a-z]*c[a-z]*", word):
            return words[position + 1] if position + 1 < len(words) else ""
        if not word.startswith(("-", "+")):
            return None
    if simple.here_text is not None:
        return simple.here_text
    return "" if simple.fed_by_pipe else None


def _found(words: list[str], depth: int) -> Iterator[Call]:
    for position, word in enumerate(words):
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            inner: list[str] = []
            for following in words[position + 1 :]:
                if following in (";", "+"):
                    break
                inner.append(following)
            for call in _unwrapped(SimpleCommand(tuple(inner)), depth):
                given = tuple(a for a in call.arguments if a != "{}")
                yield replace(call, arguments=given, is_given_more=True)


_PATH_LIKE = re.compile(r"(?:[\w@%+.,-]+/)*[\w@%+,-][\w@%+.,-]*")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,8}$")
_FORMAT = re.compile(r"%(?:0\d+|\d)?[dsiu](?![A-Za-z0-9])|\+%")
"""What a name is made by: a number (page-%03d.txt), a date (+%F.txt)."""
_URL = re.compile(r"\b(?:https?|s?ftp)://([^\s/'\"]+)")


@dataclass(frozen=True)
class Part:
    """One program of a command line with its arguments and the files of its redirections.

    ``program`` is empty for redirections alone (``> file``), for those of a wrapper (``sudo … > file``), and for what
    a shell gives the script whose parts come next (``sh -c '…' sh file``).
    """

    program: str
    arguments: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    appends: bool = False
    is_fed: bool = False
    """Whether a pipe, a here-document or a here-string gives its standard input."""
    is_expanded: bool = False
    """Whether the shell puts something into its words."""
    is_wrapper: bool = False
    """Whether the redirections are those of the program that comes next."""
    ends_loop: bool = False
    """Whether the redirections are those of a loop."""


_UNREADABLE = (Part(""),)


@lru_cache(maxsize=2048)
def parts_of(command: str) -> tuple[Part, ...]:
    """The parts of ``command`` in order, without wrappers such as ``sudo`` and shells whose script can be seen.

    A line that bash would refuse has one part that names nothing (`is_unreadable`).
    """
    try:
        calls = calls_in(command)
    except UnreadableCommand:
        return _UNREADABLE
    parts = (_part(call) for call in calls)
    return tuple(p for p in parts if p.program or p.operands or p.reads or p.writes)


def is_unreadable(command: str) -> bool:
    """Whether bash would refuse the command, so that nothing is known of its programs and files."""
    return parts_of(command) is _UNREADABLE


def programs_in(command: str) -> tuple[str, ...]:
    """The programs that ``command`` calls, each once, in the order of their first call."""
    return tuple(dict.fromkeys(c.program for c in parts_of(command) if c.program))


def appends(command: str) -> bool:
    """Whether the command appends to a file with ``>>``, so that running it twice is not idempotent."""
    return any(c.appends for c in parts_of(command))


def named_paths(command: str, working_folder: str) -> tuple[str, ...]:
    """The files that ``command`` names, relative to the demonstration's folder, each once.

    Options, URLs, absolute paths and whatever leaves the folder are left out.
    """
    paths: dict[str, None] = {}
    for simple in parts_of(command):
        for word in (*simple.operands, *simple.reads, *simple.writes):
            path = _relative(word, working_folder)
            if path is not None:
                paths[path] = None
    return tuple(paths)


def sources_in(command: str, working_folder: str) -> tuple[str, ...]:
    """The files and folders that the last part of ``command`` works on, as `named_paths` names them.

    For commands that take their sources as operands (archives, digests, copies). The results are among them:
    the caller knows those.
    """
    commands = [c for c in parts_of(command) if c.operands]
    if not commands:
        return ()
    words = commands[-1].operands
    is_bundle = commands[-1].program in ("tar", "bsdtar") and commands[-1].arguments[0] == words[0]
    paths = (_within(w, working_folder) for w in (words[1:] if is_bundle else words))
    return tuple(dict.fromkeys(p for p in paths if p is not None))


_INTERPRETERS = re.compile(r"(?:python|perl|ruby|node|Rscript|lua|php|bash|sh|dash|zsh)(?:\d(?:\.\d+)?)?")
_SCRIPT_OPTIONS = {"awk": "-f", "gawk": "-f", "mawk": "-f", "sed": "-f", "jq": "-f", "make": "-f"}


def scripts_run(command: str, working_folder: str) -> tuple[str, ...]:
    """The files that ``command`` runs as programs, relative to the demonstration's folder.

    By their own path (``./report.sh``), as the first operand of an interpreter, sourced, or as a program file
    (``awk -f``).
    """
    try:
        calls = calls_in(command)
    except UnreadableCommand:
        return ()
    words: list[str] = []
    for call in calls:
        if "/" in call.path:
            words.append(call.path)
        runs_file = _INTERPRETERS.fullmatch(call.program) or call.program in ("source", ".")
        if runs_file and call.script is None:
            words.extend(call.operands[:1])
        option = _SCRIPT_OPTIONS.get(call.program)
        if option in call.arguments:
            words.extend(call.arguments[call.arguments.index(option) + 1 :][:1])
    found = (_within(word, working_folder) for word in words)
    return tuple(dict.fromkeys(path for path in found if path is not None))


def names_outside_path(command: str) -> bool:
    """Whether the command names a place outside the demonstration's folder, or may, as it cannot be read."""
    if is_unreadable(command):
        return True
    words = (w for c in parts_of(command) for w in (*c.operands, *c.reads, *c.writes))
    return any(w.startswith(("/", "~", "../")) and w != "/dev/null" for w in words)


def hosts_in(command: str) -> tuple[str, ...]:
    """The hosts of the URLs in ``command``, without user names and ports."""
    hosts = (m.group(1).rpartition("@")[2].partition(":")[0].lower() for m in _URL.finditer(command))
    return tuple(dict.fromkeys(h for h in hosts if h))


def looks_like_path(word: str) -> bool:
    """Whether a word reads as the name of a file rather than as a value or as a format of names."""
    named = _PATH_LIKE.fullmatch(word) and not _FORMAT.search(word)
    return bool(named) and ("/" in word or bool(_EXTENSION.search(word)))


def _part(call: Call) -> Part:
    outputs = [r for r in call.redirections if ">" in r.operator and r.target != "/dev/null"]
    outputs = [r for r in outputs if not r.target.isdigit() and r.target != "-"]
    wraps = call.program in _WRAPPERS or call.script is not None
    return Part(
        "" if wraps else call.program,
        () if wraps else call.arguments,
        _given_to_script(call) if wraps else call.operands,
        reads=tuple(r.target for r in call.redirections if r.operator == "<"),
        writes=tuple(r.target for r in outputs),
        appends=any(">>" in r.operator for r in outputs),
        is_fed=call.is_fed,
        is_expanded=call.is_expanded,
        is_wrapper=wraps,
        ends_loop=call.ends_loop,
    )


def _given_to_script(call: Call) -> tuple[str, ...]:
    """The operands that a shell gives to its script; none for other programs."""
    if call.program not in SHELLS or call.script not in call.arguments:
        return ()
    return call.arguments[call.arguments.index(call.script) + 1 :]


def _relative(word: str, working_folder: str) -> str | None:
    return _within(word, working_folder) if looks_like_path(word) else None


def _within(word: str, working_folder: str) -> str | None:
    if not _PATH_LIKE.fullmatch(word.rstrip("/")):
        return None
    path = posixpath.normpath(posixpath.join(working_folder or ".", word))
    return None if path.startswith(("/", "..")) or path == "." else path
