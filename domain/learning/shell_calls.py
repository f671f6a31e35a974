"""The programs that a shell command calls: looks through ``sudo``, ``xargs``, ``bash -c`` and their like."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

from domain.learning.shell_grammar import split_commands
from domain.learning.shell_words import Redirection, SimpleCommand, UnreadableCommand


def name_set(names: str) -> frozenset[str]:
    """The names in a text that parts them by white space."""
    return frozenset(names.split())


SHELLS = name_set("sh bash dash zsh ksh fish")
BUILTINS = name_set(
    """. : [ [[ ]] alias bg bind break builtin caller cd command compgen complete continue declare dirs
    disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local
    logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend
    test time times trap true type typeset ulimit umask unalias unset wait"""
)
"""What bash does itself, so that no program needs to be there for it."""

_MAX_SCRIPTS = 4
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=.*", re.DOTALL)
_HIDDEN_IN_SCRIPT = re.compile(r"[$`]")
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
    """Whether it runs a text that stands nowhere in the command."""

    @property
    def operands(self) -> tuple[str, ...]:
        """The arguments that are no options."""
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
    words = list(simple.words)
    redirections = simple.redirections
    privileged = given_more = False
    while True:
        while words and _ASSIGNMENT.fullmatch(words[0]):
            words.pop(0)
        if not words:
            if redirections:
                yield Call("", redirections=redirections)
            return
        name = posixpath.basename(words[0].rstrip("/")) or words[0]
        if name not in _WRAPPERS:
            break
        inner = _behind_wrapper(name, words)
        privileged = privileged or name in _PRIVILEGE
        given_more = given_more or name == "xargs"
        yield Call(name, tuple(words[1 : len(words) - len(inner)]), redirections, words[0], privileged)
        words, redirections = inner, ()
    script = _script_of(name, words, simple)
    yield Call(
        name,
        tuple(words[1:]),
        redirections,
        words[0],
        privileged or name in _PRIVILEGE,
        given_more,
        runs_unseen_text=script is not None and (script == "" or _HIDDEN_IN_SCRIPT.match(script) is not None),
    )
    if script:
        yield from _calls(script, depth + 1)
    if name == "find":
        yield from _found(words, depth)


def _behind_wrapper(name: str, words: list[str]) -> list[str]:
    options, operands = _WRAPPERS[name]
    at = 1
    while at < len(words):
        word = words[at]
        if word == "--":
            at += 1
            break
        if word.startswith("-") and word != "-":
            at += 2 if word in options else 1
        elif name in ("env", "sudo") and _ASSIGNMENT.fullmatch(word):
            at += 1
        else:
            break
    return words[at + operands :]


def _script_of(name: str, words: list[str], simple: SimpleCommand) -> str | None:
    """The text that a shell is told to run; empty when it cannot be seen; None when there is none."""
    if name == "eval":
        return " ".join(words[1:])
    if name not in SHELLS:
        return None
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
                yield Call(
                    call.program,
                    tuple(a for a in call.arguments if a != "{}"),
                    path=call.path,
                    is_privileged=call.is_privileged,
                    is_given_more=True,
                    runs_unseen_text=call.runs_unseen_text,
                )
